"""The rows of a folder are explained as those of one file; ids keep their type and text."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from proce import Explanations, ProCE
from proce.errors import FileError, SchemaError

from ... import worlds
from ..conftest import all_rows, rows_of


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "people"
    folder.mkdir()
    return folder


def people_with_ids(ids: pa.Array) -> pa.Table:
    """Return a few people and what they are called."""
    frame = worlds.people(len(ids), seed=1)
    return pa.Table.from_pandas(frame, preserve_index=False).append_column("customer", ids)


def test_a_folder_without_rows_has_none(banker: ProCE, folder: Path) -> None:
    worlds.people(1).head(0).to_parquet(folder / "part-0.parquet", index=False)
    rows = rows_of(banker, folder)
    assert rows.count == 0
    assert [len(chunk.table) for chunk in rows.chunks()] == [0]


def test_pieces_without_rows_add_none(banker: ProCE, tmp_path: Path) -> None:
    """A Parquet file may have groups of no rows, and whatever types where it has none."""
    table, path = people_with_ids(pa.array([1, 2])), tmp_path / "people.parquet"
    for pieces in ([table[:0], table, table[:0]], [table[:0], table[:0]]):
        with pq.ParquetWriter(path, table.schema) as writer:
            for piece in pieces:
                writer.write_table(piece)
        rows = rows_of(banker, path, "customer")
        assert rows.count == sum(len(piece) for piece in pieces)
        assert all_rows(rows)["customer"].type == pa.int64()
    pd.DataFrame({name: [] for name in table.column_names}, dtype=object).to_parquet(path)
    assert rows_of(banker, path, "customer").count == 0


def test_a_wrong_cell_is_named_by_its_file_row_and_id(banker: ProCE, folder: Path) -> None:
    table = people_with_ids(pa.array([f"C{n:03}" for n in range(12)]))
    pq.write_table(table.slice(0, 6), folder / "part-0.parquet")
    frame = table.slice(6).to_pandas()
    frame.loc[3, "home"] = "squats"
    frame.to_parquet(folder / "part-1.parquet", index=False)
    with pytest.raises(SchemaError) as error:
        rows_of(banker, folder, "customer")
    assert str(error.value).startswith(
        "part-1.parquet: feature 'home': row 3 (the first is 0, customer is 'C009') has the unknown"
        " level 'squats'"
    )
    with pytest.raises(SchemaError, match=r"part-1.parquet: .* row 3 \(the first is 0\) has"):
        rows_of(banker, folder)


@pytest.mark.parametrize(
    "ids",
    [
        pa.array(["007", "7", "007", None]),
        pa.array([2**62 + 1, -1, None, 7]),
        pa.array([2**64 - 1, 0, 0, None], pa.uint64()),
        pa.array([1, 2, 3, 4], pa.int32()),
        pa.array([True, None, False, True]),
        pa.array([20_000, None, 0, 1], pa.date32()),
        pa.array([0.1, None, 2.5, 1e300]),
        pa.array([0, None, 1, 2], pa.timestamp("us", "UTC")),
        pa.array([Decimal("1.50"), None, Decimal("0.01"), Decimal(7)]),
        pa.nulls(4),
        pa.array(["a", "b", None, "a"], pa.large_string()),
        pa.array(["a", "b", None, "a"]).dictionary_encode(),
    ],
    ids=lambda ids: str(ids.type)[:12],
)
def test_ids_keep_their_type_and_value(banker: ProCE, tmp_path: Path, ids: pa.Array) -> None:
    path = tmp_path / "people.parquet"
    pq.write_table(people_with_ids(ids), path)
    rows = rows_of(banker, path, "customer")
    table = all_rows(rows)
    assert table["customer"].to_pylist() == ids.to_pylist()
    text = (pa.large_string(), pa.dictionary(pa.int32(), pa.string()))
    assert rows.id_type == (pa.string() if ids.type in text else ids.type)
    assert table["customer"].type == rows.id_type
    result = rows.labelled(banker.explain(table, target=1), table, 100)
    labels = result.layout.take([100, 101, 102, 103]).index
    assert len(Explanations.from_json(result.to_json())) == 4
    back = pa.Array.from_pandas(labels)
    assert (back.to_pylist(), back.type) == (ids.to_pylist(), rows.id_type)


def test_ids_of_a_csv_file_are_text(banker: ProCE, tmp_path: Path) -> None:
    """Nothing is taken for a number, nor for missing but an empty cell."""
    ids = ["007", " 7 ", "NA", "", "12345678901234567890", '"q", x']
    path = tmp_path / "people.csv"
    worlds.people(6, seed=1).assign(customer=ids).to_csv(path, index=False)
    rows = rows_of(banker, path, "customer")
    assert rows.id_type == pa.string()
    assert all_rows(rows)["customer"].to_pylist() == [*ids[:3], None, *ids[4:]]


def test_ids_of_files_are_brought_to_one_type(banker: ProCE, folder: Path) -> None:
    parts: list[Any] = [pa.array([1, None], pa.int32()), pa.array([2**40]), pa.array([None])]
    for number, ids in enumerate(parts):
        pq.write_table(people_with_ids(ids), folder / f"part-{number}.parquet")
    table = all_rows(rows_of(banker, folder, "customer"))
    assert table["customer"].to_pylist() == [1, None, 2**40, None]
    assert table["customer"].type == pa.int64()


@pytest.mark.parametrize("ids", [[[1], [2]], [{"a": 1}, None], [b"1", b"2"]])
def test_what_cannot_be_an_id_is_refused(banker: ProCE, tmp_path: Path, ids: list[Any]) -> None:
    path = tmp_path / "people.parquet"
    pq.write_table(people_with_ids(pa.array(ids)), path)
    with pytest.raises(FileError, match=r"'customer' holds values of type .*Convert the column"):
        rows_of(banker, path, "customer")
