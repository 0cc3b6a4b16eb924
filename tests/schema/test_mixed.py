"""How far apart rows are without a model of the data, on examples worked out by hand."""

import math

import numpy as np
import pandas as pd
import pytest

from proce.schema import Categorical, Codec, Continuous, MixedDistance, Ordinal, Schema

SCHEMA = Schema(
    [
        Continuous("age"),
        Continuous("gain"),
        Ordinal("degree", ("none", "school", "college")),
        Categorical("city", ("north", "south")),
    ]
)
FRAME = pd.DataFrame(
    {
        "age": [0.0, 1.0, 2.0, 6.0, 10.0],
        "gain": [0.0, 0.0, 0.0, 0.0, 10.0],
        "degree": ["none", "none", "school", "college", "college"],
        "city": ["north", "south", "north", "south", "north"],
    }
)
CODEC = Codec.fit(SCHEMA, FRAME)
HERE = np.array([0.2, 0.0, 0.0, 0.0])
THERE = np.array([0.6, 0.5, 2.0, 1.0])


def test_gower_divides_numbers_and_ranks_by_their_range() -> None:
    assert MixedDistance.gower(CODEC)(HERE, THERE).tolist() == pytest.approx([0.4, 0.5, 1.0, 1.0])


def test_numbers_are_divided_by_their_median_deviation_and_ranks_are_levels() -> None:
    """Ages deviate from their median of 2 by 2, 1, 0, 4 and 8: 0.2 of the range in the middle.

    Four of five gains are 0: their mean deviation from it is a fifth of the range.
    """
    distance = MixedDistance.by_deviation(CODEC, CODEC.encode(FRAME))
    assert distance.is_level.tolist() == [False, False, True, True]
    assert distance(HERE, THERE).tolist() == pytest.approx([0.4 / 0.2, 0.5 / 0.2, 1.0, 1.0])


def test_a_feature_that_never_varies_or_is_always_missing_is_divided_by_1() -> None:
    rows = CODEC.encode(FRAME)
    rows[:, 0], rows[:, 1] = 0.3, math.nan
    assert MixedDistance.by_deviation(CODEC, rows).scale[:2].tolist() == [1.0, 1.0]


def test_a_cell_that_is_missing_in_one_row_is_at_distance_1_and_in_both_at_0() -> None:
    one = np.array([math.nan, math.nan, -1.0, -1.0])
    other = np.array([0.6, math.nan, 1.0, -1.0])
    for distance in (
        MixedDistance.gower(CODEC),
        MixedDistance.by_deviation(CODEC, CODEC.encode(FRAME)),
    ):
        assert distance(one, other).tolist() == [1.0, 0.0, 1.0, 0.0]
        assert distance(other, one).tolist() == [1.0, 0.0, 1.0, 0.0]


@pytest.mark.parametrize("rank", [0.0, 1.0, 2.0])
def test_a_missing_rank_is_as_far_from_the_first_as_from_the_last(rank: float) -> None:
    missing, known = HERE.copy(), HERE.copy()
    missing[2], known[2] = -1.0, rank
    assert MixedDistance.gower(CODEC)(missing, known).tolist() == [0.0, 0.0, 1.0, 0.0]


def test_neighbours_are_those_of_the_least_mean_and_the_first_of_equals() -> None:
    draw = np.random.default_rng(0)
    rows, others = (draw.random((n, 4)) * [3, 3, 1, 1] for n in (40, 300))
    for some in (rows, others):
        some[:, 2:] = draw.integers(-1, 3, (len(some), 2))  # -1 is a missing level
        some[draw.random(len(some)) < 0.2, 0] = math.nan
    gower = MixedDistance.gower(CODEC)
    apart = gower.mean(rows[:, None], others)
    near, distances = gower.neighbours(rows, others, 5)
    assert np.allclose(distances, np.sort(apart)[:, :5], rtol=1e-14, atol=0)
    assert np.allclose(np.take_along_axis(apart, near, -1), distances, rtol=1e-14, atol=0)
    twice, _ = gower.neighbours(rows, np.concatenate([others, others]), 1)
    assert twice.tolist() == near[:, :1].tolist()
    assert gower.neighbours(others[:3], others, 1)[0].tolist() == [[0], [1], [2]]
