"""Plain columns of pandas are read directly, and as narwhals reads them."""

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proce.schema.frames.cells import (
    LevelColumn,
    is_missing,
    pandas_column,
    read_pandas_levels,
    read_pandas_numbers,
)
from proce.schema.frames.frame import open_frame, read_levels, read_numbers

NUMERIC = [f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)]
TEXTS = ("low", "mid", "high")


@pytest.mark.parametrize("dtype", [*NUMERIC, "float32", "float64"])
def test_numbers_are_read_as_narwhals_reads_them(dtype: str) -> None:
    column = pd.Series([0, 1, 100], dtype=dtype, name="x")
    direct = read_pandas_numbers(column)
    assert direct is not None
    assert direct.dtype == np.float64
    np.testing.assert_array_equal(direct, read_numbers(open_frame(column.to_frame())["x"]))


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([1.0, np.inf]),
        pd.Series([1, 2**50 + 1]),
        pd.Series([1, 2], dtype="Int64"),
        pd.Series([1.0], dtype="float16"),
        pd.Series(["1"]),
        pd.Series([True]),
    ],
)
def test_other_numbers_are_left_to_whoever_says_what_is_wrong(column: "pd.Series[float]") -> None:
    assert read_pandas_numbers(column) is None


@given(
    st.lists(st.sampled_from([*TEXTS, None]), min_size=1, max_size=6),
    st.sampled_from(["object", "str", "category", "reversed"]),
)
def test_texts_are_read_as_narwhals_reads_them(cells: list[str | None], dtype: str) -> None:
    kind = pd.CategoricalDtype(TEXTS[::-1]) if dtype == "reversed" else dtype
    column = pd.Series(cells, dtype="object", name="x").astype(kind)
    direct = read_pandas_levels(column, TEXTS)
    assert direct is not None
    np.testing.assert_array_equal(direct, read_levels(open_frame(column.to_frame())["x"], TEXTS))


@pytest.mark.parametrize(
    ("column", "levels"),
    [
        (pd.Series([0, 2, 1]), (2, 1, 0)),
        (pd.Series([0.0, np.nan, 2.5]), (0, 1, 2.5)),
        (pd.Series([True, False]), (False, True)),
        (pd.Series([True, None], dtype="object"), (False, True)),
        (pd.Series([1, 0], dtype="int8").astype("category"), (0, 1)),
    ],
)
def test_numbers_and_flags_are_levels_too(
    column: "pd.Series[float]", levels: tuple[float, ...]
) -> None:
    direct = read_pandas_levels(column, levels)
    assert direct is not None
    other = read_levels(open_frame(column.to_frame("x"))["x"], levels)
    np.testing.assert_array_equal(direct, other)


@pytest.mark.parametrize(
    ("column", "levels"),
    [
        (pd.Series(["other"]), TEXTS),
        (pd.Series(["other"]).astype("category"), TEXTS),
        (pd.Series([1, 0]), (False, True)),
        (pd.Series(["low", 1], dtype="object"), TEXTS),
        (pd.Series(["low"], dtype=pd.CategoricalDtype(["low", 1])), TEXTS),
        (pd.Series(["low"] * 1000), TEXTS),
    ],
)
def test_other_levels_are_left_to_whoever_says_what_is_wrong(
    column: "pd.Series[str]", levels: tuple[str, ...]
) -> None:
    assert read_pandas_levels(column, levels) is None


def test_categories_that_a_dtype_lacks_are_added_behind_its_own() -> None:
    dtype = pd.CategoricalDtype(["high"], ordered=True)
    column = pandas_column(LevelColumn(np.array([0, 2, -1]), TEXTS), dtype, None)
    assert column.categories.tolist() == ["high", "low", "mid"]
    assert column.codes.tolist() == [1, 0, -1]
    assert column.ordered


@pytest.mark.parametrize(
    "value",
    [None, np.nan, np.float32("nan"), pd.NA, pd.NaT, np.datetime64("NaT"), Decimal("NaN")],
    ids=repr,
)
def test_a_null_of_any_library_and_nan_of_any_type_is_missing(value: Any) -> None:
    assert is_missing(value)


@pytest.mark.parametrize(
    "value", ["", "nan", 0, False, np.float32(0), Decimal(0), np.inf, [None], np.array([np.nan])]
)
def test_anything_else_is_there(value: Any) -> None:
    assert not is_missing(value)
