"""Decoding an encoded frame is the identity, for frames that nobody thought of."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from proce.schema import Codec, Continuous, Layout, Schema

TINIEST = 1e-270  # numbers that differ by less than 1e-290 are refused
floats = st.floats(-1e9, 1e9).map(lambda number: 0.0 if abs(number) < TINIEST else number)
columns = st.one_of(
    st.lists(floats, min_size=2, max_size=12),
    st.lists(st.integers(-(2**40), 2**40), min_size=2, max_size=12),
    st.lists(st.integers(-999, 999).map(lambda k: k / 100), min_size=2, max_size=12),
    st.lists(st.none() | floats, min_size=2, max_size=12),
    st.lists(st.none() | st.text(max_size=4), min_size=2, max_size=12),
    st.lists(st.booleans(), min_size=2, max_size=12),
)


@st.composite
def frames(draw):
    drawn = draw(st.lists(columns, min_size=1, max_size=4))
    length = min(len(column) for column in drawn)
    named = {f"c{k}": pd.Series(column[:length]) for k, column in enumerate(drawn)}
    frame = pd.DataFrame(named)
    frame = frame.astype({n: float for n in frame if frame[n].isna().all()})
    for name in draw(st.sets(st.sampled_from(list(frame.columns)))):
        if isinstance(frame[name].dtype, pd.StringDtype):
            frame[name] = frame[name].astype("category")
    assume(all(frame[name].dropna().nunique() > 1 for name in frame))
    frame.index = draw(st.permutations(range(length)))
    return frame


def gives_back(frame) -> None:
    codec = Codec.fit(Schema.infer(frame), frame)
    back = codec.decode(codec.encode(frame), Layout.of(frame))
    assert back.index.equals(frame.index)
    for name in frame:
        assert back[name].dtype == frame[name].dtype
        feature = codec.schema[name]
        if isinstance(feature, Continuous) and feature.step is None:
            span = float(np.ptp(frame[name].dropna()))
            gap = np.nanmax(np.abs(back[name] - frame[name]))
            assert gap <= 1e-12 * max(span, np.abs(frame[name]).max() * 1e-3)
        else:
            pd.testing.assert_series_equal(back[name], frame[name], check_exact=True)


@given(frames())
def test_a_random_frame_comes_back(frame):
    gives_back(frame)


@pytest.mark.slow
@settings(max_examples=5_000)
@given(frames())
def test_many_random_frames_come_back(frame):
    gives_back(frame)


@given(frames())
def test_a_random_polars_frame_comes_back(frame):
    other = pl.from_pandas(frame.reset_index(drop=True))
    codec = Codec.fit(Schema.infer(other), other)
    back = codec.decode(codec.encode(other), Layout.of(other))
    assert back.schema == other.schema
    assert back.null_count().equals(other.null_count())


@given(st.integers(1, 10**6), st.lists(st.integers(-500, 500), min_size=2))
def test_stepped_values_come_back_exactly(ten_thousandths, counts):
    assume(len(set(counts)) > 1)
    values = [float(Decimal(ten_thousandths * count).scaleb(-4)) for count in counts]
    frame = pd.DataFrame({"x": values})
    codec = Codec.fit(Schema([Continuous("x", step=ten_thousandths / 10**4)]), frame)
    assert codec.decode(codec.encode(frame))["x"].tolist() == values
