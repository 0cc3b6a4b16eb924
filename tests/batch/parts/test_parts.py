"""Parts of a result: in any order and of any size, put together in the order of rows."""

import json
import pickle
import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from proce import Explanations, ProCE
from proce.batch.parts.parts import Parts
from proce.batch.parts.spans import Span, gaps
from proce.batch.tables import csv_text, doubts, outcome_table, reasons, table_of, tally
from proce.errors import FileError

from ... import worlds
from ..conftest import N_ROWS

ALL_ROWS = Span(0, N_ROWS)
SUFFIXES = [".csv", ".parquet", ".json"]


def random_pieces(seed: int) -> list[Span]:
    """Return spans that cover all rows, in no order."""
    draw = random.Random(seed)
    cuts = [0, *sorted(draw.sample(range(1, N_ROWS), 5)), N_ROWS]
    pieces = [Span(a, b - a) for a, b in pairwise(cuts)]
    draw.shuffle(pieces)
    return pieces


def write(parts: Parts, whole: Explanations, *spans: Span) -> None:
    for span in spans:
        assert parts.writer.write(whole[span.first_row : span.end]) == span


def without_work(text: str) -> Any:
    """Return a record without the time and the evaluations, which a slice has as the whole."""
    record = json.loads(text)
    del record["provenance"]["elapsed_seconds"], record["provenance"]["evaluations"]
    return record


def test_csv_has_empty_cells_where_something_is_missing() -> None:
    table = pa.table({"row": [0, 1], "age": pa.array([31, None]), "job": ["a,b", None]})
    assert csv_text(table, header=True) == 'row,age,job\n0,31,"a,b"\n1,,\n'
    assert csv_text(table, header=False) == '0,31,"a,b"\n1,,\n'


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_parts_in_any_order_become_one_result_in_the_order_of_rows(
    whole: Explanations, tmp_path: Path, suffix: str
) -> None:
    out, outcomes = tmp_path / f"result{suffix}", tmp_path / "outcomes.parquet"
    with Parts.open(out, {}) as parts:
        write(parts, whole, *random_pieces(0))
        summary = parts.summary()
        parts.put_together(N_ROWS, outcomes)
    if suffix == ".json":
        assert without_work(out.read_text()) == without_work(whole.to_json())
    elif suffix == ".csv":
        assert out.read_text() == csv_text(table_of(whole), header=True)
    else:
        assert pq.read_table(out).equals(table_of(whole))
    assert pq.read_table(outcomes).equals(outcome_table(whole))
    assert (summary.tally, summary.doubts) == (tally(whole), doubts(whole))
    assert list(summary.reasons) == reasons(whole, 3)
    assert {path.name for path in tmp_path.iterdir()} == {out.name, outcomes.name}


@pytest.mark.parametrize("seed", range(3))
def test_the_rows_that_no_part_covers_are_missing(
    whole: Explanations, tmp_path: Path, seed: int
) -> None:
    """A run stops after some parts; another, cut differently, does the rest and nothing else."""
    out = tmp_path / "result.parquet"
    with Parts.open(out, {}) as parts:
        write(parts, whole, *random_pieces(seed)[:3])
        n_done = sum(span.n_rows for span in parts.covered())
    with Parts.open(out, {}) as parts:
        missing = gaps(parts.covered(), ALL_ROWS)
        assert sum(span.n_rows for span in missing) == N_ROWS - n_done
        for span in missing:
            write(parts, whole, Span(span.first_row, 1))
            if span.n_rows > 1:
                write(parts, whole, Span(span.first_row + 1, span.n_rows - 1))
        assert gaps(parts.covered(), ALL_ROWS) == []
        parts.put_together(N_ROWS)
    assert pq.read_table(out).equals(table_of(whole))


def test_a_part_that_was_written_twice_counts_once(whole: Explanations, tmp_path: Path) -> None:
    """A worker that dies after its last write is not heard of; its rows are explained again."""
    out = tmp_path / "result.csv"
    with Parts.open(out, {}) as parts:
        write(parts, whole, Span(0, 8), Span(0, 8), Span(0, 4), Span(4, 4), Span(8, 13))
        assert parts.covered() == [Span(0, 8), Span(8, 13)]
        assert parts.summary().tally.total() == N_ROWS
        parts.put_together(N_ROWS)
    assert out.read_text() == csv_text(table_of(whole), header=True)
    assert list(tmp_path.iterdir()) == [out]


def test_a_part_that_comes_late_costs_no_row(whole: Explanations, tmp_path: Path) -> None:
    """It shares rows with parts that have been written for it meanwhile, cut differently."""
    out = tmp_path / "result.csv"
    with Parts.open(out, {}) as parts:
        write(parts, whole, Span(0, 8), Span(8, 8), Span(16, 5), Span(0, 10))
        assert parts.summary().tally.total() == N_ROWS
        parts.put_together(N_ROWS)
    assert out.read_text() == csv_text(table_of(whole), header=True)


