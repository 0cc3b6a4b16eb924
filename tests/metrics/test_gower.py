"""Gower's distance as the L1 distance of points."""

import math

import numpy as np
import pytest

from proce.metrics.gower import gower_points
from proce.schema import MixedDistance


def between(codec, one, other) -> float:
    points = gower_points(codec, np.stack([one, other]))
    return float(np.abs(points[0] - points[1]).sum())


def test_numbers_ranks_and_levels_count_the_same(world):
    one, other = world.row(2, 3, "a", "low"), world.row(6, 2, "b", "middle")
    assert between(world.codec, one, other) == pytest.approx((0.4 + 0.1 + 1 + 0.5) / 4)
    assert between(world.codec, one, one) == 0


def test_a_missing_cell_is_as_far_as_can_be_from_a_known_one(world):
    one, other = world.row(2, 3, "a", "low"), world.row(2, 3, "a", "low")
    one[[0, 2, 3]] = np.array([math.nan, -1, -1], dtype=np.float64)
    assert between(world.codec, one, other) == pytest.approx(3 / 4)
    assert between(world.codec, one, one) == 0


@pytest.mark.parametrize("number", [-0.5, 1.3, 1.5])
def test_a_missing_cell_is_as_far_from_a_number_outside_the_range(world, number):
    one, other = world.row(2, 3, "a", "low"), world.row(2, 3, "a", "low")
    one[0], other[0] = number, math.nan
    assert between(world.codec, one, other) == pytest.approx(1 / 4)
    assert MixedDistance.gower(world.codec).mean(one, other) == 1 / 4


def test_points_agree_with_the_distance_of_rows(world):
    one, other = np.random.default_rng(0).random((2, 50, 4))
    for rows in (one, other):
        rows[:, 2:] = np.floor(rows[:, 2:] * 4) - 1  # -1 is a missing level
        rows[:, :2] = 2 * rows[:, :2] - 0.5  # up to half a range outside
        rows[rows[:, 0] < -0.1, 0] = math.nan
    apart = np.abs(gower_points(world.codec, one) - gower_points(world.codec, other)).sum(-1)
    wanted = MixedDistance.gower(world.codec).mean(one, other)
    assert np.allclose(apart, wanted)


def test_opposite_ends_are_one_apart(world):
    apart = between(world.codec, world.row(0, 0, "a", "low"), world.row(10, 10, "b", "high"))
    assert apart == pytest.approx(1)
