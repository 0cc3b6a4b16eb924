"""Least squares from sums over rows."""

import pytest
import torch

from proce.causal.equations.moments import Moments, least_squares, weights_of


def drawn(n=60, m=4, seed=0):
    generator = torch.Generator().manual_seed(seed)
    columns = torch.rand(n, m, generator=generator, dtype=torch.float64)
    return columns, columns @ torch.arange(1.0, m + 1).double() + columns[:, 0].square()


def reference(columns, target):
    """Least squares by singular values, the constant first."""
    ones = torch.ones(len(columns), 1, dtype=torch.float64)
    return torch.linalg.lstsq(torch.cat([ones, columns], dim=1), target, driver="gelsd").solution


def test_a_line_by_hand():
    columns, target = torch.tensor([[0.0], [1], [2]]), torch.tensor([1.0, 3, 5])
    assert least_squares(Moments.of(columns, target)).tolist() == pytest.approx([1, 2], abs=1e-6)


def test_weights_are_those_of_least_squares():
    columns, target = drawn()
    weights = least_squares(Moments.of(columns, target))
    torch.testing.assert_close(weights, reference(columns, target), rtol=1e-5, atol=1e-6)


def test_rows_that_are_taken_out_again_leave_nothing_behind():
    columns, target = drawn()
    whole, part = Moments.of(columns, target), slice(10, 25)
    left = whole - Moments.of(columns[part], target[part], middle=whole.middle)
    kept = torch.cat([torch.arange(10), torch.arange(25, 60)])
    expected = reference(columns[kept], target[kept])
    torch.testing.assert_close(least_squares(left), expected, rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(left.means[:-1], columns[kept].mean(0))


def test_columns_that_are_not_kept_weigh_nothing():
    columns, target = drawn()
    weights = weights_of(Moments.of(columns, target), torch.tensor([1, 3]))
    expected = reference(columns[:, [1, 3]], target)
    assert weights[[1, 3]].tolist() == [0, 0]
    torch.testing.assert_close(weights[[0, 2, 4]], expected, rtol=1e-5, atol=1e-6)


def test_rows_that_occur_more_often_are_summed_as_often():
    columns, target = drawn()
    counts = torch.arange(60) % 3
    repeated = torch.arange(60).repeat_interleave(counts)
    told = Moments.of(columns, target, counts.double())
    expected = Moments.of(columns[repeated], target[repeated])
    assert told.n_rows == expected.n_rows == 60
    torch.testing.assert_close(told.centred, expected.centred)
    torch.testing.assert_close(told.means, expected.means)
