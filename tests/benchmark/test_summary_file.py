"""The file of a summary says what it is of, and one that cannot be right is refused by name."""

import json
from pathlib import Path

import pandas as pd
import pytest

from proce.benchmark.reporting.summary import COLUMNS, Origin, read_summary, write_summary
from proce.errors import BenchmarkError

ORIGIN = Origin(plan="standard", repetitions=5, rows=40, proce="0.1.0", code="abc")


@pytest.fixture
def written(tmp_path: Path) -> Path:
    summary = pd.DataFrame([dict.fromkeys(COLUMNS, 1.0)] * 3)
    write_summary(tmp_path / "summary.csv", summary, ORIGIN, "%.6g")
    return tmp_path / "summary.csv"


def test_what_is_written_is_read(written: Path) -> None:
    summary, origin = read_summary(written)
    assert origin == ORIGIN
    assert summary.columns.tolist() == list(COLUMNS)
    assert len(summary) == 3


def with_first_line(path: Path, **changes: object) -> None:
    first, _, rest = path.read_text().partition("\n")
    words, _, record = first.partition(": ")
    path.write_text(f"{words}: {json.dumps(json.loads(record) | changes)}\n{rest}")


def test_another_version_is_refused_by_name_with_what_to_do(written: Path) -> None:
    with_first_line(written, format=3, proce="9.0.0")
    with pytest.raises(BenchmarkError, match=r"summary\.csv has format 3, of proce 9\.0\.0.*Use"):
        read_summary(written)


def test_a_file_without_its_first_line_is_refused(written: Path) -> None:
    written.write_text(written.read_text().partition("\n")[2])
    with pytest.raises(BenchmarkError, match=r"summary\.csv is no summary.*Make it again"):
        read_summary(written)


def test_lines_that_were_lost_are_noticed(written: Path) -> None:
    text = written.read_text().splitlines(keepends=True)
    written.write_text("".join(text[:-1]))
    with pytest.raises(BenchmarkError, match=r"summary\.csv has 2 lines.*Make it again"):
        read_summary(written)


@pytest.mark.parametrize("change", [{"rows": "many"}, {"colour": 1}, {"lines": None}])
def test_a_damaged_first_line_is_refused(written: Path, change: dict[str, object]) -> None:
    with_first_line(written, **change)
    with pytest.raises(BenchmarkError, match=r"summary\.csv: its first line is damaged"):
        read_summary(written)


def test_another_table_is_refused(written: Path) -> None:
    first = written.read_text().partition("\n")[0]
    written.write_text(f"{first}\na,b\n1,2\n")
    with pytest.raises(BenchmarkError, match="it lacks group"):
        read_summary(written)
