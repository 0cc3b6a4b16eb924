"""Decoding an encoded frame gives it back."""

import math

import numpy as np
import pandas as pd
import polars as pl
import polars.testing
import pyarrow as pa
import pytest

from proce.errors import SchemaError
from proce.schema import Action, Categorical, Codec, Continuous, Layout, Ordinal, Schema

SCHOOLS = ["HS", "BSc", "PhD"]


def people() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "age": np.array([25, 40, 61, 33], dtype=np.int64),
            "gpa": [3.1, 2.7, 4.0, 3.3],
            "weight": np.array([70.123456789, 55.5, 81.25, 99.0]),
            "job": ["nurse", "clerk", "nurse", "baker"],
            "school": pd.Categorical(["HS", "BSc", "HS", "PhD"], SCHOOLS, ordered=True),
            "owner": [True, False, False, True],
        },
        index=pd.Index(["ann", "bob", "cat", "dan"], name="who"),
    )


def round_trip(frame):
    codec = Codec.fit(Schema.infer(frame), frame)
    return codec.decode(codec.encode(frame), Layout.of(frame))


def test_numbers_are_scaled_to_the_unit_range_of_the_training_rows_and_levels_become_codes():
    frame = people()
    codec = Codec.fit(Schema.infer(frame), frame)
    rows = codec.encode(frame)
    assert rows.dtype == np.float64
    assert rows[:, 0].tolist() == [0.0, 15 / 36, 1.0, 8 / 36]
    assert rows[:, 3].tolist() == [2.0, 1.0, 2.0, 0.0]  # baker, clerk, nurse
    assert rows[:, 4].tolist() == [0.0, 1.0, 0.0, 2.0]
    assert rows[:, 5].tolist() == [1.0, 0.0, 0.0, 1.0]
    assert codec.reach.tolist() == [1, 1, 1, 1, 2, 1]


def test_a_pandas_frame_comes_back_with_dtypes_order_index_and_categories():
    frame = people()
    back = round_trip(frame)
    pd.testing.assert_frame_equal(back, frame, rtol=0, atol=1e-12 * 50)
    assert back["gpa"].tolist() == frame["gpa"].tolist()  # on the step 0.1: exact


def test_without_a_layout_the_training_frames_is_used_and_the_index_is_not():
    frame = people()
    codec = Codec.fit(Schema.infer(frame), frame)
    back = codec.decode(np.tile(codec.encode(frame), (3, 1)))
    assert len(back) == 12
    assert back.index.equals(pd.RangeIndex(12))
    assert (back.dtypes == frame.dtypes).all()


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([1, 2, None, 4], dtype="Int64"),
        pd.Series([1, 2, 3, 4], dtype="uint8"),
        pd.Series([1.5, None, 2.25, 3.0], dtype="Float64"),
        pd.Series([1.5, np.nan, 2.25, 3.1], dtype="float32"),
        pd.Series([True, None, False, True], dtype="boolean"),
        pd.Series(["a", None, "b", "a"], dtype="str"),
        pd.Series(["a", None, "b", "a"], dtype="string"),
        pd.Series(["a", pd.NA, "b", "a"], dtype="string[pyarrow]"),
        pd.Series(["a", None, "b", "a"], dtype=object),
        pd.Series(["a", np.nan, "b", "a"], dtype=object),
        pd.Series([True, None, False, True], dtype=object),
        pd.Series(pd.Categorical([3, 1, None, 3], [3, 1, 7])),
        pd.Series([0.1, 0.2, 0.3, 0.7]),
        pd.Series([1, 2, None, 4], dtype="int64[pyarrow]"),
        pd.Series(["a", None, "b", "a"], dtype=pd.ArrowDtype(pa.string())),
        pd.Series([True, None, False, True], dtype="bool[pyarrow]"),
    ],
    ids=lambda column: str(column.dtype),
)
def test_every_pandas_dtype_comes_back_exactly(column):
    frame = pd.DataFrame({"x": column, "y": [1, 2, 3, 4]})
    back = round_trip(frame)
    pd.testing.assert_frame_equal(back, frame, check_exact=True)


