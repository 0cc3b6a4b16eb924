"""Least squares from sums over rows."""

import numpy as np
import pytest

from proce.causal.moments import Moments, least_squares, predicted, weights_of


def drawn(n=60, m=4, seed=0):
    generator = np.random.default_rng(seed)
    columns = generator.random((n, m))
    return columns, columns @ np.arange(1.0, m + 1) + columns[:, 0] ** 2


def reference(columns, target):
    """Least squares by singular values, the constant first."""
    return np.linalg.lstsq(np.column_stack([np.ones(len(columns)), columns]), target)[0]


def test_a_line_by_hand():
    columns, target = np.array([[0.0], [1], [2]]), np.array([1.0, 3, 5])
    weights = least_squares(Moments.of(columns, target, np.ones(len(target))))
    assert weights.tolist() == pytest.approx([1, 2], abs=1e-6)
    assert predicted(weights, np.array([[4.0]])).tolist() == pytest.approx([9], abs=1e-6)


def test_weights_are_those_of_least_squares():
    columns, target = drawn()
    weights = least_squares(Moments.of(columns, target, np.ones(len(target))))
    np.testing.assert_allclose(weights, reference(columns, target), rtol=1e-5, atol=1e-6)


def test_rows_that_are_taken_out_again_leave_nothing_behind():
    columns, target = drawn()
    whole, part = Moments.of(columns, target, np.ones(len(target))), slice(10, 25)
    left = whole - Moments.of(columns[part], target[part], np.ones(15), whole.middle)
    kept = np.concatenate([np.arange(10), np.arange(25, 60)])
    expected = reference(columns[kept], target[kept])
    np.testing.assert_allclose(least_squares(left), expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(left.means[:-1], columns[kept].mean(0))


def test_columns_that_are_not_kept_weigh_nothing():
    columns, target = drawn()
    weights = weights_of(Moments.of(columns, target, np.ones(len(target))), np.array([1, 3]))
    expected = reference(columns[:, [1, 3]], target)
    assert weights[[1, 3]].tolist() == [0, 0]
    np.testing.assert_allclose(weights[[0, 2, 4]], expected, rtol=1e-5, atol=1e-6)


def test_rows_that_occur_more_often_are_summed_as_often():
    columns, target = drawn()
    counts = np.arange(60) % 3
    repeated = np.arange(60).repeat(counts)
    told = Moments.of(columns, target, counts.astype(np.float64))
    expected = Moments.of(columns[repeated], target[repeated], np.ones(len(repeated)))
    assert told.n_rows == expected.n_rows == 60
    np.testing.assert_allclose(told.centred, expected.centred, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(told.means, expected.means)
