"""The files that ``proce explain`` writes: outcomes of every row, parts, and what stays."""

import errno
import json
from functools import partial
from pathlib import Path
from resource import RLIMIT_FSIZE, getrlimit, setrlimit
from typing import Any

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from proce import Explanations, ProCE
from proce.batch.reading.rows import Rows
from proce.cli.main import main
from proce.errors import ModelError

from .conftest import interrupted_at

EXPLAIN = ["explain", "credit", "named.csv", "--target", "yes", "--range", "savings=0:50"]
EXPLAIN += ["--vary", "savings"]
IDS = ["--id", "customer"]


@pytest.fixture(scope="module")
def rows_with_ids(desk: Path) -> pd.DataFrame:
    """Return the rows of the file ``named.csv``, which have ids."""
    rows = pd.read_csv(desk / "new.csv")
    rows.insert(0, "customer", [f"{n:03}" for n in range(len(rows))])
    rows.to_csv(desk / "named.csv", index=False)
    return rows


@pytest.fixture
def named(at_desk: Path, rows_with_ids: pd.DataFrame) -> pd.DataFrame:
    """Work beside that file."""
    return rows_with_ids


@pytest.fixture(scope="module")
def outcomes(desk: Path, rows_with_ids: pd.DataFrame) -> pd.DataFrame:
    """Return what the library says of every row; some have no counterfactual."""
    frame = rows_with_ids.set_index("customer")
    limits: Any = {"vary": ["savings"], "ranges": {"savings": (0, 50)}}
    result = ProCE.load(desk / "credit").explain(frame, target="yes", **limits)
    expected = result.outcomes().reset_index()
    assert {"found", "not_found", "already_target"} == set(expected["outcome"])
    return expected


def in_chunks(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Rows, "checked", partial(Rows.checked, chunk_rows=rows))


@pytest.mark.parametrize("out", [None, "r.csv", "r.parquet", "r.json"])
def test_outcomes_have_a_line_for_every_row_beside_any_result(
    out: str | None,
    named: pd.DataFrame,
    outcomes: pd.DataFrame,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    in_chunks(16, monkeypatch)
    where = [] if out is None else ["--out", str(tmp_path / out)]
    for name in ("o.csv", "o.parquet"):
        assert main([*EXPLAIN, *IDS, *where, "--outcomes", str(tmp_path / name)]) == 1
    written = pd.read_parquet(tmp_path / "o.parquet")
    assert_frame_equal(written.convert_dtypes(), outcomes.convert_dtypes(), check_dtype=False)
    text = pd.read_csv(tmp_path / "o.csv", dtype={"customer": str})
    assert_frame_equal(text.convert_dtypes(), written.convert_dtypes(), check_dtype=False)
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"o.csv", "o.parquet", *([out] if out else [])}
    first = outcomes[outcomes["reason"].notna()].iloc[0]
    shown = capsys.readouterr().err
    assert f"Row {first['customer']}: {first['reason']}" in shown
    where = "" if out is None else f"{tmp_path / out} and "
    assert shown.endswith(f" Written to {where}{tmp_path / 'o.parquet'}.\n")


def test_outcomes_need_a_file_of_their_own_and_a_table(
    named: pd.DataFrame, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "r.csv")
    assert main([*EXPLAIN, "--outcomes", str(tmp_path / "o.json")]) == 2
    assert "o.json': the name must end in .csv or .parquet." in capsys.readouterr().err
    assert main([*EXPLAIN, "--out", out, "--outcomes", out]) == 2
    assert "--outcomes and --out are both" in capsys.readouterr().err
    assert main([*EXPLAIN, "--outcomes", str(tmp_path / "none" / "o.csv")]) == 2
    assert "--outcomes" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("out", ["r.csv", "r.json"])