@pytest.mark.parametrize(
    "column",
    [
        pl.Series([1, 2, None, 4], dtype=pl.Int32),
        pl.Series([1.5, None, 2.25, 3.0]),
        pl.Series([1.5, float("nan"), 2.25, 3.0]),
        pl.Series([1.5, 0.25, 2.25, None], dtype=pl.Float32),
        pl.Series([True, None, False, True]),
        pl.Series(["a", None, "b", "a"]),
        pl.Series(["a", None, "b", "a"], dtype=pl.Categorical),
        pl.Series(["a", None, "b", "a"], dtype=pl.Enum(["b", "a", "unused"])),
    ],
    ids=lambda column: str(column.dtype),
)
def test_every_polars_dtype_comes_back_exactly(column):
    frame = pl.DataFrame({"x": column, "y": [1, 2, 3, 4]})
    polars.testing.assert_frame_equal(round_trip(frame), frame, check_exact=True)


def test_a_pyarrow_table_comes_back():
    table = pa.table({"x": [1.5, None, 2.0], "job": ["a", "b", None], "n": [1, 2, 3]})
    assert round_trip(table).equals(table)


def test_a_model_trained_on_pandas_is_explained_for_polars_rows():
    frame = people().reset_index(drop=True).drop(columns="school")
    codec = Codec.fit(Schema.infer(frame), frame)
    other = pl.from_pandas(frame).select(reversed(frame.columns))
    back = codec.decode(codec.encode(other), Layout.of(other))
    polars.testing.assert_frame_equal(back, other, abs_tol=1e-10)


def test_one_hot_columns_are_one_feature_and_move_together():
    frame = pd.DataFrame({"job_a": [1, 0, 0], "age": [1, 2, 3], "job_b": [0, 1, 1]})
    schema = Schema.infer(frame, one_hot={"job": ["job_a", "job_b"]})
    assert schema.names == ("job", "age")
    assert schema["job"].levels == ("a", "b")
    codec = Codec.fit(schema, frame)
    rows = codec.encode(frame)
    assert rows[:, 0].tolist() == [0.0, 1.0, 1.0]
    pd.testing.assert_frame_equal(codec.decode(rows), frame)
    rows[0, 0] = 1
    assert codec.decode(rows).loc[0, ["job_a", "job_b"]].tolist() == [0, 1]


def test_one_hot_flags_keep_their_dtype_and_two_ones_are_refused():
    frame = pd.DataFrame({"a": [True, False], "b": [False, True], "age": [1, 2]})
    schema = Schema.infer(frame, one_hot={"job": ["a", "b"]})
    codec = Codec.fit(schema, frame)
    pd.testing.assert_frame_equal(codec.decode(codec.encode(frame)), frame)
    with pytest.raises(SchemaError, match=r"row 1 is \[1.0, 1.0\].*expected a single 1"):
        codec.encode(pd.DataFrame({"a": [True, True], "b": [False, True], "age": [1, 2]}))


def test_values_outside_the_training_range_are_kept():
    frame = pd.DataFrame({"age": [20, 60], "height": [1.5, 2.0]})
    codec = Codec.fit(Schema.infer(frame), frame)
    outside = pd.DataFrame({"age": [10, 100], "height": [1.0, 9.75]})
    rows = codec.encode(outside)
    assert rows[:, 0].tolist() == [-0.25, 2.0]
    pd.testing.assert_frame_equal(codec.decode(rows), outside)


