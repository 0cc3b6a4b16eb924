"""Parts of a result: kept, taken up again by the same request and by no other."""

from pathlib import Path

import pyarrow as pa
import pytest

from proce.batch.parts import Parts, csv_text
from proce.errors import FileError

TABLE = pa.table({"row": [0, 1], "age": pa.array([31, None], pa.int64()), "job": ["a,b", None]})


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "result.csv"


def test_csv_has_empty_cells_where_something_is_missing() -> None:
    assert csv_text(TABLE, header=True) == 'row,age,job\n0,31,"a,b"\n1,,\n'
    assert csv_text(TABLE, header=False) == '0,31,"a,b"\n1,,\n'


def test_nothing_is_left_where_no_part_was_finished(out: Path) -> None:
    with pytest.raises(KeyboardInterrupt), Parts.open(out, {}, restart=False):
        raise KeyboardInterrupt
    assert list(out.parent.iterdir()) == []


def test_the_header_is_written_once(out: Path) -> None:
    with Parts.open(out, {}, restart=False) as parts:
        for number in range(2):
            parts.add(number, TABLE, {"found": 2}, {"unsure": number})
        assert parts.tally() == {"found": 4}
        assert parts.doubts() == {"unsure": 1}
        assert parts.put_together() == 4
    assert out.read_text().count("row,age,job") == 1


def test_a_result_without_lines_has_a_header(out: Path) -> None:
    with Parts.open(out, {}, restart=False) as parts:
        parts.add(0, TABLE.slice(0, 0), {"not_found": 2})
        parts.put_together()
    assert out.read_text() == "row,age,job\n"


def test_another_request_does_not_take_up_the_parts(out: Path) -> None:
    with Parts.open(out, {"n": 1}, restart=False) as parts:
        parts.add(0, TABLE, {"found": 2})
    with Parts.open(out, {"n": 1}, restart=False) as parts:
        assert len(parts.paths()) == 1
    with (
        pytest.raises(FileError, match=r"1 parts? of an unfinished run.*--restart"),
        Parts.open(out, {"n": 2}, restart=False),
    ):
        pass
    with Parts.open(out, {"n": 2}, restart=True) as parts:
        assert parts.paths() == []


def test_a_part_that_is_gone_is_noticed(out: Path) -> None:
    with Parts.open(out, {}, restart=False) as parts:
        for number in range(3):
            parts.add(number, TABLE, {"found": 2})
        parts.paths()[1].unlink()
    with pytest.raises(FileError, match="unfinished"), Parts.open(out, {}, restart=False):
        pass


def test_two_runs_do_not_write_the_same_result(out: Path) -> None:
    with Parts.open(out, {}, restart=False):
        second = Parts.open(out, {}, restart=False)
        with pytest.raises(FileError, match="another run is writing"), second:
            pass
