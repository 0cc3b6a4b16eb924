"""Which terms of a regression are needed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proce.causal.equations.regression import needed_terms, sparse_least_squares
from proce.causal.moments import Moments


def test_one_term_by_hand():
    """The slope of the first column is (1.5·2.9 + 0.5·1.1 + 0.5·1.1 + 1.5·2.9) / 5 = 1.96."""
    columns = np.array([[0.0, 1], [1, 0], [2, 0], [3, 1]])
    target = np.array([0.1, 1.9, 4.1, 5.9])
    moments = Moments.of(columns, target, np.ones(len(target)))
    assert needed_terms(moments).tolist() == [0]
    weights = sparse_least_squares(moments)
    assert weights.tolist() == pytest.approx([3 - 1.5 * 1.96, 1.96, 0], abs=1e-5)


def slow_terms(columns, target):
    """Fit with and without every column, again and again."""
    n_rows, kept = len(target), list(range(columns.shape[1]))

    def error(positions):
        design = np.column_stack([np.ones(n_rows), columns[:, positions]])
        left = target - design @ np.linalg.lstsq(design, target, rcond=None)[0]
        return float(left @ left)

    while len(kept) > 1:
        without = {place: error([other for other in kept if other != place]) for place in kept}
        least = min(without, key=without.__getitem__)
        if n_rows * np.log(without[least] / error(kept)) > np.log(n_rows):
            break
        kept.remove(least)
    return kept


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 8))
def test_the_terms_are_those_of_the_slow_way(seed, size):
    draw = np.random.default_rng(seed)
    columns = draw.normal(size=(80, size)) @ draw.normal(size=(size, size))
    target = columns @ (draw.normal(size=size) * (draw.random(size) < 0.5)) + draw.normal(size=80)
    moments = Moments.of(columns, target, np.ones(len(target)))
    assert needed_terms(moments).tolist() == slow_terms(columns, target)


def test_levels_that_add_up_to_one_lose_a_column_and_no_accuracy():
    draw = np.random.default_rng(0)
    codes, number = draw.integers(0, 3, 500), draw.uniform(20, 21, 500)
    levels = np.eye(3)[codes]
    columns = np.column_stack([number, levels, number**2, levels * number[:, None]])
    target = 2 * codes + number + draw.normal(0, 0.1, 500)
    moments = Moments.of(columns, target, np.ones(len(target)))
    weights = sparse_least_squares(moments)
    assert (weights[1:] == 0).sum() >= 1
    left = target - weights[0] - columns @ weights[1:]
    assert left.std() == pytest.approx(0.1, rel=0.1)


def test_a_column_that_never_changes_is_not_needed():
    columns = np.array([[0.0, 7], [1, 7], [2, 7], [4, 7]])
    moments = Moments.of(columns, np.array([0.0, 1.1, 1.9, 4]), np.ones(4))
    assert needed_terms(moments).tolist() == [0]
