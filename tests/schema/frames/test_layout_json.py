"""How a frame looked survives JSON; a record that is wrong is named by its place."""

import copy
import json
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from proce.errors import SchemaError
from proce.schema import Layout
from proce.schema.frames.layout_json import (
    exact_layout_from_json,
    exact_layout_to_json,
    layout_from_json,
    layout_to_json,
)
from proce.schema.records import RecordError

PLAIN = pd.DataFrame({"age": [31, 44], "pay": [1.5, np.nan], "home": ["rents", "owns"]})
ENUM = pl.Enum(["owns", "rents"])
FRAMES = {
    "plain": PLAIN,
    "masked": PLAIN.astype({"age": "Int16", "pay": "Float64", "home": "string[pyarrow]"}),
    "categories": PLAIN.astype({"home": pd.CategoricalDtype(["rents", "owns"], ordered=True)}),
    "objects": PLAIN.assign(home=pd.Series(["rents", pd.NA], dtype=object)),
    "arrow dtypes": PLAIN.astype({"age": pd.ArrowDtype(pa.int32())}),
    "header": PLAIN.rename_axis("features", axis=1),
    "polars": pl.DataFrame({"age": [31, 44], "pay": [1.5, None], "home": ["rents", "owns"]}),
    "enum": pl.DataFrame({"home": ["rents", "owns"]}, schema={"home": ENUM}),
    "pyarrow": pa.table({"age": [31, 44], "pay": [1.5, 2.5], "home": ["rents", None]}),
}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_the_exact_form_gives_the_same_layout_back(frame: Any) -> None:
    layout = Layout.of(frame)
    record = json.loads(json.dumps(exact_layout_to_json(layout)))
    loaded = exact_layout_from_json(record, layout.columns)
    assert (loaded.library, loaded.columns) == (layout.library, layout.columns)
    assert loaded.dtypes == layout.dtypes
    assert str(loaded.missing) == str(layout.missing)


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_the_form_of_pandas_is_written_alike_when_it_was_read(frame: Any) -> None:
    layout = Layout.of(frame)
    record = layout_to_json(layout, [1, 0])
    loaded = layout_from_json(json.loads(json.dumps(record)), layout.columns, [1, 0])
    assert layout_to_json(loaded, [1, 0] if "index" in record else None) == record


def test_labels_of_rows_come_back_by_the_position_of_the_row() -> None:
    layout = Layout.of(PLAIN.set_axis(["ann", "bob"]))
    loaded = layout_from_json(layout_to_json(layout, [1, 0]), layout.columns, [1, 0])
    assert loaded.take([0, 1, 1]).index.tolist() == ["ann", "bob", "bob"]


@pytest.mark.parametrize(
    ("labels", "dtype", "written"),
    [
        (pa.array(["007", None]), "arrow:string", ["007", None]),
        (pa.array([2**62 + 1, None]), "arrow:int64", [2**62 + 1, None]),
        (pa.array([2**64 - 1, 0], pa.uint64()), "arrow:uint64", [2**64 - 1, 0]),
        (pa.array([20_000, None], pa.date32()), "str", ["2024-10-04", None]),
    ],
)
def test_labels_keep_their_values_beside_missing_ones(
    labels: pa.Array, dtype: str, written: list[Any]
) -> None:
    index = pd.Index(pd.arrays.ArrowExtensionArray(labels), name="customer")
    layout = Layout.of(PLAIN.set_axis(index))
    record = json.loads(json.dumps(layout_to_json(layout, [0, 1])))
    assert record["index"] == {"name": "customer", "dtype": dtype, "labels": written}
    loaded = layout_from_json(record, layout.columns, [0, 1])
    assert layout_to_json(loaded, [0, 1]) == record
    assert [None if pd.isna(label) else label for label in loaded.index] == written


def test_a_dtype_that_cannot_be_kept_is_refused() -> None:
    for frame in (
        pd.DataFrame({"when": pd.to_datetime(["2020-01-01"])}),
        pl.DataFrame({"when": pd.to_datetime(["2020-01-01"])}),
    ):
        with pytest.raises(SchemaError, match=r"'when' has the dtype .*cannot be kept"):
            exact_layout_to_json(Layout.of(frame))


CATEGORY = {"dtype": "category", "categories": ["a"], "of": "str", "ordered": False}


@pytest.mark.parametrize(
    ("record", "place", "expected"),
    [
        (5, "", "an object"),
        ({}, "", "an object with 'columns'"),
        ({"columns": []}, "columns", "an object"),
        ({"columns": {}}, "columns", "the columns of the schema, home"),
        ({"columns": {"home": 5}}, "columns.home", "a text"),
        ({"columns": {"home": "in64"}}, "columns.home", "the name of a dtype"),
        ({"columns": {"home": {}}}, "columns.home", "an object with 'dtype'"),
        (
            {"columns": {"home": {**CATEGORY, "categories": ["a", None]}}},
            "columns.home.categories[1]",
            "a text, a finite number",
        ),
        (
            {"columns": {"home": {**CATEGORY, "categories": ["a", "a"]}}},
            "columns.home.categories",
            "every category once",
        ),
        (
            {"columns": {"home": {**CATEGORY, "of": "int64"}}},
            "columns.home.categories",
            "categories of dtype 'int64'",
        ),
        ({"columns": {"home": "str"}, "missing": {"home": "x"}}, "missing.home", "one of 'None'"),
        (
            {"columns": {"home": "str"}, "header": {"dtype": "int64"}},
            "header.dtype",
            "a dtype of text",
        ),
        (
            {"columns": {"home": "str"}, "index": {"dtype": "str", "labels": ["a"]}},
            "index.labels",
            "2 labels",
        ),
        (
            {"columns": {"home": "str"}, "index": {"dtype": "int64", "labels": ["a", "b"]}},
            "index.labels",
            "labels of dtype 'int64'",
        ),
    ],
)
def test_a_wrong_value_is_named_by_its_place(record: Any, place: str, expected: str) -> None:
    with pytest.raises(RecordError) as caught:
        layout_from_json(record, ["home"], [0, 1])
    assert caught.value.place == place
    assert caught.value.expected.startswith(expected)


@pytest.mark.parametrize(
    ("record", "place"),
    [
        (None, ""),
        ({"library": "dask"}, "library"),
        ({"library": []}, "library"),
        ({"library": "pandas"}, ""),
        ({"library": "polars", "columns": {"home": "Strng"}, "nulls": []}, "columns.home"),
        ({"library": "polars", "columns": {"home": "String"}, "nulls": [1]}, "nulls[0]"),
        ({"library": "polars", "columns": {"age": "Int64"}, "nulls": []}, "columns"),
    ],
)
def test_a_wrong_exact_record_is_named_by_its_place(record: Any, place: str) -> None:
    with pytest.raises(RecordError) as caught:
        exact_layout_from_json(record, ["home"])
    assert caught.value.place == place


def test_an_error_about_a_record_survives_another_process() -> None:
    error = copy.copy(RecordError("columns.age", 5, "a text"))  # as pickling does
    assert str(error) == "columns.age is 5; expected a text."
    assert (error.place, error.value, error.expected) == ("columns.age", 5, "a text")
