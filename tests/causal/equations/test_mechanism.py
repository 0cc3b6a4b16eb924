"""The kinds of equations: what their noise means, by hand and in the long run."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import softmax

from proce.arrays import Array
from proce.causal import Additive, Choice, Multiplicative, Ordered, Ranked
from proce.causal.equations.mechanism import Mechanism
from proce.causal.equations.terms import Parents
from proce.compiled.streams import Purpose, RowStreams
from proce.errors import GraphError

from ..programs.random_models import random_model, random_rows
from . import slow_mechanisms as slow

NO_DRAWS = np.empty((1, 1))


def row_uniforms(seed, keys, width):
    return RowStreams.of(seed, keys).uniforms(0, Purpose.NOISE, width)


def double(*values: float) -> Array:
    return np.array(values, dtype=np.float64)


def plus_one(parents: Parents) -> Array:
    return parents["a"] + 1


def logits_of_three(parents: Parents) -> Array:
    a = parents["a"]
    return np.stack([np.zeros_like(a), a, 1 - a], axis=-1)


def test_additive_by_hand() -> None:
    mechanism = Additive(plus_one)
    noise = mechanism.abduct({"a": double(2)}, double(7), NO_DRAWS)
    assert noise.tolist() == [[4]]  # 7 - (2 + 1)
    assert mechanism.respond({"a": double(10)}, noise).tolist() == [15]


def test_additive_stays_between_its_limits() -> None:
    mechanism = Additive(plus_one, limits=(0, 8))
    noise = mechanism.abduct({"a": double(2)}, double(1), NO_DRAWS)
    assert mechanism.respond({"a": double(-9)}, noise).tolist() == [0]
    assert mechanism.respond({"a": double(99)}, noise).tolist() == [8]


def test_multiplicative_by_hand() -> None:
    mechanism = Multiplicative(plus_one)
    noise = mechanism.abduct({"a": double(1)}, double(6), NO_DRAWS)
    assert noise.item() == pytest.approx(math.log(3))  # 6 / (1 + 1)
    assert mechanism.respond({"a": double(4)}, noise).item() == pytest.approx(15)


def test_who_has_none_of_a_multiplicative_amount_keeps_none() -> None:
    mechanism = Multiplicative(plus_one)
    noise = mechanism.abduct({"a": double(1)}, double(0), NO_DRAWS)
    assert mechanism.respond({"a": double(100)}, noise).tolist() == [0]


def test_ranked_by_hand() -> None:
    mechanism = Ranked(lambda parents: 0.4 * parents["a"], n_levels=4)
    noise = mechanism.abduct({"a": double(1)}, double(1), NO_DRAWS)
    assert noise.item() == pytest.approx(0.6)  # 1 - 0.4
    a = double(1, 2, 2.5, 4, 100, -100)
    ranks = mechanism.respond({"a": a}, np.tile(noise, (6, 1)))
    assert ranks.tolist() == [1, 1, 2, 2, 3, 0]  # 1.0, 1.4, 1.6, 2.2 and both ends


def of_a(parents: Parents) -> Array:
    return parents["a"]


def test_ordered_by_hand() -> None:
    """Under a = 0 the shares of a normal number are 50% below 0, 34% to 1, and 16% above."""
    mechanism = Ordered(of_a, double(0, 1))
    zeros = {"a": double(0, 0, 0)}
    ranks = double(0, 1, 2)
    shares = mechanism.chance(zeros, ranks).tolist()
    assert shares == pytest.approx([0.5, 0.341345, 0.158655], abs=1e-6)
    assert mechanism.predict(zeros).tolist() == pytest.approx(
        [0.341345 + 2 * 0.158655] * 3, abs=1e-6
    )
    halves = np.full((3, 1), 0.5, dtype=np.float64)
    noise = mechanism.abduct(zeros, ranks, halves)
    assert noise[:, 0].tolist() == pytest.approx([-0.67449, 0.44177, 1.40961], abs=1e-4)
    assert mechanism.respond({"a": double(0.6, 0.6, 0.6)}, noise).tolist() == [0, 2, 2]
    assert mechanism.respond({"a": double(0.7, -0.5, -0.5)}, noise).tolist() == [1, 0, 1]


def test_the_median_of_the_noise_of_an_ordered_level_needs_no_draw() -> None:
    drawn, median = Ordered(of_a, double(0, 1)), Ordered(of_a, double(0, 1), noise="median")
    zeros, ranks = {"a": double(0, 0, 0)}, double(0, 1, 2)
    halves = np.full((3, 1), 0.5, dtype=np.float64)
    others = double(0.1, 0.2, 0.9)[:, None]
    expected = drawn.abduct(zeros, ranks, halves)
    assert np.array_equal(median.abduct(zeros, ranks, others), expected)
    assert not np.array_equal(drawn.abduct(zeros, ranks, others), expected)


def test_the_noise_of_a_level_that_hardly_ever_occurs_is_just_enough_for_it() -> None:
    """Noise beyond 12 has its median near 12 + log(2) / 12, since its tail falls by exp(-12 x)."""
    mechanism = Ordered(lambda p: p["a"], double(12.0), noise="median")
    for score, rank, sign in ((0.0, 1.0, 1), (24.0, 0.0, -1)):
        noise = mechanism.abduct({"a": double(score)}, double(rank), NO_DRAWS)
        assert sign * noise.item() == pytest.approx(12 + math.log(2) / 12, abs=1e-3)


@given(
    st.floats(1e-9, 1 - 1e-9),
    st.floats(-60, 60),
    st.integers(0, 3),
    st.sampled_from(["drawn", "median"]),
)
def test_an_ordered_level_repeats_itself_under_the_same_parents(
    uniform: float, a: float, level: int, noise: str
) -> None:
    mechanism = Ordered(of_a, double(-1, -0.999, 2), noise=noise)  # type: ignore[arg-type]
    found = mechanism.abduct({"a": double(a)}, double(level), double(uniform)[:, None])
    assert bool(np.isfinite(found).all())
    assert mechanism.respond({"a": double(a)}, found).tolist() == [level]


def test_ordered_levels_under_other_parents_are_those_of_the_noise_that_made_them() -> None:
    """The slow way: draw noise for many, keep those with the level, and ask what follows."""
    n, mechanism = 200_000, Ordered(of_a, double(-0.5, 0.4, 1.5))
    before, after = np.full(n, 0.3), np.full(n, 1.1)
    normal = np.random.default_rng(0).standard_normal((n, 1))
    levels = mechanism.respond({"a": before}, normal)
    follow = mechanism.respond({"a": after}, normal)
    draws = row_uniforms(4, np.arange(n), 1)
    found = mechanism.respond({"a": after}, mechanism.abduct({"a": before}, levels, draws))
    for level in range(4):
        share = (levels == level).mean()
        chance = mechanism.chance({"a": before[:1]}, double(level))
        assert share.item() == pytest.approx(chance.item(), abs=0.005)
        of_level = levels == level
        expected = np.bincount(follow[of_level].astype(np.int64), minlength=4) / of_level.sum()
        told = np.bincount(found[of_level].astype(np.int64), minlength=4) / of_level.sum()
        assert np.abs(told - expected).max() < 0.015  # over three standard errors of the fewest


@given(st.integers(0, 2**40), st.floats(-30, 30), st.integers(0, 2))
def test_a_choice_repeats_itself_under_the_same_parents(key: int, a: float, level: int) -> None:
    mechanism = Choice(logits_of_three, n_levels=3)
    draws = row_uniforms(0, np.array([key]), 3)
    noise = mechanism.abduct({"a": double(a)}, double(level), draws)
    assert mechanism.respond({"a": double(a)}, noise).tolist() == [level]


def test_a_million_choices_repeat_themselves() -> None:
    mechanism = Choice(logits_of_three, n_levels=3)
    generator = np.random.default_rng(0)
    a = 4 * generator.standard_normal(1_000_000)
    levels = generator.integers(0, 3, len(a)).astype(np.float64)
    noise = mechanism.abduct({"a": a}, levels, row_uniforms(1, np.arange(len(a)), 3))
    assert np.array_equal(mechanism.respond({"a": a}, noise), levels)


def test_choices_under_other_parents_have_the_chances_of_the_softmax() -> None:
    """Abduct from levels drawn at a = 0.3, act a = 1.5: the levels must be those of a = 1.5."""
    n = 200_000
    mechanism = Choice(logits_of_three, n_levels=3)
    before, after = np.full(n, 0.3), np.full(n, 1.5)
    chances = softmax(logits_of_three({"a": before[:1]})[0])
    drawn = np.random.default_rng(0).choice(3, n, p=chances).astype(np.float64)
    noise = mechanism.abduct({"a": before}, drawn, row_uniforms(2, np.arange(n), 3))
    levels = mechanism.respond({"a": after}, noise)
    expected = softmax(logits_of_three({"a": after[:1]})[0])
    shares = np.bincount(levels.astype(np.int64), minlength=3) / n
    assert np.abs(shares - expected).max() < 0.004  # over three standard errors
    kept = (levels == drawn).mean()
    assert kept > (chances * expected).sum() + 0.1  # the person's own noise is kept


def test_abducted_noise_of_choices_is_gumbel_in_the_long_run() -> None:
    n = 200_000
    mechanism = Choice(logits_of_three, n_levels=3)
    a = np.full(n, 0.3)
    chances = softmax(logits_of_three({"a": a[:1]})[0])
    drawn = np.random.default_rng(0).choice(3, n, p=chances).astype(np.float64)
    noise = mechanism.abduct({"a": a}, drawn, row_uniforms(3, np.arange(n), 3))
    assert np.abs(noise.mean(0) - 0.577216).max() < 0.01  # Euler's constant
    assert np.abs(noise.var(0) - math.pi**2 / 6).max() < 0.03


@pytest.mark.parametrize(
    "mechanism",
    [
        Additive(plus_one),
        Multiplicative(plus_one),
        Ranked(plus_one, 9),
        Ordered(of_a, double(0, 1, 2.5)),
        Choice(logits_of_three, 3),
    ],
)
def test_noise_of_rows_serves_their_candidates(mechanism: Mechanism) -> None:
    """Leading axes are free: (i, c) candidates respond as (i,) rows one by one."""
    rows, values = double(0.5, 1.5), double(2, 1)
    draws = row_uniforms(0, np.arange(2), mechanism.noise_size)
    noise = mechanism.abduct({"a": rows}, values, draws)
    candidates = double(0, 1, 2, 3, 4, 5).reshape(2, 3)
    together = mechanism.respond({"a": candidates}, noise[:, None, :])
    one_by_one = [mechanism.respond({"a": candidates[:, k]}, noise) for k in range(3)]
    assert np.array_equal(together, np.stack(one_by_one, axis=1))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Additive(5), "predict is 5; expected a function"),  # type: ignore[arg-type]
        (lambda: Additive(plus_one, (5, 1)), "limits is .5, 1.; write the lower limit first"),
        (lambda: Additive(plus_one, {0, 1}), "expected .lowest, highest."),  # type: ignore[arg-type]
        (lambda: Additive(plus_one, units="years"), "units is 'years'"),  # type: ignore[arg-type]
        (lambda: Multiplicative(plus_one, math.nan), "origin is nan; expected a finite number"),
        (lambda: Ranked(plus_one, 0), "n_levels is 0; expected a whole number from 1"),
        (lambda: Choice(plus_one, 1.5), "n_levels is 1.5"),  # type: ignore[arg-type]
        (lambda: Ordered(plus_one, 3), "thresholds is 3; expected an ndarray"),  # type: ignore[arg-type]
        (lambda: Ordered(plus_one, double()), "thresholds is .*; expected .* that rise"),
        (lambda: Ordered(plus_one, double(1, 0)), "thresholds is .*; expected .* that rise"),
        (lambda: Ordered(plus_one, double(1, 1)), "thresholds is .*; expected .* that rise"),
        (lambda: Ordered(plus_one, double(math.nan)), "thresholds is .*; expected .* that rise"),
    ],
)
def test_what_is_no_equation_is_refused_when_it_is_made(make: Any, message: str) -> None:
    with pytest.raises(GraphError, match=message):
        make()


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**20))
def test_learned_mechanisms_say_what_slow_lines_say(seed: int) -> None:
    scm = random_model(seed, given_share=0.0)
    rows = random_rows(scm.codec, (20,), seed, missing=0.0)
    columns = dict(zip(scm.codec.schema.names, rows.T, strict=True))
    for name, mechanism in scm.mechanisms.items():
        parents = {cause: columns[cause] for cause in scm.graph.parents(name)}
        predicted = slow.solve(mechanism.equation, parents)
        value, width = np.maximum(columns[name], 0), mechanism.noise_size
        uniforms = row_uniforms(seed, np.arange(len(rows)), width)
        with np.errstate(all="ignore"):
            expected = slow.explain(mechanism, predicted, value, uniforms)
        noise = mechanism.abduct(parents, value, uniforms)
        np.testing.assert_allclose(noise, expected, rtol=1e-7, atol=1e-7)
        other = np.random.default_rng(seed).normal(size=(len(rows), width))
        expected = slow.respond(mechanism, predicted, other)
        np.testing.assert_allclose(mechanism.respond(parents, other), expected, rtol=1e-9)
        if isinstance(mechanism, Choice | Ordered):
            expected = slow.chance(mechanism, predicted, value)
            found = mechanism.chance(parents, value)
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
