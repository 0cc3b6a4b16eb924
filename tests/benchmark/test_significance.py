"""Paired tests, checked by hand and against slow references."""

import itertools

import numpy as np
import pytest

from proce.benchmark.reporting.ranks import critical_difference
from proce.benchmark.reporting.summary import compare, holm


def test_a_comparison_by_hand() -> None:
    """Differences 1, 2, 3: mean 2, sd 1, t = 2 / (1 / sqrt 3) = 3.4641 on 2 degrees."""
    comparison = compare(np.array([2.0, 4.0, 6.0]), np.array([1.0, 2.0, 3.0]))
    assert comparison.n == 3
    assert comparison.difference == pytest.approx(2.0)
    assert comparison.effect == pytest.approx(2.0)
    # With two degrees of freedom the two-sided p of t is 1 - t / sqrt(2 + t^2).
    t = 2 * np.sqrt(3)
    assert comparison.t_p == pytest.approx(1 - t / np.sqrt(2 + t**2))


def test_wilcoxon_against_all_signs() -> None:
    """The rank sum of the positive differences, over every way that signs could have fallen."""
    gaps = np.array([1.1, -0.2, 0.9, 1.7, 0.4, 1.3, 2.2, -0.1, 0.8, 1.5])
    ranks = np.abs(gaps).argsort().argsort() + 1
    own = ranks[gaps > 0].sum()
    sums = [
        ranks[np.array(signs)].sum() for signs in itertools.product([True, False], repeat=len(gaps))
    ]
    centre = ranks.sum() / 2
    exact = np.mean([abs(total - centre) >= abs(own - centre) for total in sums])
    comparison = compare(gaps, np.zeros(10))
    assert comparison.wilcoxon_p == pytest.approx(exact, abs=0.01)


def test_identical_samples_have_no_p_value() -> None:
    comparison = compare(np.ones(5), np.ones(5))
    assert comparison.difference == 0
    assert (comparison.t_p, comparison.wilcoxon_p, comparison.effect) == (None, None, None)
    shifted = compare(np.ones(5) + 1, np.ones(5))
    assert shifted.difference == 1
    assert shifted.t_p is None


def test_a_pair_without_a_value_does_not_count() -> None:
    comparison = compare(np.array([1.0, np.nan, 3.0, 5.0]), np.array([0.0, 1.0, np.nan, 2.0]))
    assert comparison.n == 2
    assert comparison.difference == pytest.approx(2.0)
    assert compare(np.array([np.nan]), np.array([1.0])).n == 0


def test_holm_by_hand() -> None:
    """Sorted 0.01, 0.02, 0.04 times 3, 2, 1: 0.03, 0.04, 0.04; None stays out of the count."""
    assert holm([0.04, None, 0.01, 0.02]) == pytest.approx([0.04, None, 0.03, 0.04])
    assert holm([0.03, 0.02]) == pytest.approx([0.04, 0.04])
    assert holm([0.9, 0.8]) == pytest.approx([1.0, 1.0])
    assert holm([]) == []


def test_critical_difference_as_in_demsar() -> None:
    """Demsar 2006: four classifiers, fourteen data sets, alpha 0.05: CD = 2.569 * 0.488 = 1.25."""
    assert critical_difference(4, 14) == pytest.approx(1.25, abs=0.01)
