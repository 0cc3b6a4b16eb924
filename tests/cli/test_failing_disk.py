"""Whichever write fails, of whatever saver or command: old or new, never half, and our error."""

import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

from proce import CausalGraph, Explanations, ProCE, Schema
from proce.classifier.saved import read_model, write_model
from proce.cli.main import main
from proce.errors import ProceError
from proce.explanation import Receipt
from proce.explanation.html import report
from proce.paths import is_fault

from ..failing_disk import BROKEN, FULL, READ_ONLY, FailingDisk, use
from .conftest import QUICK

MAX_DOINGS = 300  # of one action: a bound for the loop
OLD = "what was there before"
REMOVALS = ("unlink", "rmdir")
HARMLESS = (*REMOVALS, "fsync", "mkdir")  # where the file is whole, or the folder there already
EXIT_CODES = {FULL: 3, BROKEN: 3, READ_ONLY: 2}
FAILURES = {
    "a full disk": (FULL, False, True),
    "a broken disk, and nothing there before": (BROKEN, False, False),
    "a disk that is read-only from then on": (READ_ONLY, True, True),
}
FAST = ("explain to csv", 0)  # of the ways to explain, the one that every test run takes
Read = Callable[[Path], Any]


@dataclass(frozen=True, eq=False)
class Bench:
    """What savers need."""

    desk: Path
    explainer: ProCE
    result: Explanations


@dataclass(frozen=True, eq=False)
class Case:
    """An action that writes into a folder, and how each file of it is read when it is whole."""

    act: Callable[[Bench, Path], Any]
    targets: Mapping[str, Read]


def read_page(path: Path) -> None:
    assert path.read_text("utf-8").rstrip().endswith("</html>")


def read_saved(folder: Path) -> None:
    ProCE.load(folder)


def read_demo(folder: Path) -> None:
    """Read what is there: each file is whole, and which of them are there depends."""
    readers = {".html": read_page, ".json": read_explanations, ".csv": pacsv.read_csv}
    for path in folder.iterdir():
        if path.suffix != ".trial":  # an empty one that could not be removed
            readers[path.suffix](path)


def read_receipts(folder: Path) -> None:
    for path in folder.glob("row-*"):
        Receipt.load(path)


def read_explanations(path: Path) -> None:
    Explanations.from_json(path.read_text())


def command(words: str) -> Callable[[Bench, Path], int]:
    """Return an action that runs a command; ``{}`` in its words is the folder to write to."""
    return lambda bench, folder: main([word.format(folder) for word in words.split()])


def saver(save: Callable[[Bench, Path], Any]) -> Callable[[Bench, Path], int]:
    """Return an action that calls a saver; an error of ours becomes an exit code."""

    def act(bench: Bench, folder: Path) -> int:
        try:
            save(bench, folder)
        except ProceError as error:
            named = str(folder) in str(error)
            return (3 if is_fault(error) else 2) if named else -1
        return 0

    return act


EXPLAIN = "explain credit three.csv --target yes"
CASES = {
    "save": Case(
        saver(lambda bench, folder: bench.explainer.save(folder / "saved")),
        {"saved": read_saved},
    ),
    "write_model": Case(
        saver(lambda bench, folder: write_model(bench.explainer.model, folder / "m.skops")),
        {"m.skops": read_model},
    ),
    "receipt": Case(
        saver(lambda bench, folder: bench.result.receipt(0).save(folder / "r.json")),
        {"r.json": Receipt.load},
    ),
    "page": Case(
        saver(lambda bench, folder: bench.result[0].save_html(folder / "p.html")),
        {"p.html": read_page},
    ),
    "page of many": Case(
        saver(lambda bench, folder: bench.result.save_html(folder / "p.html")),
        {"p.html": read_page},
    ),
    "schema": Case(
        command("schema people.csv --label decision --out {}/s.json"),
        {"s.json": lambda path: Schema.from_json(path.read_text())},
    ),
    "report": Case(command("report three.json --out {}/r.html"), {"r.html": read_page}),
    "explain to csv": Case(
        command(f"{EXPLAIN} --out {{}}/r.csv --outcomes {{}}/o.csv"),
        {"r.csv": pacsv.read_csv, "o.csv": pacsv.read_csv},
    ),
    "explain to Parquet": Case(
        command(f"{EXPLAIN} --out {{}}/r.parquet --outcomes {{}}/o.parquet"),
        {"r.parquet": pq.read_table, "o.parquet": pq.read_table},
    ),
    "explain to JSON": Case(command(f"{EXPLAIN} --out {{}}/r.json"), {"r.json": read_explanations}),
    "outcomes alone": Case(command(f"{EXPLAIN} --outcomes {{}}/o.csv"), {"o.csv": pacsv.read_csv}),
    "receipts": Case(
        command(f"{EXPLAIN} --out {{}}/r.csv --receipts {{}}/receipts"),
        {"r.csv": pacsv.read_csv, "receipts": read_receipts},
    ),
}
SLOW_CASES = {
    "fit": Case(
        command(
            "fit people.csv --label decision --model model.skops --schema schema.json"
            f" --graph graph.json --out {{}}/saved {' '.join(QUICK)}"
        ),
        {"saved": read_saved},
    ),
    "fit with training": Case(
        command(
            "fit people.csv --label decision --model train:boosting --schema schema.json"
            f" --graph none --out {{}}/saved {' '.join(QUICK)}"
        ),
        {"saved": read_saved},
    ),
    "discover": Case(
        command("discover people.csv --label decision --bootstrap 2 --out {}/g.json"),
        {"g.json": lambda path: CausalGraph.from_json(path.read_text())},
    ),
    "demo": Case(command("demo --out {}/demo"), {"demo": read_demo}),
    "explain with workers": Case(
        command(f"{EXPLAIN} --workers 2 --out {{}}/r.csv"), {"r.csv": pacsv.read_csv}
    ),
}


