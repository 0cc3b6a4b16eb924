"""The values that a frame would hold are known without the frame, bit for bit."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proce.arrays import Array
from proce.schema import Categorical, Codec, Continuous, Layout, Ordinal, Schema
from proce.schema.codec import frame_of_raw
from proce.schema.round_trip import ReadFrame, converted, exact_entries, values_in_frame

SCHEMA = Schema(
    [
        Continuous("whole", step=1),
        Continuous("real"),
        Categorical("text", ("a", "b", "c")),
        Ordinal("rank", (3, 1, 2)),
        Categorical("flag", (False, True)),
        Categorical("hot", ("x", "y"), one_hot=("hot_x", "hot_y")),
    ]
)
TRAINING = pd.DataFrame(
    {
        "whole": [0, 50, 100],
        "real": [-1.5, 0.25, 2.0],
        "text": pd.Categorical(["a", "b", "c"]),
        "rank": [1, 2, 3],
        "flag": [True, False, True],
        "hot_x": [1, 0, 1],
        "hot_y": [0, 1, 0],
    }
)
CODEC = Codec.fit(SCHEMA, TRAINING)
INTEGERS = [f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)]
PLAIN = {
    "whole": [*INTEGERS, "float32", "float64"],
    "real": ["float32", "float64", "int16"],
    "text": [
        "object",
        "str",
        pd.CategoricalDtype(["c", "z", "a"]),
        pd.CategoricalDtype(list("abc")),
    ],
    "rank": ["int8", "uint16", "float32", "float64", "object", pd.CategoricalDtype([1, 2, 3])],
    "flag": ["bool", "object", pd.CategoricalDtype([True, False])],
    "hot_x": ["int8", "float64"],
    "hot_y": ["int8", "float64"],
}
ROWS = st.lists(
    st.tuples(
        st.one_of(st.integers(-200, 400), st.sampled_from([np.nan, 0.5, 1e10, -1e10])),
        st.one_of(st.floats(-1e6, 1e6), st.just(np.nan)),
        st.integers(-1, 2),
        st.integers(-1, 2),
        st.integers(-1, 1),
        st.integers(-1, 1),
    ),
    min_size=1,
    max_size=5,
)


@st.composite
def layouts(draw: st.DrawFn) -> Layout:
    columns = draw(st.permutations(list(PLAIN)))
    dtypes = {name: np.dtype(object) for name in columns}
    for name in columns:
        dtype = draw(st.sampled_from(PLAIN[name]))
        dtypes[name] = pd.Series([], dtype=dtype).dtype
    missing = {name: draw(st.sampled_from([None, np.nan])) for name in columns}
    return Layout(
        Layout.of(TRAINING).library, tuple(columns), dtypes, missing, header=pd.Index(columns)
    )


def read_back(raw: Array, layout: Layout) -> Array:
    return CODEC.raw_of_frame(frame_of_raw(CODEC, raw, layout))


def same_bits(first: Array, second: Array) -> bool:
    return np.array_equal(first, second, equal_nan=True)


@given(ROWS, layouts())
def test_what_a_frame_would_hold_is_what_is_read_from_it(rows: list[float], layout: Layout) -> None:
    raw = np.array(rows, dtype=np.float64)
    values = values_in_frame(CODEC, raw, layout)
    assert values is not None
    assert same_bits(values, read_back(raw, layout))
    frame = frame_of_raw(CODEC, raw, layout)
    pd.testing.assert_frame_equal(frame_of_raw(CODEC, values, layout), frame, check_exact=True)


@given(ROWS, layouts())
def test_the_frame_that_is_made_later_is_the_one_that_is_rebuilt(
    rows: list[float], layout: Layout
) -> None:
    raw = np.array(rows, dtype=np.float64)
    factual = CODEC.to_unit(raw)
    changed = factual.copy()
    changed[0, 0], changed[-1, 1] = 0.3, 0.7
    read = ReadFrame.holding(CODEC, CODEC.raw_of_changes(changed, factual, raw), layout)
    frame = CODEC.rebuild(changed, layout, factual, raw)
    pd.testing.assert_frame_equal(read.frame, frame, check_exact=True)
    assert same_bits(read.raw, CODEC.raw_of_frame(frame))


@pytest.mark.parametrize(
    ("column", "dtype"),
    [("whole", "Int64"), ("real", "Float64"), ("flag", "boolean"), ("rank", "Int8")],
)
def test_other_dtypes_are_tried_in_a_frame(column: str, dtype: str) -> None:
    layout = Layout.of(TRAINING.astype({column: dtype}))
    raw = CODEC.raw_of_frame(TRAINING)
    read = ReadFrame.holding(CODEC, raw, layout)
    assert read.frame[column].dtype == dtype
    assert same_bits(read.raw, raw)


def test_a_level_that_its_column_cannot_hold_is_not_taken_for_kept() -> None:
    codec = Codec.fit(Schema([Ordinal("x", (1, 300))]), pd.DataFrame({"x": [1, 300]}))
    layout = Layout.of(pd.DataFrame({"x": np.array([1], dtype=np.int8)}))
    assert values_in_frame(codec, np.zeros((1, 1)), layout) is None


@pytest.mark.parametrize("value", [1e300, 2.0**51])
def test_numbers_that_cannot_be_read_are_tried_in_a_frame(value: float) -> None:
    layout = Layout.of(TRAINING.astype({"real": "int64"}))
    raw = CODEC.raw_of_frame(TRAINING)
    raw[0, 1] = value
    assert values_in_frame(CODEC, raw, layout) is None


@pytest.mark.parametrize("library", [pl.from_pandas, pa.Table.from_pandas])
def test_frames_of_other_libraries_are_made_and_read(library) -> None:  # type: ignore[no-untyped-def]
    frame = library(TRAINING)
    raw = CODEC.raw_of_frame(TRAINING)
    read = ReadFrame.holding(CODEC, raw, Layout.of(frame))
    assert isinstance(read.frame, type(frame))
    assert same_bits(read.raw, raw)


TWO_NUMBERS = Schema([Continuous("whole", step=1), Continuous("real")])
NUMBERS = pd.DataFrame({"whole": [0, 9], "real": [0.1, 0.8]})
NUMBERS_CODEC = Codec.fit(TWO_NUMBERS, NUMBERS)


def test_entries_are_found_that_give_more_values_back_to_the_last_bit() -> None:
    draw = np.random.default_rng(0).random(500)
    raw = np.stack([np.full_like(draw, np.nan), 0.4 + 0.4 * draw], axis=-1)
    plain, exact = NUMBERS_CODEC.to_unit(raw), exact_entries(NUMBERS_CODEC, raw)
    missed, still_missed = (
        int((NUMBERS_CODEC.to_raw(entries) != raw)[:, 1].sum()) for entries in (plain, exact)
    )
    assert still_missed < missed  # some have no such entry
    assert np.isnan(exact[:, 0]).all()
    assert (np.abs(plain - exact)[:, 1] < 1e-12).all()


def test_a_column_keeps_the_dtype_that_holds_its_values_and_becomes_doubles_otherwise() -> None:
    layout = Layout.of(NUMBERS.astype({"whole": "int32", "real": "float32"}))
    halves = pd.DataFrame({"whole": [1.5, 2.0], "real": [0.25, np.nan]})
    told = converted(NUMBERS_CODEC, halves, layout)
    assert told.dtypes.tolist() == [np.dtype("float64"), np.dtype("float32")]
    assert told["whole"].tolist() == [1.5, 2.0]
    wholes = pd.DataFrame({"whole": [1.0, 2.0], "real": [0.1, np.nan]})
    told = converted(NUMBERS_CODEC, wholes, layout)
    assert told.dtypes.tolist() == [np.dtype("int32"), np.dtype("float64")]
    assert told["real"].tolist()[0] == 0.1
