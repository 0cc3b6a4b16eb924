"""Do counterfactuals lie where people of the target class are?"""

import math

import numpy as np
import pandas as pd
import pytest

from proce.metrics import Neighbourhood
from proce.schema import Categorical, Codec, Continuous, MixedDistance, Schema

FRAME = pd.DataFrame({"x": [0.0, 1, 2, 2, 1]})  # 0, 1/2 and 1 on the unit range, two of them twice
CODEC = Codec.fit(Schema([Continuous("x")]), FRAME)
ONES = np.ones(5, dtype=np.int64)


def column(*values) -> np.ndarray:
    return np.array(values, dtype=np.float64)[:, None]


def around(predicted=ONES, n_classes=2) -> Neighbourhood:
    return Neighbourhood.fit(CODEC, CODEC.encode(FRAME), predicted, n_classes)


def test_the_nearest_row_of_the_target_is_that_by_gowers_distance():
    rows, target = column(0.6, 1.5, 0.0), np.ones(3, dtype=np.int64)
    assert around().nearest(rows, target).tolist() == pytest.approx([0.1, 0.5, 0])


def test_a_missing_number_is_no_farther_from_one_far_outside_than_anywhere():
    frame = pd.DataFrame({"a": [0.0, 1.0], "b": ["x", "y"]})
    codec = Codec.fit(Schema([Continuous("a"), Categorical("b", ("x", "y"))]), frame)
    member, row = np.array([[math.nan, 0.0]]), np.array([[2.0, 0.0]])
    one = np.ones(1, dtype=np.int64)
    nearest = Neighbourhood.fit(codec, member, one, 2).nearest(row, one)
    assert nearest.tolist() == MixedDistance.gower(codec).mean(row, member).tolist() == [0.5]


def test_the_outlier_factor_of_a_missing_number_does_not_grow_with_how_far_out_others_are():
    """Two members 1/10 apart have the density 10, and a row 1/2 from the nearer one has 2."""
    frame = pd.DataFrame({"a": [0.0, 1.0], "b": [0.0, 1.0]})
    codec = Codec.fit(Schema([Continuous("a"), Continuous("b")]), frame)
    members, one = np.array([[2.0, 0.0], [2.0, 0.2]]), np.ones(1, dtype=np.int64)
    pair = Neighbourhood.fit(codec, members, np.ones(2, dtype=np.int64), 2)
    assert pair.outlier_factor(np.array([[math.nan, 0.0]]), one).item() == pytest.approx(5)


def test_only_rows_that_the_model_puts_in_the_target_count():
    predicted = np.array([1, 0, 0, 0, 0])
    both = around(predicted).nearest(column(0.9, 0.9), np.array([1, 0]))
    assert both.tolist() == pytest.approx([0.9, 0.1])


def test_the_outlier_factor_of_a_row_outside_worked_out_by_hand():
    # Two neighbours each. Reaches: of 0, max(1/2, 1/2) and max(1, 1); of 1/2, 1 and 1; of 1 as of
    # 0. Densities 4/3, 1, 4/3. The row at 3/2 has reaches max(1, 1/2) and max(1/2, 1): density 1.
    factor = around().outlier_factor(column(1.5), np.ones(1, dtype=np.int64))
    assert factor.item() == pytest.approx((4 / 3 + 1) / 2 / 1)


def test_the_outlier_factor_agrees_with_its_definition():
    draw = np.random.default_rng(0)
    members, rows = draw.random((60, 1)), 2 * draw.random((9, 1))
    neighbourhood = Neighbourhood.fit(CODEC, members, np.ones(60, dtype=np.int64), 2)
    factors = neighbourhood.outlier_factor(rows, np.ones(9, dtype=np.int64))
    points = members.flatten().tolist()

    def neighbours(x, others):
        return sorted((abs(x - other), other) for other in others)[:20]

    def others_of(x):
        return [point for point in points if point != x]

    def density(x, others):
        reaches = [max(neighbours(o, others_of(o))[-1][0], d) for d, o in neighbours(x, others)]
        return len(reaches) / sum(reaches)

    for x, factor in zip(rows.flatten().tolist(), factors.tolist(), strict=True):
        near = [density(o, others_of(o)) for _, o in neighbours(x, points)]
        assert factor == pytest.approx(sum(near) / 20 / density(x, points), rel=1e-6)


def test_people_with_the_same_values_do_not_make_a_place_infinitely_dense():
    many = np.concatenate([CODEC.encode(FRAME)] * 50)
    crowd = Neighbourhood.fit(CODEC, many, np.ones(250, dtype=np.int64), 2)
    one, two = np.ones(1, dtype=np.int64), column(1.5)
    assert crowd.outlier_factor(two, one).item() == around().outlier_factor(two, one).item()


def test_more_rows_than_the_limit_are_drawn_by_seed():
    rows = np.random.default_rng(0).random((200, 1))
    ones = np.ones(200, dtype=np.int64)
    query = column(0.2, 1.3), np.ones(2, dtype=np.int64)
    first, again, other = (
        Neighbourhood.fit(CODEC, rows, ones, 2, seed=seed, max_rows=30).outlier_factor(*query)
        for seed in (0, 0, 1)
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_a_class_without_rows_has_no_neighbourhood():
    nobody = np.zeros(1, dtype=np.int64)
    assert math.isnan(around().nearest(column(0.5), nobody).item())
    assert math.isnan(around().outlier_factor(column(0.5), nobody).item())