@pytest.mark.parametrize("n_left", [1, 0])
def test_a_row_without_a_part_is_told_and_nothing_is_written(
    whole: Explanations, tmp_path: Path, n_left: int
) -> None:
    out = tmp_path / "result.csv"
    with Parts.open(out, {}) as parts:
        write(parts, whole, Span(0, 8), Span(8, 13))
        for path in sorted(parts.folder.glob("*.outcomes.parquet"))[n_left:]:
            path.unlink()
        words = rf"{13 if n_left else 21} of 21 rows, from row {8 * n_left} on, are in no part"
        with pytest.raises(FileError, match=words):
            parts.put_together(N_ROWS, tmp_path / "outcomes.csv")
    assert not out.exists()
    assert not (tmp_path / "outcomes.csv").exists()
    with Parts.open(out, {}) as parts:
        write(parts, whole, *gaps(parts.covered(), ALL_ROWS))
        parts.put_together(N_ROWS)
    assert out.read_text() == csv_text(table_of(whole), header=True)


def test_a_part_of_no_rows_is_needed_too(tmp_path: Path) -> None:
    with (
        Parts.open(tmp_path / "result.csv", {}) as parts,
        pytest.raises(FileError, match="0 of 0 rows are in no part"),
    ):
        parts.put_together(0)


def test_a_writer_goes_to_another_process(whole: Explanations, tmp_path: Path) -> None:
    with Parts.open(tmp_path / "result.csv", {}) as parts:
        copy = pickle.loads(pickle.dumps(parts.writer))  # noqa: S301 - made one line above
        copy.write(whole[4:9])
        assert parts.covered() == [Span(4, 5)]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_no_rows_are_a_result_without_lines(
    whole: Explanations, tmp_path: Path, suffix: str
) -> None:
    out, outcomes = tmp_path / f"result{suffix}", tmp_path / "outcomes.csv"
    with Parts.open(out, {}) as parts:
        write(parts, whole, Span(0, 0))
        assert parts.summary().tally == {}
        parts.put_together(0, outcomes)
    assert out.exists()
    assert outcomes.read_text().startswith("customer,row,outcome,predicted,target,probability,")
    assert outcomes.read_text().count("\n") == 1


def test_a_request_is_the_same_whatever_the_order_of_its_values(
    whole: Explanations, tmp_path: Path
) -> None:
    out = tmp_path / "result.csv"
    with Parts.open(out, {"n": 1, "out": Path("a")}) as parts:
        write(parts, whole, Span(0, 2))
    with Parts.open(out, {"out": Path("a"), "n": 1}) as parts:
        assert parts.covered() == [Span(0, 2)]
    with pytest.raises(FileError, match="--restart"), Parts.open(out, {"n": 2, "out": Path("a")}):
        pass


@pytest.mark.parametrize("kind", ["results", "outcomes"])
def test_a_damaged_part_is_named_and_is_no_part_once_it_is_removed(
    whole: Explanations, tmp_path: Path, kind: str
) -> None:
    out = tmp_path / "result.csv"
    out.write_text("old")
    with Parts.open(out, {}) as parts:
        write(parts, whole, Span(0, 8), Span(8, 13))
        (path,) = parts.folder.glob(f"*-000000000000-*.{kind}.parquet")
        path.write_bytes(path.read_bytes()[:100])
        with pytest.raises(FileError, match=rf"{path.name}' cannot be read: .*Remove it, and its"):
            parts.put_together(N_ROWS, tmp_path / "outcomes.csv")
        assert gaps(parts.covered(), ALL_ROWS) == []
    assert out.read_text() == "old"
    assert not (tmp_path / "outcomes.csv").exists()
    path.unlink()
    with Parts.open(out, {}) as parts:
        assert gaps(parts.covered(), ALL_ROWS) == [Span(0, 8)]
        write(parts, whole, Span(0, 8))
        parts.put_together(N_ROWS)
    assert out.read_text() == csv_text(table_of(whole), header=True)


@pytest.mark.parametrize("view", ["applicant", "auditor"])
def test_json_is_for_the_reader_of_the_explanations(view: Any, tmp_path: Path) -> None:
    """An auditor's has the protected feature, an applicant's has not."""
    schema = worlds.SCHEMA.edit("home", protected=True)
    explainer = ProCE(worlds.bank, schema, settings=worlds.TINY).fit(worlds.people(200))
    whole = explainer.explain(worlds.people(N_ROWS, seed=1), target=1).seen_by(view)
    out = tmp_path / "result.json"
    with Parts.open(out, {}) as parts:
        write(parts, whole, Span(0, 9), Span(9, 12))
        parts.put_together(N_ROWS)
    assert without_work(out.read_text()) == without_work(whole.to_json())
    assert ('"home"' in out.read_text()) == (view == "auditor")
