"""Causes that only a curve shows."""

import warnings

import numpy as np
import pandas as pd
import pytest

from proce.causal import CausalGraph
from proce.causal.discovery.curves import add_curved_causes, held_out
from proce.causal.discovery.knowledge import Knowledge

NAMES = ("stress", "sleep", "score", "luck")


def rows(n: int = 1_000, seed: int = 0) -> pd.DataFrame:
    """The score is best at middling stress, so that no line joins the two; luck is luck."""
    draw = np.random.default_rng(seed)
    stress, sleep, luck = draw.normal(size=(3, n))
    score = 0.5 * sleep - stress**2 + draw.exponential(0.5, n)
    return pd.DataFrame({"stress": stress, "sleep": sleep, "score": score, "luck": luck})


def discovered(**options: object) -> CausalGraph:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a line cannot say of a curve is not the point here
        return CausalGraph.discover(rows(), **options)


def test_a_cause_without_a_line_is_found_where_tiers_say_that_it_comes_before() -> None:
    alone = discovered()
    assert ("stress", "score") not in alone.edges
    known = discovered(tiers=[["stress", "sleep", "luck"], ["score"]])
    assert set(known.edges) == {("stress", "score"), ("sleep", "score")}


def test_every_resample_is_asked_too() -> None:
    graph = discovered(tiers=[["stress", "sleep", "luck"], ["score"]], bootstrap=5)
    assert graph.confidence[("stress", "score")] == 1


def test_what_is_forbidden_stays_so() -> None:
    graph = discovered(
        tiers=[["stress", "sleep", "luck"], ["score"]], forbidden=[("stress", "score")]
    )
    assert graph.edges == (("sleep", "score"),)


def test_nothing_is_added_without_an_order() -> None:
    none = np.zeros((4, 4), dtype=bool)
    numbers = rows().to_numpy()
    assert not add_curved_causes(numbers, Knowledge.of(NAMES), none, none).any()


def test_the_best_is_added_first_and_then_what_is_left_to_explain() -> None:
    """Once the cause itself is known, a noisy copy of it explains nothing more."""
    draw = np.random.default_rng(1)
    cause = draw.normal(size=2_000)
    copy = cause + draw.normal(0, 0.3, 2_000)
    effect = cause**2 + draw.normal(0, 0.2, 2_000)
    numbers = np.stack([copy, cause, effect], axis=1)
    knowledge = Knowledge.of(("copy", "cause", "effect"), [["copy", "cause"], ["effect"]])
    none = np.zeros((3, 3), dtype=bool)
    arrows = add_curved_causes(numbers, knowledge, none, none)
    assert np.argwhere(arrows).tolist() == [[1, 2]]
    assert not none.any()


def test_noise_adds_nothing() -> None:
    numbers = np.random.default_rng(2).normal(size=(2_000, 6))
    knowledge = Knowledge.of(tuple("abcdef"), [list("abcde"), ["f"]])
    none = np.zeros((6, 6), dtype=bool)
    assert not add_curved_causes(numbers, knowledge, none, none).any()


def test_the_error_on_held_out_rows_by_a_slow_reference() -> None:
    draw = np.random.default_rng(3)
    terms = np.hstack([np.ones((50, 1)), draw.normal(size=(50, 2))])
    values = terms @ [1.0, 2.0, -1.0] + draw.normal(size=50)
    errors = np.empty(50)
    for fold in range(5):
        unseen = np.arange(50) % 5 == fold
        slopes = np.linalg.lstsq(terms[~unseen], values[~unseen], rcond=None)[0]
        errors[unseen] = values[unseen] - terms[unseen] @ slopes
    assert held_out(terms, values) == pytest.approx(np.mean(errors**2), rel=1e-4)
