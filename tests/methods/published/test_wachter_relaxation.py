"""Rows as points: weights of levels stay weights, bounds hold, and rounding gives rows back."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from proce.arrays import Floats
from proce.classifier import InputEncoding, label, one_hot
from proce.methods.published.wachter import (
    FeasibleSet,
    RelaxedEncoding,
    project_onto_simplex,
)
from proce.objective import CallLimits, GeneMap, genome_of
from proce.schema import Action, Categorical, Codec, Continuous, Ordinal, Schema

FRAME = pd.DataFrame(
    {
        "pay": [0.0, 10.0, 5.0, None],
        "school": ["none", "basic", "high", "basic"],
        "job": ["clerk", "nurse", None, "clerk"],
    }
)
SCHEMA = Schema(
    [
        Continuous("pay", (0, 20)),
        Ordinal("school", ("none", "basic", "high"), action=Action.INCREASE),
        Categorical("job", ("clerk", "nurse")),
    ]
)
CODEC = Codec.fit(SCHEMA, FRAME)


def feasible_set(encoding: InputEncoding) -> FeasibleSet:
    rows = CODEC.encode(FRAME)
    limits = CallLimits.read(CODEC).of_rows(CODEC, rows)
    genome = genome_of(CODEC, rows, limits, GeneMap(len(SCHEMA)))
    return RelaxedEncoding.of(encoding, SCHEMA).feasible_set(genome)


def test_weights_by_hand() -> None:
    nothing = -np.inf
    values = np.array([[0.5, 0.5, 0.5], [2.0, 0.0, 0.0], [0.8, 0.4, nothing], [0.1, -3, 0.3]])
    third = 1 / 3
    expected = [[third] * 3, [1, 0, 0], [0.7, 0.3, 0], [0.4, 0, 0.6]]
    assert project_onto_simplex(values) == pytest.approx(np.array(expected))


@given(point=arrays.arrays(float, (5,), elements=st.floats(-5, 5)))
def test_weights_are_the_nearest_ones(point: Floats) -> None:
    """No other weights are nearer: the gap makes no sharp angle with the way to any corner."""
    weights = project_onto_simplex(point)
    assert bool((weights >= 0).all())
    assert float(weights.sum()) == pytest.approx(1)
    for corner in np.eye(5):
        assert float((point - weights) @ (corner - weights)) <= 1e-9


def test_a_point_stands_where_its_row_is_encoded() -> None:
    feasible = feasible_set(one_hot(CODEC))
    assert feasible.start[0].tolist() == [0, 1, 0, 0, 1, 0, 0, 0]  # pay, school, job, two flags
    assert feasible.upper[0].tolist()[:6] == [2, 1, 1, 1, 1, 1]
    assert feasible.upper[1].tolist()[1:4] == [0, 1, 1]  # school does not fall
    assert feasible.movable[0].tolist() == [True] * 6 + [False] * 2
    assert feasible.movable[3].tolist() == [False] + [True] * 5 + [False] * 2  # pay is missing


@pytest.mark.parametrize("kind", [one_hot, label])
def test_a_point_that_did_not_move_is_its_row(kind: object) -> None:
    feasible = feasible_set(kind(CODEC))  # type: ignore[operator]
    for points in (feasible.start, feasible.project(feasible.start)):
        rows = feasible.round_to_rows(points)
        assert np.array_equal(rows, CODEC.encode(FRAME), equal_nan=True)


def test_points_outside_come_back_inside() -> None:
    feasible = feasible_set(one_hot(CODEC))
    far = feasible.start + 3 * (np.arange(8) % 3 - 1)  # -3, 0, 3, …
    inside = feasible.project(far)
    assert bool(feasible.movable.any())
    assert bool((inside >= feasible.lower)[feasible.movable].all())
    assert bool((inside <= feasible.upper)[feasible.movable].all())
    assert np.array_equal(inside[~feasible.movable], feasible.start[~feasible.movable])
    weights = feasible.relaxed.weights_by_feature(inside, 0.0)
    assert weights[[0, 1, 3]].sum(-1) == pytest.approx(1)
    assert inside[1, 1] == 0


def test_rounding_takes_the_heaviest_level_and_permitted_values() -> None:
    feasible = feasible_set(one_hot(CODEC))
    points = feasible.start.copy()
    points[0] = np.array([0.5, 0.3, 0.3, 0.4, 0.45, 0.55, 0, 0])
    assert feasible.round_to_rows(points)[0].tolist() == [0.5, 2, 1]
    coded = feasible_set(label(CODEC))
    points = coded.start.copy()
    points[0] = np.array([0.5, 1.4, 0.8, 0, 0])
    assert coded.round_to_rows(points)[0].tolist() == [0.5, 1, 1]
    assert coded.relaxed.span.tolist() == [1, 2, 1, 1, 1]