def test_a_missing_cell_is_nan_or_minus_one_and_comes_back_missing():
    frame = pd.DataFrame({"age": [20.0, np.nan, 60.0], "job": ["a", "b", None]})
    codec = Codec.fit(Schema.infer(frame), frame)
    rows = codec.encode(frame)
    assert np.isnan(rows[1, 0])
    assert rows[2, 1] == -1
    assert codec.may_miss.tolist() == [True, True]
    pd.testing.assert_frame_equal(codec.decode(rows), frame)


def test_a_missing_cell_can_be_shown_to_a_model_trained_on_whole_numbers():
    codec = Codec.fit(Schema.infer(people()[["age", "owner"]]), people()[["age", "owner"]])
    frame = codec.decode(np.array([[float("nan"), -1.0], [0.0, 1.0]], dtype=np.float64))
    assert frame["age"].isna().tolist() == [True, False]
    assert frame["owner"].isna().tolist() == [True, False]


def test_a_level_absent_from_a_frames_categories_is_added_to_them():
    frame = pd.DataFrame({"job": pd.Categorical(["a", "b"]), "age": [1, 2]})
    codec = Codec.fit(Schema.infer(frame), frame)
    one = pd.DataFrame({"job": pd.Categorical(["a"]), "age": [1]})
    rows = codec.encode(one)
    rows[0, 0] = 1
    assert codec.decode(rows, Layout.of(one))["job"].tolist() == ["b"]


def test_a_layout_follows_a_selection_of_rows():
    frame = people()
    codec = Codec.fit(Schema.infer(frame), frame)
    rows = codec.encode(frame)[[0, 0, 2]]
    back = codec.decode(rows, Layout.of(frame).take([0, 0, 2]))
    assert back.index.tolist() == ["ann", "ann", "cat"]


def test_a_fine_step_on_a_vast_range_comes_back_exactly():
    frame = pd.DataFrame({"x": [0.06, -536870912.0, 17.25]})
    assert round_trip(frame)["x"].tolist() == frame["x"].tolist()


def test_whole_numbers_off_the_step_stay_whole_when_they_move_by_steps() -> None:
    owned = np.array([15_376.0, 3_102.0, 689.0, -4.0, 0.0], dtype=np.float64)
    frame = pd.DataFrame({"bill": [-15_308, *map(int, owned), 964_511]})
    codec = Codec.fit(Schema([Continuous("bill", step=100)]), frame)
    moved = owned[:, None] + 100 * np.arange(-50.0, 51.0)
    unit = codec.to_unit(owned[:, None, None]) + codec.to_unit(moved[..., None])
    back = codec.to_raw(unit - codec.to_unit(owned[:, None, None]))
    assert np.array_equal(back[..., 0], moved)


def test_the_callers_frame_is_not_written_to():
    frame = people()
    before = frame.copy(deep=True)
    codec = Codec.fit(Schema.infer(frame), frame)
    rows = codec.encode(frame)
    rows += 1
    pd.testing.assert_frame_equal(frame, before)


def test_unit_undoes_raw():
    frame = people()
    codec = Codec.fit(Schema.infer(frame), frame)
    rows = codec.encode(frame)
    assert codec.to_raw(rows)[:, 1].tolist() == [3.1, 2.7, 4.0, 3.3]
    np.testing.assert_allclose(codec.to_unit(codec.to_raw(rows)), rows, rtol=0, atol=1e-15)


def test_what_no_double_can_hold_is_infinitely_far():
    codec = Codec.fit(Schema([Continuous("x")]), pd.DataFrame({"x": [0.0, 1e-9]}))
    frame = pd.DataFrame({"x": [1e305]})
    assert codec.encode(frame).tolist() == [[math.inf]]
    assert codec.to_unit(codec.raw_of_frame(frame)).tolist() == [[math.inf]]
    assert codec.encode_value("x", 1e305) == math.inf


def test_a_constant_feature_is_accepted_where_it_is_fixed():
    frame = pd.DataFrame({"year": [2024, 2024], "x": [1.0, 2.0]})
    schema = Schema([Continuous("year", step=1, action=Action.FIXED), Continuous("x")])
    codec = Codec.fit(schema, frame)
    pd.testing.assert_frame_equal(codec.decode(codec.encode(frame)), frame)