def test_a_result_goes_on_with_other_chunks_and_is_the_same(
    out: str,
    named: pd.DataFrame,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """JSON has the fronts of all rows too, as if they had been explained at once."""
    assert main([*EXPLAIN, *IDS, "--out", str(tmp_path / f"whole-{out}")]) == 1
    words = [*EXPLAIN, *IDS, "--out", str(tmp_path / out), "--outcomes", str(tmp_path / "o.csv")]
    with interrupted_at(3) as asked:
        in_chunks(8, monkeypatch)
        assert main(words) == 130
        assert "interrupted after 16 of 40 rows; they are kept in" in capsys.readouterr().err
        assert not (tmp_path / out).exists()
        receipts = tmp_path / "receipts"
        for more in (["--max-changes", "1"], ["--receipts", str(receipts)]):
            assert main([*words, *more]) == 2
            assert "--restart" in capsys.readouterr().err
        receipts.rmdir()  # no receipts of some rows only
        in_chunks(10, monkeypatch)
        assert main(words) == 1
    assert "Going on after 16 of 40 rows" in capsys.readouterr().err
    assert asked == [8, 8, 8, 4, 10, 10]
    assert records(tmp_path / out) == records(tmp_path / f"whole-{out}")
    assert len((tmp_path / "o.csv").read_text().splitlines()) == 41


@pytest.mark.slow
def test_workers_take_up_what_one_process_has_done_after_a_full_disk_of_their_own(
    named: pd.DataFrame,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The worker names the file that it could not write; no row is said to have failed."""
    assert main([*EXPLAIN, *IDS, "--out", str(tmp_path / "whole.csv")]) == 1
    in_chunks(16, monkeypatch)
    words = [*EXPLAIN, *IDS, "--out", str(tmp_path / "r.csv")]
    with interrupted_at(2):
        assert main(words) == 130
    usual = getrlimit(RLIMIT_FSIZE)
    setrlimit(RLIMIT_FSIZE, (16, usual[1]))
    try:
        assert main([*words, "--workers", "2"]) == 3
    finally:
        setrlimit(RLIMIT_FSIZE, usual)
    error = capsys.readouterr().err.splitlines()[-1]
    assert error.startswith(f"proce: '{tmp_path / 'r.csv.parts'}")
    assert "cannot be written: File too large." in error
    assert "after 16 of 40 rows; they are kept in" in error
    assert main([*words, "--workers", "2"]) == 1
    assert "Going on after 16 of 40 rows" in capsys.readouterr().err
    assert (tmp_path / "r.csv").read_text() == (tmp_path / "whole.csv").read_text()
    assert {path.name for path in tmp_path.iterdir()} == {"r.csv", "whole.csv"}


def records(path: Path) -> Any:
    """Return what a result says, but for the time that it took.

    The model multiplies matrices, whose last bit depends on how many rows it is asked about.
    """
    text = path.read_text("utf-8")
    if path.suffix != ".json":
        return text
    record = json.loads(text, parse_float=lambda digits: f"{float(digits):.12g}")
    del record["provenance"]["elapsed_seconds"]
    return record


@pytest.mark.parametrize(
    ("option", "name", "then"),
    [
        ("--outcomes", "o.csv", ""),
        ("--outcomes", "o.parquet", ""),
        ("--out", "r.csv", " It happened before the first of 40 rows was kept."),
        ("--out", "r.json", " It happened before the first of 40 rows was kept."),
    ],
)
def test_a_file_that_may_not_grow_is_named_in_one_line(
    option: str,
    name: str,
    then: str,
    named: pd.DataFrame,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    explain, usual = ProCE.explain, getrlimit(RLIMIT_FSIZE)

    def fill_disk(self: ProCE, rows: Any, **options: Any) -> Explanations:
        result = explain(self, rows, **options)
        if len(rows):
            setrlimit(RLIMIT_FSIZE, (16, usual[1]))
        return result

    monkeypatch.setattr(ProCE, "explain", fill_disk)
    try:
        assert main([*EXPLAIN, *IDS, option, str(tmp_path / name)]) == 3
    finally:
        setrlimit(RLIMIT_FSIZE, usual)
    where = tmp_path / name if option == "--outcomes" else tmp_path / f"{name}.parts"
    error = capsys.readouterr().err.splitlines()[-1]
    assert error.startswith(f"proce: '{where}")
    assert " cannot be written: File too large. Write somewhere else, or change the" in error
    assert error.endswith(f" limits there.{then}")
    assert list(tmp_path.iterdir()) == []


def test_a_model_that_fails_on_nearly_all_rows_is_given_up_and_the_others_are_kept(
    named: pd.DataFrame,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    explain = ProCE.explain

    def fail(self: ProCE, rows: Any, **options: Any) -> Explanations:
        if set(rows["customer"].to_pylist()) - {"000"}:
            raise ModelError("row 0, ValueError: no such job.")
        return explain(self, rows, **options)

    monkeypatch.setattr(ProCE, "explain", fail)
    words = [*EXPLAIN, *IDS, "--out", str(tmp_path / "r.csv")]
    assert main(words) == 2
    told = capsys.readouterr().err
    assert "the model fails on 32 of 33 rows, so it is not the rows. Row " in told
    assert "ValueError: no such job. It happened after 33 of 40 rows; they are kept in" in told
    monkeypatch.setattr(ProCE, "explain", explain)
    assert main(words) == 1
    assert "Going on after 33 of 40 rows" in capsys.readouterr().err


def test_the_error_of_something_else_is_not_that_of_the_outcomes(
    named: pd.DataFrame,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(self: ProCE, rows: Any, **options: Any) -> Explanations:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(ProCE, "explain", fail)
    assert main([*EXPLAIN, "--outcomes", str(tmp_path / "o.csv")]) == 3
    assert capsys.readouterr().err.splitlines()[-1] == "proce: No space left on device."


def test_a_folder_that_somebody_keeps_is_refused(
    named: pd.DataFrame, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "r.csv.parts"
    folder.mkdir()
    (folder / "thesis.tex").write_text("mine")
    assert main([*EXPLAIN, "--out", str(tmp_path / "r.csv"), "--restart"]) == 2
    assert "did not make (it holds thesis.tex)" in capsys.readouterr().err
    assert [path.name for path in folder.iterdir()] == ["thesis.tex"]


def test_what_somebody_puts_into_our_folder_stays_with_a_note(
    named: pd.DataFrame,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder, explain = tmp_path / "r.csv.parts", ProCE.explain

    def keep_something(self: ProCE, rows: Any, **options: Any) -> Explanations:
        if len(rows):
            (folder / "thesis.tex").write_text("mine")
        return explain(self, rows, **options)

    monkeypatch.setattr(ProCE, "explain", keep_something)
    assert main([*EXPLAIN, "--out", str(tmp_path / "r.csv")]) == 1
    assert f"{folder} stays: it holds files that are not ours." in capsys.readouterr().err
    assert [path.name for path in folder.iterdir()] == ["thesis.tex"]
