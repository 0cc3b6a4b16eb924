"""Files of rows: csv or Parquet, whole or in batches, and what is neither."""

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

from proce.batch.reading.source import Source
from proce.errors import FileError
from proce.schema import Categorical, Continuous, Schema

TEXT = "name,age,job\nZoë,31,office\nJosé,44,field\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "people.csv"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("none.csv", None, "cannot be read: No such file"),
        ("none.parquet", None, "cannot be read: No such file"),
        ("people.csv", b"", "is empty"),
        ("people.csv", b"a,a\n1,2\n", "'a' twice"),
        ("people.csv", b"PAR1abc", "a Parquet file; name it .parquet"),
        ("people.csv", b"PK\x03\x04abc", "Excel"),
        ("people.csv", b"\x1f\x8babc", "compressed"),
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
    assert [(batch.first_row, len(batch.rows)) for batch in batches] == [
        *[(0, 300), (300, 300), (600, 300), (900, 100)]
    ]
    assert {batch.file for batch in batches} == {path}
    assert pa.Table.from_batches(batch.rows for batch in batches).column_names == ["age"]


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