@pytest.mark.parametrize(
    ("feature", "values", "message"),
    [
        (Continuous("x"), [5, 5, 5], "is 5.0 in all 3 rows.*Drop it"),
        (Continuous("x"), [None, None, None], "missing in all rows"),
        (Continuous("x"), [1.0, np.inf, 2.0], "row 1 is inf; expected finite"),
        (Continuous("x", (10, 20)), [1, 2, 3], r"range \(10.0, 20.0\) holds none of the"),
        (Continuous("x"), ["a", "b", "c"], "holds text; expected numbers"),
        (Continuous("x"), [2**60, 1, 2], "looks like an identifier"),
        (Categorical("x", ("a", "b")), ["a", "c", "b"], "row 1 has the unknown level 'c'"),
        (Categorical("x", ("1", "2")), [1, 2, 1], "row 0 has 1, a number, but the levels are text"),
        (Ordinal("x", (1, 2)), ["1", "2", "1"], "row 0 has '1', a text, but the levels are number"),
        (Categorical("x", (0, 1)), [True, False, True], "has True, a flag, but the levels"),
        (Categorical("x", ("a", "b")), ["a", "a", "a"], "is 'a' in all 3 rows"),
        (Categorical("x", ("a", "b")), ["a", 1, None], "mixes number and text values"),
        (Categorical("x", ("a", "b")), ["a", ["b"], None], "values of type list"),
    ],
)
def test_a_frame_that_does_not_fit_is_refused(feature, values, message):
    dtype = float if values == [None] * 3 else None
    frame = pd.DataFrame({"x": pd.Series(values, dtype=dtype), "y": [1, 2, 3]})
    with pytest.raises(SchemaError, match=message):
        Codec.fit(Schema([feature, Continuous("y")]), frame)


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pd.DataFrame({"a": [1]}), "lacks the column 'b'; expected 'a', 'b'"),
        (pd.DataFrame([[1, 2, 3]], columns=["a", "b", "b"]), "'b' stands twice"),
        (pd.DataFrame({0: [1], "b": [1]}), "column 0 is not named by a string"),
        ([[1, 2]], "got a list; expected a data frame"),
        (pl.LazyFrame({"a": [1], "b": [2]}), r"call \.collect\(\)"),
    ],
)
def test_wrong_columns_are_named(frame, message):
    training = pd.DataFrame({"a": [1, 2], "b": [1, 2]})
    codec = Codec.fit(Schema.infer(training), training)
    with pytest.raises(SchemaError, match=message):
        codec.encode(frame)


def test_text_in_several_pieces_is_read_as_one() -> None:
    """Pandas keeps text that was put together in pieces."""
    pieces = [pd.DataFrame({"job": ["clerk", "nurse"]}), pd.DataFrame({"job": ["nurse", None]})]
    frame = pd.concat(pieces, ignore_index=True)
    codec = Codec.fit(Schema.infer(frame), frame)
    assert codec.encode(frame)[:, 0].tolist() == [0, 1, 1, -1]


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint16"])
def test_what_an_integer_column_cannot_hold_becomes_its_nearest_end(dtype: str) -> None:
    frame = pd.DataFrame({"x": np.array([0, 1, 2], dtype=dtype), "y": [0.5, 1.0, 2.0]})
    codec = Codec.fit(Schema.infer(frame), frame)
    rows = np.array([[1e40, 0.5], [-1e40, 0.5], [0.5, 0.5]], dtype=np.float64)
    decoded = codec.decode(rows)["x"]
    ends = np.iinfo(dtype)
    assert decoded.dtype == dtype
    assert int(decoded[0]) == pytest.approx(ends.max, rel=1e-15)
    assert int(decoded[1]) == ends.min
    assert int(decoded[2]) == 1
