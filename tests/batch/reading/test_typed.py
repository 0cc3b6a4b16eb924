"""Columns take the types of the schema, whatever the file takes them for."""

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from proce.batch.reading.typed import TypedColumns
from proce.errors import SchemaError
from proce.schema import Categorical, Codec, Continuous, Ordinal, Schema

SCHEMA = Schema(
    [
        Continuous("age", step=1),
        Continuous("ratio"),
        Ordinal("school", ("none", "basic", "high")),
        Categorical("code", ("01", "NA")),
        Categorical("car", (False, True)),
        Categorical("rank", (1, 2, 3)),
        Categorical("home", ("rents", "owns"), one_hot=("home_rents", "home_owns")),
    ]
)
FRAME = pd.DataFrame(
    {
        "age": [31, 44],
        "ratio": [0.5, 1.25],
        "school": ["none", "high"],
        "code": ["01", "NA"],
        "car": [False, True],
        "rank": [1, 3],
        "home_rents": [1, 0],
        "home_owns": [0, 1],
    }
)
TYPES = TypedColumns.of(Codec.fit(SCHEMA, FRAME))


def text(**cells: Any) -> pa.Table:
    """Return the frame as the cells of a csv file, some of them replaced."""
    columns = {name: [str(each) for each in FRAME[name]] for name in FRAME} | cells
    return pa.table({name: pa.array(each, pa.string()) for name, each in columns.items()})


def parquet(**cells: Any) -> pa.Table:
    """Return the frame as a Parquet file has it, some columns replaced."""
    return pa.Table.from_pandas(FRAME.assign(**cells), preserve_index=False)


def test_text_and_parquet_become_the_same_table() -> None:
    table = TYPES.table(text(), from_text=True)
    assert table.to_pydict() == FRAME.to_dict("list")
    assert [str(each) for each in table.schema.types] == [
        *("int64", "double", "string", "string", "bool", "int64", "int64", "int64")
    ]
    assert table.equals(TYPES.table(parquet(), from_text=False))
    codec = Codec.fit(SCHEMA, FRAME)
    assert np.array_equal(codec.encode(table), codec.encode(FRAME))


def test_numbers_may_be_written_in_any_usual_way() -> None:
    cells = text(
        age=[" 31 ", "44.0"], ratio=["5e-1", "+1.25"], car=["0", "TRUE"], rank=["1.0", "3"]
    )
    assert TYPES.table(cells, from_text=True).to_pydict() == FRAME.to_dict("list")


def test_nothing_is_missing_but_a_level_of_that_name_is_not() -> None:
    cells = text(age=["", "NA"], ratio=["nan", "null"], school=["", "NaN"], code=["NA", ""])
    table = TYPES.table(cells, from_text=True)
    for name in ("age", "ratio", "school"):
        assert table.column(name).to_pylist() == [None, None]
    assert table.column("code").to_pylist() == ["NA", None]


def test_a_level_over_columns_is_missing_where_all_are() -> None:
    table = TYPES.table(text(home_rents=["", "0"], home_owns=["", "1"]), from_text=True)
    assert table.column("home_owns").to_pylist() == [None, 1]


def test_a_missing_number_of_parquet_is_missing() -> None:
    cells = parquet(ratio=[float("nan"), 1.0], age=pd.array([None, 44], dtype="Int64"))
    table = TYPES.table(cells, from_text=False)
    assert table.column("ratio").to_pylist() == [None, 1.0]
    assert table.column("age").to_pylist() == [None, 44]


def test_dictionaries_and_long_text_are_text() -> None:
    frame = FRAME.astype({"school": "category"})
    table = pa.Table.from_pandas(frame, preserve_index=False)
    code = table.column("code").cast(pa.large_string())
    table = table.set_column(table.column_names.index("code"), "code", code)
    assert TYPES.table(table, from_text=False).to_pydict() == FRAME.to_dict("list")


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ({"age": ["31", "old"]}, "'age': row 101 .* is 'old'; expected a number"),
        ({"age": ["31", "1,044"]}, "without thousands separators"),
        ({"age": ["31", "44.5"]}, "row 101 .* is 44.5; expected a whole number"),
        ({"age": ["31", "1e19"]}, "row 101 .* is 1e19; expected a number of up to 18 digits"),
        ({"age": ["31", "٣"]}, "row 101 .* is '٣'; expected a number"),
        ({"ratio": ["0x1F", "1"]}, "row 100 .* is '0x1F'; expected a number"),
        ({"ratio": ["1e400", "1"]}, "row 100 .* is 1e400; expected a finite number"),
        ({"ratio": ["inf", "1"]}, "row 100 .* is inf; expected a finite number"),
        ({"school": ["none", "hihg"]}, r"row 101 .* unknown level 'hihg'.*Did you mean 'high'\?"),
        ({"car": ["maybe", "1"]}, "unknown level 'maybe'"),
        ({"rank": ["1", "4"]}, "unknown level '4'"),
        (
            {"home_owns": ["0", "0"]},
            r"one-hot feature 'home': row 101 \(the first is 0\) is \[0.0, 0.0\] over the columns"
            " 'home_rents', 'home_owns'; expected a single 1",
        ),
        ({"home_owns": ["1", "1"]}, r"'home': row 100 .* is \[1.0, 1.0\]"),
        ({"home_owns": ["0", ""]}, r"'home': row 101 .* is \[0.0, nan\]"),
    ],
)
def test_a_cell_that_does_not_fit_is_named(cells: dict[str, Any], message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        TYPES.table(text(**cells), from_text=True, first_row=100)


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ({"age": ["31", "44"]}, "'age': the file holds values of type .*string there"),
        ({"school": [[1], [2]]}, "'school': the file holds values of type list.* expected the lev"),
        ({"rank": [{"a": 1}, None]}, "'rank': the file holds values of type struct"),
        ({"age": [[1], [2]]}, "'age': the file holds values of type list"),
        ({"school": [1, 2]}, "unknown level 1; .* Convert the column to text"),
        ({"car": [0, 1]}, "unknown level 0"),
    ],
)
def test_a_column_of_another_type_is_refused(cells: dict[str, Any], message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        TYPES.table(parquet(**cells), from_text=False)
