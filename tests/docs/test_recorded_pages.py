"""Tables of recorded runs stand in the pages as they were printed, under command and commit."""

import importlib
import re
from pathlib import Path
from types import ModuleType

import pytest
from tests.docs.comparing import module_at

ROOT = Path(__file__).parents[2]
OUTPUT = """words
### Near
| a | b |
|---|---|
| 1 | 2 |

### Far

| c |
|---|
| 3 |
"""


@pytest.fixture
def record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script, with a folder of its own for what is recorded."""
    script = module_at(ROOT / "benchmarks" / "record.py")
    monkeypatch.setattr(script, "RECORDS", tmp_path)
    script.Record("python benchmarks/x.py --rows 5", "abc1234", "a machine", OUTPUT).write("x")
    return script


@pytest.mark.parametrize(
    ("marker", "table"),
    [
        ("x", "| a | b |\n|---|---|\n| 1 | 2 |\n"),
        ("x: 2", "| c |\n|---|\n| 3 |\n"),
        ("x: Far", "| c |\n|---|\n| 3 |\n"),
    ],
)
def test_a_block_is_filled_with_its_table(record: ModuleType, marker: str, table: str) -> None:
    page = f"before\n<!-- recorded {marker} -->\nold\n<!-- end -->\nafter\n"
    filled = record.fill(page)
    assert filled == (
        f"before\n<!-- recorded {marker} -->\n\n"
        f"`python benchmarks/x.py --rows 5`, commit abc1234:\n\n{table}\n<!-- end -->\nafter\n"
    )
    assert record.fill(filled) == filled


@pytest.mark.parametrize(
    ("marker", "words"),
    [("x: 3", "printed 2 tables, not 3"), ("x: Else", "'Else'"), ("y", "record.py y")],
)
def test_what_was_not_recorded_is_named(record: ModuleType, marker: str, words: str) -> None:
    with pytest.raises(SystemExit, match=re.escape(words)):
        record.fill(f"<!-- recorded {marker} -->\n<!-- end -->\n")


def test_pages_show_what_is_recorded() -> None:
    script = module_at(ROOT / "benchmarks" / "record.py")
    shown = set()
    for path in script.pages():
        page = path.read_text(encoding="utf-8")
        assert script.fill(page) == page, path
        shown |= set(re.findall(r"<!-- recorded (\w+)", page))
    assert shown == {path.stem for path in script.RECORDS.glob("*.txt")}
    assert shown <= set(script.RUNS)


def test_the_claims_are_those_of_the_committed_summaries(
    capsys: pytest.CaptureFixture[str],
) -> None:
    module_at(ROOT / "benchmarks" / "claims.py").main()
    recorded = module_at(ROOT / "benchmarks" / "record.py").Record.read("claims")
    assert capsys.readouterr().out == recorded.output, "run benchmarks/record.py claims"


def test_an_unknown_name_is_refused_with_those_that_there_are(
    record: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        record.main(["method"])
    told = capsys.readouterr().err
    assert "unknown method" in told
    assert "methods, explain" in told


def test_the_tables_of_results_are_those_of_the_committed_summary() -> None:
    results = module_at(ROOT / "benchmarks" / "results.py")
    page = results.PAGE.read_text(encoding="utf-8")
    assert page.count("<!-- end -->") == 10
    emptied = re.sub(r"(<!-- \w+ -->\n).*?(<!-- end -->)", r"\1\2", page, flags=re.DOTALL)
    assert len(emptied) < len(page) / 2
    assert results.fill(emptied, results.SUMMARY) == page


def test_the_tables_of_other_packages_are_those_of_the_record(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    table = importlib.import_module("benchmarks.packages.table")
    page = table.PAGE.read_text(encoding="utf-8")
    assert page.count("<!-- packages -->") == page.count("<!-- end -->") == 1
    emptied = re.sub(r"(<!-- packages -->\n).*?(<!-- end -->)", r"\1\2", page, flags=re.DOTALL)
    assert len(emptied) < len(page)
    assert table.fill(emptied, table.RECORD) == page
