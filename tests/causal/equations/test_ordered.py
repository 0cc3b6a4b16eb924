"""Ordered levels learned from rows."""

from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import norm

from proce.causal.equations.learning import Folds, held_out
from proce.causal.equations.levels import OrderedRows, _Point, fit_ordered
from proce.causal.equations.mechanism import Ordered
from proce.causal.equations.terms import Terms, columns_of
from proce.schema import Categorical, Continuous

from . import slow_mechanisms

NUMBER = Terms((Continuous("a"),))


def drawn(n=600, seed=0, noise=1.0):
    draw = np.random.default_rng(seed)
    a = draw.uniform(0, 1, n)
    latent = 4 * a - 1.5 + noise * draw.normal(size=n)
    return {"a": a}, np.digitize(latent, [-1, 0, 1.2]) * 1.0


def fit(terms, parents, ranks, n_levels):
    counts = np.ones(len(ranks), dtype=np.float64)
    rows = OrderedRows(columns_of(terms, parents), ranks, counts, n_levels)
    return fit_ordered(terms, rows, counts)


def test_shares_of_two_groups_by_hand():
    """Of the one 1,000, half are high; of the other 1,000, 84%: one standard deviation apart."""
    terms = Terms((Categorical("group", ("x", "y")),))
    group = np.arange(2).repeat(1000).astype(np.float64)
    ranks = np.concatenate([np.arange(1000) >= 500, np.arange(1000) >= 159]).astype(np.float64)
    fitted = fit(terms, {"group": group}, ranks, 2)
    _, of_x, of_y = fitted.score.weights.tolist()
    assert of_y - of_x == pytest.approx(norm.ppf(0.841), abs=1e-3)
    assert fitted.thresholds.item() - of_x == pytest.approx(0, abs=1e-3)


def test_slopes_and_thresholds_are_those_of_a_plain_search():
    parents, ranks = drawn()
    fitted = fit(NUMBER, parents, ranks, 4)
    a, codes = parents["a"], ranks.astype(np.int64)

    def loss(parameters):
        edges = np.concatenate([[-np.inf], np.cumsum([parameters[1], *np.exp(parameters[2:])])])
        edges = np.append(edges, np.inf)
        score = parameters[0] * a
        chance = norm.cdf(edges[codes + 1] - score) - norm.cdf(edges[codes] - score)
        return -np.log(chance.clip(1e-300)).sum() + 0.005 * parameters[0] ** 2

    found = minimize(loss, [0.0, -1, 0, 0], method="BFGS", options={"gtol": 1e-6}).x
    expected = np.cumsum([found[1], *np.exp(found[2:])])
    assert fitted.score.weights[1].item() == pytest.approx(found[0], rel=1e-3)
    np.testing.assert_allclose(fitted.thresholds, expected, rtol=1e-3)


def test_chances_of_unseen_rows_are_those_of_a_fit_on_the_others():
    parents, ranks = drawn()
    folds = Folds(np.eye(5)[np.arange(600) % 5].T)
    rows = OrderedRows(columns_of(NUMBER, parents), ranks, np.ones(600, dtype=np.float64), 4)
    effect = SimpleNamespace(parents=parents, counts=rows.counts)
    chances = held_out(partial(fit_ordered, NUMBER, rows), effect, folds)
    assert chances.sum(-1).tolist() == pytest.approx([1] * 600)
    for unseen, told in zip(folds.unseen, np.split(chances, 5), strict=True):
        seen = np.ones(600, dtype=np.bool_)
        seen[unseen] = False
        fitted = fit(NUMBER, {"a": parents["a"][seen]}, ranks[seen], 4)
        for level in range(4):
            of_level = np.full(120, float(level))
            expected = fitted.chance({"a": parents["a"][unseen]}, of_level)
            np.testing.assert_allclose(told[:, level], expected, rtol=0, atol=5e-4)


def test_a_level_that_never_occurs_is_next_to_never_chosen_but_can_be_had():
    parents, ranks = drawn()
    of_rank = np.array([1.0, 2, 4, 6])  # of 8 levels; 0, 3, 5 and 7 are unseen
    spread = of_rank[ranks.astype(np.int64)]
    fitted = fit(NUMBER, parents, spread, 8)
    assert bool((np.diff(fitted.thresholds) > 0).all())
    for level in (0, 3, 5, 7):
        of_level = np.full_like(spread, level)
        assert float(fitted.chance(parents, of_level).max()) < 1e-3
        noise = fitted.abduct(parents, of_level, np.full((len(spread), 1), 0.5))
        assert np.array_equal(fitted.respond(parents, noise), of_level)


def test_levels_that_follow_exactly_give_a_fit_that_is_finite_and_right():
    parents, ranks = drawn(noise=0.0)
    fitted = fit(NUMBER, parents, ranks, 4)
    assert bool(np.isfinite(fitted.score.weights).all())
    assert float(np.log(fitted.chance(parents, ranks)).mean()) > -0.2


def test_noise_that_explains_a_level_has_the_ends_that_it_has_in_the_search():
    ends, levels = np.array([-1.0, 0.5, 30.0]), np.array([0, 1, 2, 3, 3])
    columns, slopes = np.array([[0.0], [0.1], [0.2], [0.3], [60.0]]), np.ones(1)
    point = _Point.at(columns, levels, np.ones(5), slopes, ends)
    mechanism = Ordered(lambda parents: parents["a"], ends)
    expected = slow_mechanisms.ends(mechanism, columns[:, 0], levels)
    np.testing.assert_allclose([point.low, point.high], expected, rtol=1e-15)
    assert np.isfinite(point.objective)


def test_one_level_alone_is_kept():
    parents, _ = drawn(50)
    fitted = fit(NUMBER, parents, np.ones(50), 3)
    assert float(fitted.chance(parents, np.ones(50)).min()) > 0.999
