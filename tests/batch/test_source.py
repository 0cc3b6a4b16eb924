"""Files of rows: csv in every dress, Parquet, and files that are neither."""

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

from proce.batch.reading.csv_dialect import dialect_of
from proce.batch.reading.source import Source
from proce.errors import FileError
from proce.schema import Categorical, Continuous, Schema

TEXT = "name,age,job\nZoë,31,office\nJosé,44,field\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "people.csv"


def cells(path: Path, columns: tuple[str, ...], separator: str | None = None) -> list[list[str]]:
    """Return the rows of a csv file as its cells."""
    batches = Source.open(path, separator).batches(columns, 10)
    return [list(row.values()) for batch in batches for row in batch.to_pylist()]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "utf-16"])
def test_letters_are_read_whatever_the_encoding(path: Path, encoding: str) -> None:
    path.write_bytes(TEXT.encode(encoding))
    source = Source.open(path)
    assert source.columns == ("name", "age", "job")
    assert cells(path, ("name", "age")) == [["Zoë", "31"], ["José", "44"]]
    assert any("Latin-1" in note for note in source.notes) == (encoding == "latin-1")


def test_latin_1_is_noticed_beyond_the_first_block(path: Path) -> None:
    path.write_bytes(TEXT.encode() + b"x,1,office\n" * 200_000 + "Inés,1,field\n".encode("latin-1"))
    assert cells(path, ("name",))[-1] == ["Inés"]


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_the_separator_is_found(path: Path, separator: str) -> None:
    path.write_text(TEXT.replace(",", separator))
    assert dialect_of(path).separator == separator
    assert cells(path, ("age", "job")) == [["31", "office"], ["44", "field"]]


def test_commas_inside_cells_do_not_mislead(path: Path) -> None:
    path.write_text('name;age\n"Doe, Jane, Dr";31\n"Roe, Rick";44\n')
    assert cells(path, ("name",)) == [["Doe, Jane, Dr"], ["Roe, Rick"]]


def test_a_separator_can_be_given(path: Path) -> None:
    path.write_text("name:age\nAnn:31\n")
    assert cells(path, ("age",), ":") == [["31"]]
    path.write_text("name\tage\nAnn\t31\n")
    assert cells(path, ("age",), "\\t") == [["31"]]
    with pytest.raises(FileError, match="single sign"):
        Source.open(path, "::")


def test_quoted_cells_may_hold_lines(path: Path) -> None:
    path.write_text('name,age\n"Ann\nLee",31\nBob,44\n')
    assert cells(path, ("name", "age")) == [["Ann\nLee", "31"], ["Bob", "44"]]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("none.csv", None, "cannot be read: No such file"),
        ("people.csv", b"", "is empty"),
        ("people.csv", b"a,a\n1,2\n", "'a' twice"),
        ("people.csv", b"a,b\n1,2\n1,2,3\n", "Expected 2 columns, got 3"),
        ("people.csv", b"PAR1abc", "a Parquet file; name it .parquet"),
        ("people.csv", b"PK\x03\x04abc", "Excel"),
        ("people.csv", b"\x1f\x8babc", "compressed"),
        ("people.csv", b"a,b\n\0\0\n", "not text"),
        ("people.parquet", b"a,b\n1,2\n1,2,3\n", "cannot be read as Parquet"),
        ("people.parquet", b"", "is empty"),
    ],
)
def test_what_cannot_be_read_is_refused(
    tmp_path: Path, name: str, content: bytes | None, message: str
) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(FileError, match=message):
        list(Source.open(path).batches(["a"], 10))


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="is not a file"):
        Source.open(tmp_path)


def test_a_missing_column_is_named_with_the_nearest(path: Path) -> None:
    path.write_text(TEXT)
    source = Source.open(path)
    assert source.require(["age"]) == ("name", "job")
    with pytest.raises(FileError, match=r"lacks the column 'jobs'.*Did you mean 'job'\?"):
        source.require(["age", "jobs"])
    path.write_text(TEXT.replace(",", ":"))
    with pytest.raises(FileError, match="--separator"):
        Source.open(path).require(["age"])


def test_parquet_is_read_in_batches(tmp_path: Path) -> None:
    path = tmp_path / "people.parquet"
    frame = pd.DataFrame({"age": range(1000), "job": ["office", "field"] * 500})
    frame.to_parquet(path)
    batches = list(Source.open(path).batches(["age"], 300))
    assert [len(batch) for batch in batches] == [300, 300, 300, 100]
    assert pa.Table.from_batches(batches).column_names == ["age"]


def test_a_whole_file_has_the_types_that_pandas_would_give(path: Path) -> None:
    path.write_text("a,b,c,d\n1,1.5,x,true\n2,,NA,false\n")
    frame = Source.open(path).table().to_pandas()
    expected = pd.read_csv(path)
    pd.testing.assert_frame_equal(frame, expected)


def test_levels_of_a_schema_stay_text(path: Path) -> None:
    path.write_text("zip,kind,n\n01234,NA,1\n99999,other,2\n")
    codes, kinds = Categorical("zip", ("01234", "99999")), Categorical("kind", ("NA", "other"))
    schema = Schema([codes, kinds, Continuous("n")])
    table = Source.open(path).table(schema)
    assert table.column("zip").to_pylist() == ["01234", "99999"]
    assert table.column("kind").to_pylist() == ["NA", "other"]
    assert table.column("n").type == pa.int64()


def test_the_index_that_pandas_wrote_along_is_no_column(tmp_path: Path) -> None:
    path = tmp_path / "people.parquet"
    pd.DataFrame({"age": [1, 2]}, index=["ann", "bob"]).to_parquet(path)
    assert Source.open(path).table().column_names == ["age"]
