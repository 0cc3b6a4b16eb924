"""A disk that is full at any write: the file is named, nothing is half, and the run goes on."""

import errno
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from resource import RLIMIT_FSIZE, getrlimit, setrlimit

import pyarrow.parquet as pq
import pytest

from proce import Explanations, files
from proce.batch.parts import parts as parts_module
from proce.batch.parts.parts import Parts
from proce.batch.parts.spans import Span, gaps
from proce.batch.tables import csv_text, outcome_table, table_of
from proce.errors import FileError

from ..conftest import N_ROWS

PART_ROWS = 8
N_WRITES = 1 + 3 * 2 + 2  # the marker, two files for each of three parts, and both results


@contextmanager
def no_space() -> Iterator[None]:
    """Let no file of this process grow beyond some bytes, as the system does on a full disk."""
    usual = getrlimit(RLIMIT_FSIZE)
    setrlimit(RLIMIT_FSIZE, (16, usual[1]))
    try:
        yield
    finally:
        setrlimit(RLIMIT_FSIZE, usual)


def fill_disk_at(write: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the disk be full at one of the writes, the first of which is 0."""
    numbers, usual = count(), files.atomic_write

    @contextmanager
    def limited(path: Path) -> Iterator[Path]:
        with usual(path) as draft, ExitStack() as stack:
            if next(numbers) == write:
                stack.enter_context(no_space())
            yield draft

    for module in (files, parts_module):
        monkeypatch.setattr(module, "atomic_write", limited)


def run(out: Path, outcomes: Path, whole: Explanations) -> list[int]:
    """Write what is missing, and all of it in the end; return where each new part begins."""
    with Parts.open(out, {}) as parts:
        new = [
            parts.writer.write(whole[first : min(first + PART_ROWS, gap.end)]).first_row
            for gap in gaps(parts.covered(), Span(0, N_ROWS))
            for first in range(gap.first_row, gap.end, PART_ROWS)
        ]
        parts.put_together(N_ROWS, outcomes)
    return new


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".json"])
@pytest.mark.parametrize("write", range(N_WRITES))
def test_a_full_disk_at_any_write_costs_that_write_only(
    whole: Explanations,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    suffix: str,
    write: int,
) -> None:
    out, outcomes = tmp_path / f"result{suffix}", tmp_path / "all.csv"
    for path in (out, outcomes):
        path.write_text("old")
    with monkeypatch.context() as patched:
        fill_disk_at(write, patched)
        with pytest.raises(FileError, match="File too large") as caught:
            run(out, outcomes, whole)
    assert caught.value.errno == errno.EFBIG
    results = "results.json" if suffix == ".json" else "results.parquet"
    names = ["proce-parts.json", *[results, "outcomes.parquet"] * 3, out.name, outcomes.name]
    assert f"{names[write]}' cannot be written: File too large." in str(caught.value)
    assert [path.read_text() for path in (out, outcomes)] == ["old", "old"]
    n_parts = max(0, min(write - 1, 6)) // 2
    assert {path.name for path in tmp_path.iterdir()} == {
        out.name,
        outcomes.name,
        *([f"{out.name}.parts"] if n_parts else []),
    }
    assert run(out, outcomes, whole) == [0, 8, 16][n_parts:]
    assert outcomes.read_text() == csv_text(outcome_table(whole), header=True)
    if suffix == ".csv":
        assert out.read_text() == csv_text(table_of(whole), header=True)
    elif suffix == ".parquet":
        assert pq.read_table(out).equals(table_of(whole))
    else:
        assert len(Explanations.from_json(out.read_text())) == N_ROWS
    assert {path.name for path in tmp_path.iterdir()} == {out.name, outcomes.name}
