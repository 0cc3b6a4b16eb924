"""A file of a million rows goes through memory that a small one needs too."""

import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

PROCE = str(Path(sys.executable).with_name("proce"))
_ROW_GROUP_SIZE = 100_000
_MAX_GROWTH = 64 << 10  # kB by which the peaks of two runs may differ


def rows(desk: Path, n: int, path: Path) -> None:
    """Write rows of which one in ten is refused, in row groups of their own."""
    table = pacsv.read_csv(desk / "people.csv")
    good = table.filter(pc.equal(table.column("decision"), "yes"))
    bad = table.filter(pc.equal(table.column("decision"), "no"))
    ten = pa.concat_tables([good.slice(0, 90), bad.slice(0, 10)]).drop_columns("decision")
    block = pa.concat_tables([ten] * (min(n, _ROW_GROUP_SIZE) // 100)).combine_chunks()
    with pq.ParquetWriter(path, block.schema) as writer:
        for _ in range(n // len(block)):
            writer.write_table(block)


def peak_of(desk: Path, source: Path, out: Path) -> int:
    """Explain a file; return the most memory that it took, in kB."""
    words = [PROCE, "explain", "credit", source, "--target", "yes", "-n", "1", "--out", out]
    process = subprocess.Popen(words, cwd=desk, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)  # or it would be waited for again
    assert process.returncode in (0, 1)
    return used.ru_maxrss


@pytest.mark.slow
def test_memory_does_not_grow_with_the_number_of_rows(desk: Path, tmp_path: Path) -> None:
    peaks = {}
    for n in (20_000, 1_000_000):
        source, out = tmp_path / f"{n}.parquet", tmp_path / f"result-{n}.parquet"
        rows(desk, n, source)
        peaks[n] = peak_of(desk, source, out)
        explained_rows = pq.read_table(out, columns=["row"]).column("row")
        assert n // 20 < len(explained_rows) < n // 5
        assert n - 100 <= pc.max(explained_rows).as_py() < n
    assert peaks[1_000_000] < peaks[20_000] + _MAX_GROWTH, peaks
