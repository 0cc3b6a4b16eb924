"""The scale of numbers: outliers do not move it, and what is told is round."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proce.errors import SchemaError
from proce.schema import Categorical, Codec, Continuous, Ordinal, Schema
from proce.schema.scale import bulk, round_step


def codec_of(values, scale="bulk", **options):
    """Return the codec of one number."""
    feature = Continuous("x", **options)
    return Codec.fit(Schema([feature]), pd.DataFrame({"x": values}), scale)


def test_the_bulk_is_the_central_99_percent():
    assert bulk(np.arange(1001.0)) == pytest.approx((5.0, 995.0))


def test_where_most_values_are_the_same_the_others_say_how_wide_the_bulk_is():
    others = np.arange(1.0, 202.0)  # 0.5% and 99.5% of 201 values: 2 and 200
    assert bulk(np.concatenate([np.zeros(1000), others])) == pytest.approx((0.0, 200.0))
    assert bulk(np.concatenate([np.full(1000, 500.0), others])) == pytest.approx((2.0, 500.0))


@pytest.mark.parametrize("n", [5, 50, 5000])
def test_a_column_of_one_outlier_and_a_constant_has_both_as_its_bulk(n):
    assert bulk(np.array([0.0] * n + [1e9])) == (0.0, 1e9)
    assert bulk(np.array([7.0] * n + [-3.0])) == (-3.0, 7.0)


def test_an_absurd_value_is_set_aside_in_few_rows_too():
    assert bulk(np.append(np.arange(100.0), 1e9)) == pytest.approx(bulk(np.arange(100.0)))


@pytest.mark.parametrize(
    ("span", "size", "step"),
    [
        (1.0, 1.0, 1e-3),
        (0.99, 1.0, 1e-4),
        (75_000.0, 80_000.0, 10.0),
        (1e15, 1e15, 1e12),
        (1e-12, 1e-12, 1e-15),
        (10.0, 1e15, 0.0),  # doubles of this size are an eighth apart
    ],
)
def test_numbers_are_told_to_a_power_of_ten_of_about_a_thousandth_of_the_bulk(span, size, step):
    assert round_step(span, size) == step


def test_the_step_of_the_schema_is_the_resolution():
    values = np.linspace(0, 1000, 500)
    assert codec_of(values, step=25).resolution.tolist() == [25.0]
    assert codec_of(values).resolution.tolist() == [0.1]
    assert codec_of(values, "range").resolution.tolist() == [0.0]
    assert codec_of(values, "range", step=25).resolution.tolist() == [25.0]


def test_the_ends_that_were_seen_are_kept_beside_the_scale():
    values = np.append(np.linspace(0, 1, 3996), [3220.0, 5000.0, 61106.0, 329664.0])
    codec = codec_of(values)
    assert codec.low.item() == pytest.approx(0.005)
    assert codec.span.item() == pytest.approx(0.99)
    assert (codec.seen_low.item(), codec.seen_high.item()) == (0.0, 329664.0)
    assert codec.highest.item() == pytest.approx((329664 - 0.005) / 0.99)
    assert codec.lowest.item() == pytest.approx(-0.005 / 0.99)


def test_the_codec_by_range_is_the_one_that_is_fitted_on_the_range():
    frame = pd.DataFrame(
        {
            "x": np.append(np.linspace(0, 1, 400), 1e6),
            "same": 3.0,
            "level": ["a", "b"] * 200 + ["a"],
            "rank": [0, 1, 2, 1] * 100 + [0],
        }
    )
    schema = Schema(
        [
            Continuous("x"),
            Continuous("same", action="fixed"),
            Categorical("level", ("a", "b")),
            Ordinal("rank", (0, 1, 2)),
        ]
    )
    robust, plain = Codec.fit(schema, frame, "bulk"), Codec.fit(schema, frame)
    assert plain.by_range is plain
    assert np.array_equal(robust.by_range.encode(frame), plain.encode(frame))
    mapped = robust.on_range(robust.encode(frame))
    np.testing.assert_allclose(mapped, plain.encode(frame), rtol=1e-12, atol=1e-12)
    assert plain.highest.tolist() == [1.0, 0.0, 1.0, 2.0]


def test_values_on_the_grid_come_back_as_the_decimal_that_is_shown():
    codec = codec_of(np.append(np.random.default_rng(0).random(3996), [3220.0] * 4))
    told = np.arange(0, 1000, dtype=np.float64) / 1000
    raw = codec.to_raw(codec.to_unit(told[:, None]))[:, 0]
    assert raw.tolist() == [number / 1000 for number in range(1000)]


@given(
    st.integers(0, 10**6),
    st.sampled_from(["normal", "exponential", "lognormal", "pareto", "cash"]),
    st.sampled_from([1000, 4000, 20_000]),
)
@settings(max_examples=60, deadline=None)
def test_outliers_hardly_change_the_distances_of_everybody_else(seed, kind, n):
    rng = np.random.default_rng(seed)
    values = {
        "normal": lambda: rng.normal(50, 10, n),
        "exponential": lambda: rng.exponential(1000, n),
        "lognormal": lambda: rng.lognormal(10, 1, n),
        "pareto": lambda: rng.pareto(2, n) + 1,
        "cash": lambda: np.where(rng.random(n) < 0.8, 0.0, rng.exponential(1000, n)),
    }[kind]()
    damaged = values.copy()
    damaged[rng.choice(n, n // 1000, replace=False)] *= 1e6
    before, after = codec_of(values), codec_of(damaged)
    assert after.span.item() == pytest.approx(before.span.item(), rel=0.02)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1.7e308, -1.7e308, 0.0], "too far apart for double numbers"),
        ([0.0, 5e-324, 1e-323], "too close for double numbers"),
        ([np.nan, np.nan], "missing in all rows; drop it or fill it"),
        ([2.0, 2.0, np.nan], "is 2.0 in all 3 rows, so nothing can be learned"),
    ],
)
@pytest.mark.parametrize("scale", ["bulk", "range"])
def test_a_column_without_a_scale_is_refused(values, scale, message):
    with pytest.raises(SchemaError, match=message):
        codec_of(values, scale)


@pytest.mark.parametrize(
    ("options", "size", "message"),
    [
        ({"step": 5e-324}, 1.0, "a step of 4.94066e-324 is too small beside the values"),
        ({"step": 1.7976931348623157e-300}, 1e-9, "a step of 1.79769e-300 is too small"),
        ({"step": 1e-300}, 1e150, "a step of 1e-300 is too small"),
        ({"step": 1e300}, 1e-150, "a step of 1e\\+300 is too large"),
        ({"range": (-1e308, 1e308)}, 1.0, r"the permitted range \(-1e\+308, 1e\+308\) is too wide"),
        (
            {"range": (-1e308, 1e308), "step": 10},
            1.0,
            "the permitted range .* steps of 10",
        ),
    ],
)
def test_what_doubles_cannot_count_is_refused_by_name(options, size, message):
    frame = pd.DataFrame({"v": np.array([0.0, 1.0, 7.0, 93.0]) * size})
    with pytest.raises(SchemaError, match=f"feature 'v': {message}"):
        Codec.fit(Schema([Continuous("v", **options)]), frame)


@pytest.mark.parametrize("options", [{"step": 1e-300}, {"step": 1, "range": (0, 1e308)}])
def test_what_doubles_can_count_is_taken(options):
    frame = pd.DataFrame({"v": [0.0, 1.0, 7.0, 93.0]})
    codec = Codec.fit(Schema([Continuous("v", **options)]), frame)
    assert codec.decode(codec.encode(frame))["v"].tolist() == pytest.approx([0.0, 1.0, 7.0, 93.0])


def test_another_scale_is_refused():
    with pytest.raises(SchemaError, match="expected 'bulk' or 'range'"):
        codec_of([1.0, 2.0], "median")


def test_a_column_in_two_units_is_scaled_by_those_in_the_middle() -> None:
    ratio = np.concatenate([np.linspace(0, 1, 800), np.linspace(500, 10_000, 200)])
    low, high = bulk(ratio)
    first, last = np.quantile(ratio, [0.25, 0.75])
    assert low == np.quantile(ratio, 0.005)
    assert high == last + 30 * (last - first)  # about 20, and not 10,000
