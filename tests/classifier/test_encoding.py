"""What a network is given for a row."""

import math

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from proce.classifier import label, one_hot
from proce.classifier.encoding import as_encoding
from proce.errors import ModelError
from proce.schema import Categorical, Codec, Continuous, Ordinal, Schema

SCHEMA = Schema(
    [
        Continuous("age", step=1),
        Categorical("job", ("clerk", "nurse", "baker")),
        Continuous("income"),
        Ordinal("school", ("low", "mid", "high")),
    ]
)
FRAME = pd.DataFrame(
    {
        "age": [20, 30, 40, 60],
        "job": ["nurse", "clerk", None, "baker"],
        "income": [10.0, np.nan, 30.0, 20.0],
        "school": ["high", "low", "mid", "low"],
    }
)
CODEC = Codec.fit(SCHEMA, FRAME)


def test_one_hot_columns_follow_the_features_and_flags_come_last():
    encoding = one_hot(CODEC)
    levels = ["job=clerk", "job=nurse", "job=baker", "income", "school=low", "school=mid"]
    flags = ["job is missing", "income is missing"]
    assert list(encoding.names) == ["age", *levels, "school=high", *flags]
    assert encoding.source.tolist() == [0, 1, 1, 1, 2, 3, 3, 3, 1, 2]
    assert encoding.width == 10


def test_one_hot_by_hand():
    assert one_hot(CODEC)(CODEC.encode(FRAME)).tolist() == [
        [0.00, 0, 1, 0, 0.0, 0, 0, 1, 0, 0],
        [0.25, 1, 0, 0, 0.0, 1, 0, 0, 0, 1],
        [0.50, 0, 0, 0, 1.0, 0, 1, 0, 1, 0],
        [1.00, 0, 0, 1, 0.5, 1, 0, 0, 0, 0],
    ]


def test_label_by_hand():
    encoding = label(CODEC)
    flags = ("job is missing", "income is missing")
    assert encoding.names == ("age", "job", "income", "school", *flags)
    assert encoding(CODEC.encode(FRAME)).tolist() == [
        [0.00, 1, 0.0, 2, 0, 0],
        [0.25, 0, 0.0, 0, 0, 1],
        [0.50, 0, 1.0, 1, 1, 0],
        [1.00, 2, 0.5, 0, 0, 0],
    ]


@given(st.lists(st.tuples(*[st.floats(-1, 2), st.integers(-1, 2)] * 2), min_size=1, max_size=9))
def test_one_hot_equals_a_slow_reference(drawn):
    cells = [[a, b, math.nan if d == -1 else c, max(d, 0)] for a, b, c, d in drawn]
    expected = []
    for age, job, income, school in cells:
        gone = math.isnan(income)
        jobs = [float(job == code) for code in range(3)]
        schools = [float(school == code) for code in range(3)]
        row = [age, *jobs, 0.0 if gone else income, *schools, float(job == -1), float(gone)]
        expected.append(row)
    got = one_hot(CODEC)(np.array(cells), np.float64)
    assert got.tolist() == expected


def test_rows_are_only_read_in_any_memory_order():
    rows = CODEC.encode(FRAME)
    kept = rows.copy()
    first = one_hot(CODEC)(rows)
    assert np.array_equal(first, one_hot(CODEC)(np.ascontiguousarray(rows)))
    assert np.array_equal(rows, kept, equal_nan=True)


@pytest.mark.parametrize(("position", "value"), [(0, math.nan), (3, -1.0)])
def test_a_cell_that_was_never_missing_in_training_is_refused(position, value):
    rows = CODEC.encode(FRAME)
    rows[2, position] = value
    message = f"'{SCHEMA.names[position]}' is missing in row 2, and it was never missing"
    for encoding in (one_hot(CODEC), label(CODEC)):
        with pytest.raises(ModelError, match=message):
            encoding(rows)


def test_a_function_of_the_frame_encodes_too():
    encode = as_encoding(lambda frame: frame[["age", "income"]].to_numpy(), CODEC)
    inputs = encode(CODEC.encode(FRAME))
    assert inputs.dtype == np.float32
    assert inputs[0].tolist() == [20.0, 10.0]
    flags = as_encoding(lambda frame: (frame[["age"]] > 30).to_numpy(), CODEC)
    assert flags(CODEC.encode(FRAME)).tolist() == [[0.0], [0.0], [1.0], [1.0]]
    codes = as_encoding(lambda frame: torch.tensor(frame["age"].to_numpy()), CODEC)
    assert codes(CODEC.encode(FRAME)).dtype == np.int64


def test_a_function_that_fails_or_loses_rows_is_named():
    rows = CODEC.encode(FRAME)
    with pytest.raises(ModelError, match="encoding function failed on 4 rows: KeyError: 'x'"):
        as_encoding(lambda frame: frame["x"], CODEC)(rows)
    with pytest.raises(ModelError, match="gave 1 rows for 4"):
        as_encoding(lambda frame: torch.zeros(1, 3), CODEC)(rows)
    with pytest.raises(ModelError, match="unknown encoding 'onehot'; expected 'one_hot', 'label'"):
        as_encoding("onehot", CODEC)