@pytest.fixture(scope="module")
def bench(desk: Path) -> Bench:
    """Return the explainer of the desk and what it says of three rows, which are files too."""
    explainer = ProCE.load(desk / "credit")
    lines = (desk / "new.csv").read_text().splitlines(keepends=True)[:4]
    (desk / "three.csv").write_text("".join(lines))
    rows = pacsv.read_csv(desk / "three.csv").to_pandas()
    result = explainer.explain(rows, target="yes", n=1)
    (desk / "three.json").write_text(result.to_json())
    return Bench(desk, explainer, result)


def contents(folder: Path) -> dict[str, bytes | None]:
    """Return everything in a folder by its path: the content of a file, ``None`` for a folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


def furnish(folder: Path, case: Case, bench: Bench, *, with_old: bool) -> None:
    """Make the folder anew, with something under every name where that is wanted."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, read in case.targets.items() if with_old else ():
        if read is read_saved:
            shutil.copytree(bench.desk / "credit", folder / name)
        elif read in (read_receipts, read_demo):
            (folder / name).mkdir()
        else:
            (folder / name).write_text(OLD)


def names(paths: Iterable[str]) -> set[str]:
    """Return paths without the sums of contents in them, which are others each time."""
    return {re.sub(r"-[0-9a-f]{16}(?=[.-])", "", path) for path in paths}


def is_kept_part(path: str) -> bool:
    """Return whether a file belongs to rows that the same command would go on after."""
    return path.split("/")[0].endswith(".parts") and not path.endswith(".part")


def try_every_failure(
    case: Case, bench: Bench, folder: Path, failure: str, capsys: pytest.CaptureFixture[str]
) -> int:
    """Let every write fail in turn; return how many there are."""
    code, lasting, with_old = FAILURES[failure]
    furnish(folder, case, bench, with_old=with_old)
    assert case.act(bench, folder) == 0
    whole = contents(folder)
    for number in range(1, MAX_DOINGS):
        furnish(folder, case, bench, with_old=with_old)
        before = contents(folder)
        capsys.readouterr()
        with use(FailingDisk(folder, number, code, lasting)) as disk:
            exit_code = case.act(bench, folder)
        if not disk.failed:
            assert exit_code == 0
            return number - 1
        failed = disk.done[number - 1]
        after = contents(folder)
        told = capsys.readouterr().err
        if exit_code != 0:
            assert exit_code == EXIT_CODES[code], (failed, told)
            lines = [line for line in told.splitlines() if not line.startswith("Note: ")]
            assert len(lines) <= 1, (failed, told)
            assert all(line.startswith("proce: ") for line in lines), (failed, told)
        else:
            assert failed.startswith(HARMLESS), (failed, disk.done)
        for name, read in case.targets.items():
            own = {path: after[path] for path in after if path.split("/")[0] == name}
            if own and own != {path: before.get(path, b"") for path in own}:
                read(folder / name)
        if not failed.startswith(REMOVALS):
            strange = names(after) - names(before) - names(whole)
            assert not [path for path in strange if not is_kept_part(path)], (failed, disk.done)
        assert case.act(bench, folder) == 0
        left = {path for path in names(contents(folder)) if not path.endswith(".trial")}
        assert left == names(whole), failed
    raise AssertionError("the action never got through")


@pytest.fixture
def at_once(bench: Bench, at_desk: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work at a desk where loading, explaining and drawing, which write nothing, take no time."""
    load, explain = ProCE.load, ProCE.explain

    def explained(self: ProCE, rows: Any, **options: Any) -> Explanations:
        return bench.result if len(rows) == 3 else explain(self, rows, **options)

    monkeypatch.setattr(
        ProCE, "load", lambda path: bench.explainer if path.name == "credit" else load(path)
    )
    monkeypatch.setattr(ProCE, "explain", explained)
    for name in ("page_of_row", "page_of_rows"):
        monkeypatch.setattr(report, name, lambda *_, **__: "<html>…</html>\n")
    return at_desk


def chosen() -> Iterator[Any]:
    """Yield every case with every failure; the longest of them are left to the slow tests."""
    for name in CASES:
        for number, failure in enumerate(FAILURES):
            slow = name.startswith(("explain", "receipts")) and (name, number) != FAST
            yield pytest.param(name, failure, marks=[pytest.mark.slow] if slow else [])


@pytest.mark.parametrize(("name", "failure"), [*chosen()])
def test_whichever_write_fails_nothing_is_half_and_the_next_run_works(
    name: str,
    failure: str,
    bench: Bench,
    at_once: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert try_every_failure(CASES[name], bench, tmp_path / "disk", failure, capsys) > 3


@pytest.mark.slow
@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("name", SLOW_CASES)
def test_whichever_write_of_a_long_command_fails_nothing_is_half(
    name: str,
    failure: str,
    bench: Bench,
    at_desk: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert try_every_failure(SLOW_CASES[name], bench, tmp_path / "disk", failure, capsys) > 3
