"""A folder of Parquet files is one table, whatever order and types its files have."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from proce.batch.reading.source import Source
from proce.errors import FileError


def write(folder: Path, name: str, **columns: Any) -> Path:
    """Write a Parquet file."""
    folder.mkdir(exist_ok=True)
    pq.write_table(pa.table(columns), folder / name)
    return folder / name


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "people"


def ages(folder: Path) -> list[Any]:
    """Return the column ``age`` of a folder, as it is read in batches."""
    batches = Source.open(folder).batches(["age"], 2)
    return [value for batch in batches for value in batch.rows.column("age").to_pylist()]


def test_files_are_read_in_the_order_of_their_names(folder: Path) -> None:
    write(folder, "part-1.parquet", age=[3, 4, 5])
    write(folder, "part-0.pq", age=[1, 2])
    write(folder, "part-2.PARQUET", age=[6])
    source = Source.open(folder)
    assert source.columns == ("age",)
    assert ages(folder) == [1, 2, 3, 4, 5, 6]
    assert [(batch.file.name, batch.first_row) for batch in source.batches(["age"], 2)] == [
        *[("part-0.pq", 0), ("part-1.parquet", 0), ("part-1.parquet", 2), ("part-2.PARQUET", 0)]
    ]
    assert source.notes == ("3 Parquet files of people were read as one table.",)
    assert source.table().column("age").to_pylist() == [1, 2, 3, 4, 5, 6]


def test_marks_of_other_programs_are_left_out(folder: Path) -> None:
    write(folder, "part-0.parquet", age=[1])
    (folder / "_SUCCESS").touch()
    (folder / ".part-0.parquet.crc").write_bytes(b"x")
    write(folder, "_metadata.parquet", age=[9])
    (folder / "_temporary").mkdir()
    assert ages(folder) == [1]


def test_a_file_without_rows_adds_none(folder: Path) -> None:
    write(folder, "part-0.parquet", age=pa.array([], pa.int64()))
    assert ages(folder) == []
    write(folder, "part-1.parquet", age=[1])
    write(folder, "part-2.parquet", age=pa.array([], pa.int64()))
    assert ages(folder) == [1]


def test_columns_may_stand_in_another_order_and_beside_others(folder: Path) -> None:
    write(folder, "part-0.parquet", age=[1], job=["a"])
    write(folder, "part-1.parquet", job=["b"], extra=[0], age=[2])
    source = Source.open(folder)
    assert source.columns == ("age", "job", "extra")
    assert source.require(["age", "job"]) == ("extra",)
    assert ages(folder) == [1, 2]
    assert source.table().to_pydict() == {"age": [1, 2], "job": ["a", "b"]}


def test_a_whole_folder_has_types_that_hold_all_of_it(folder: Path) -> None:
    write(folder, "part-0.parquet", age=pa.array([1], pa.int32()), job=["a"], ratio=[1])
    category = pa.array(["b"]).dictionary_encode()
    write(folder, "part-1.parquet", age=[2**40], job=category, ratio=[0.5])
    table = Source.open(folder).table()
    assert table.to_pydict() == {"age": [1, 2**40], "job": ["a", "b"], "ratio": [1.0, 0.5]}
    assert [str(kind) for kind in table.schema.types] == ["int64", "string", "double"]


def test_categories_of_a_whole_folder_stay_categories(folder: Path) -> None:
    for number, levels in enumerate((["a", "b"], ["c", "b"])):
        folder.mkdir(exist_ok=True)
        pd.DataFrame({"job": pd.Categorical(levels)}).to_parquet(folder / f"{number}.parquet")
    frame = Source.open(folder).table().to_pandas()
    assert frame["job"].dtype == "category"
    assert frame["job"].tolist() == ["a", "b", "c", "b"]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (pa.array([1], pa.int32()), pa.array([2**40]), "int64"),
        (pa.array([1], pa.uint32()), pa.array([2], pa.int32()), "int64"),
        (pa.array(["a"]), pa.array(["b"], pa.large_string()), "string"),
        (pa.array(["a"]).dictionary_encode(), pa.array(["b"]), "string"),
        (pa.array([None]), pa.array([7], pa.int16()), "int16"),
        (pa.array([7], pa.int16()), pa.array([None]), "int16"),
        (pa.array([0.5], pa.float32()), pa.array([0.5]), "double"),
    ],
)
def test_a_column_has_the_type_that_loses_nothing(
    folder: Path, first: pa.Array, second: pa.Array, expected: str
) -> None:
    write(folder, "part-0.parquet", customer=first)
    write(folder, "part-1.parquet", customer=second)
    assert str(Source.open(folder).type_of("customer")) == expected


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (pa.array([1]), pa.array(["1"])),
        (pa.array([1]), pa.array([1.0])),
        (pa.array([1], pa.uint64()), pa.array([-1])),
    ],
)
def test_types_that_have_nothing_in_common_are_refused(
    folder: Path, first: pa.Array, second: pa.Array
) -> None:
    write(folder, "part-0.parquet", customer=first)
    write(folder, "part-1.parquet", customer=second)
    with pytest.raises(FileError, match=r"part-1.parquet' has the column 'customer' as .*, and"):
        Source.open(folder).type_of("customer")


def test_the_file_that_is_wrong_is_named(folder: Path) -> None:
    write(folder, "part-0.parquet", age=[1])
    wrong = write(folder, "part-1.parquet", agee=[1])
    write(folder, "part-2.parquet", age=[1])
    with pytest.raises(FileError, match=r"part-1.parquet' lacks the column 'age'.*mean 'agee'\?"):
        Source.open(folder).require(["age"])
    wrong.write_bytes(wrong.read_bytes()[:-20])
    with pytest.raises(FileError, match=r"part-1.parquet' cannot be read as Parquet"):
        Source.open(folder)
    wrong.write_bytes(b"")
    with pytest.raises(FileError, match=r"part-1.parquet' is empty"):
        Source.open(folder)
    table = pa.table([pa.array([1]), pa.array([2])], names=["age", "age"])
    pq.write_table(table, wrong)
    with pytest.raises(FileError, match=r"part-1.parquet' has the column 'age' twice"):
        Source.open(folder)


def test_a_folder_of_anything_else_is_refused(folder: Path) -> None:
    folder.mkdir()
    with pytest.raises(FileError, match="holds no Parquet files; expected one"):
        Source.open(folder)
    inner = folder / "year=2026"
    inner.mkdir()
    with pytest.raises(FileError, match=r"holds the folder 'year=2026'; .*stand for a column"):
        Source.open(folder)
    inner.rmdir()
    (folder / "more.csv").write_text("age\n1\n")
    with pytest.raises(FileError, match=r"holds 'more.csv'; expected files that end in .parquet"):
        Source.open(folder)
    (folder / "more.csv").unlink()
    (folder / "_delta_log").mkdir()
    with pytest.raises(FileError, match="is a Delta table"):
        Source.open(folder)


def test_a_damaged_file_is_read_or_refused_in_words(tmp_path: Path) -> None:
    """Whatever bytes are others than they were, no error but ours comes out."""
    path, draw = tmp_path / "people.parquet", np.random.default_rng(0)
    frame = pd.DataFrame({"age": range(400), "job": ["a", "b"] * 200}, index=range(1, 401))
    frame.to_parquet(path, row_group_size=100)
    whole, complaints = np.frombuffer(path.read_bytes(), dtype=np.uint8), []
    for _ in range(150):
        damaged = whole.copy()
        damaged[draw.integers(0, len(whole), 3)] = draw.integers(0, 256, 3)
        path.write_bytes(damaged.tobytes())
        try:
            source = Source.open(path)
            source.table()
            list(source.batches(source.columns, 64))
        except FileError as error:
            complaints.append(str(error))
    assert len(complaints) > 50
    assert all(text.startswith(f"'{path}'") for text in complaints)
