"""Small kernels of the search give what a few lines of NumPy give."""

import math

import numpy as np
import pytest

from proce.arrays import Array
from proce.search.convergence import front_values, tchebycheff_weights
from proce.search.nsga2 import Archive, Evaluation, evaluate
from proce.search.survival import Candidates


def drawn(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).random(shape)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_values_of_fronts(k):
    then, now = drawn(6, 9, k), drawn(6, 12, k, seed=1) * 0.9
    then[1], now[2], now[:, 4:7] = math.inf, math.inf, math.inf
    both = np.concatenate([then, now], axis=1)
    ideal = both.min(1, keepdims=True)
    span = np.where(np.isfinite(both), both, -math.inf).max(1, keepdims=True) - ideal
    for found, front in zip(front_values(then, now), (then, now), strict=True):
        is_in = np.isfinite(front).all(-1)
        gaps = np.where(is_in[..., None], (front - ideal) / span, 0.0)
        worst = (gaps[:, :, None] * tchebycheff_weights(k)).max(-1)
        best = np.where(is_in[..., None], worst, math.inf).min(1)
        assert found == pytest.approx(best.mean(-1))


def test_a_front_may_be_twice_as_wide_as_the_largest_number():
    front = np.array([[[-1.7, 1.0], [0.3, 0.5], [1.7, 0.0]]])
    wide = front * 2.0**1023
    assert np.array_equal(front_values(wide[:, :2], wide), front_values(front[:, :2], front))


def test_the_best_that_was_ever_found():
    losses = (drawn(8, 20, 3) * 4).round()  # with ties, of which the first counts
    violation = np.maximum(drawn(8, 20, seed=1) - 0.5, 0)
    violation[3] = 1.0
    candidates = Candidates(drawn(8, 20, 5, seed=2), losses, violation)
    before = Archive(drawn(8, 5, seed=3), (drawn(8, 3, seed=4) * 4).round(), by=2)
    before.losses[:4] = math.inf
    found = before.with_better(candidates)
    for i in range(8):
        by = np.where(violation[i] <= 0, losses[i, :, 2], math.inf)
        c = int(by.argmin())
        is_better = by[c] < before.losses[i, 2]
        genes = candidates.genes[i, c] if is_better else before.genes[i]
        assert np.array_equal(found.genes[i], genes)
        best = losses[i, c] if is_better else before.losses[i]
        assert np.array_equal(found.losses[i], best)
    assert np.isinf(found.losses[3]).all()


@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_is_put_behind_all_others(odd):
    given = Evaluation(drawn(2, 4, 3), drawn(2, 4, seed=1))
    genes = drawn(2, 4, 1)
    sound = evaluate(lambda *_: given, genes, np.arange(2), 1)
    assert np.array_equal(sound.losses, given.losses)
    assert np.array_equal(sound.violation, given.violation)
    given.losses[0, 1, 2], given.violation[1, 3] = odd, odd
    cleaned = evaluate(lambda *_: given, genes, np.arange(2), 1)
    assert np.argwhere(np.isinf(cleaned.violation)).tolist() == [[0, 1], [1, 3]]
    assert np.isinf(cleaned.losses[0, 1]).all()
    assert np.isinf(cleaned.losses[1, 3]).all()
    assert np.isfinite(cleaned.losses).sum() == 2 * 4 * 3 - 2 * 3
