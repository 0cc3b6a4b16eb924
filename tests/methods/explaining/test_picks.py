"""Which counterfactuals are shown: the margin, the named picks, several that differ."""

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest

from proce import ProCE, SearchSettings
from proce.explanation import Change, done_by_hand
from proce.schema import Continuous, Schema

from ...worlds import (
    QUICK,
    SCHEMA,
    SETTINGS,
    STUDY_GRAPH,
    actions_of,
    bank,
    logistic,
    modest,
    one,
    people,
    refused,
    students,
    two_classes,
    without_diagnosis,
)

Lender = Callable[[str], ProCE]


def capped_bank(frame: pd.DataFrame) -> Any:
    """Never say yes with more than 55%."""
    return two_classes(np.minimum(bank(frame)[:, 1], 0.55))


def test_by_default_the_decision_is_passed_by_the_margin(banker: ProCE) -> None:
    result = banker.explain(refused(people(), 6))
    assert result.context.needed == pytest.approx((0.6, 0.6))
    assert len(result) == 6
    for item in result:
        assert len(item)
        assert item.margin_met
        assert (item.probabilities >= 0.6 - 1e-9).all()


def test_where_the_margin_cannot_be_had_the_decision_is_enough_and_that_is_said() -> None:
    explainer = ProCE(capped_bank, schema=SCHEMA, settings=SETTINGS).fit(people())
    result = explainer.explain(refused(people(), 3))
    outcomes = result.outcomes()
    assert (outcomes["outcome"] == "found").all()
    assert not outcomes["margin_met"].any()
    assert outcomes["new_probability"].between(0.5, 0.55).all()


def test_the_margin_is_a_setting() -> None:
    for margin in (0.0, 0.3):
        settings = replace(SETTINGS, margin=margin)
        explainer = ProCE(bank, schema=SCHEMA, settings=settings).fit(people())
        result = explainer.explain(one(), n=1, vary=["savings"])
        assert 0.5 + margin - 1e-9 <= float(result[0].probabilities[0]) < 0.5 + margin + 0.02


def test_the_margin_is_counted_from_the_threshold() -> None:
    explainer = ProCE(bank, schema=SCHEMA, settings=SETTINGS, threshold=0.3).fit(people())
    result = explainer.explain(one(), n=1, vary=["savings"])
    assert result[0].needed == pytest.approx(0.4)
    assert 0.4 - 1e-9 <= float(result[0].probabilities[0]) < 0.42


def test_for_the_first_class_the_threshold_is_counted_from_the_other_side() -> None:
    """No is said below 30% of yes: with the margin of 10%, from 80% of no on."""
    explainer = ProCE(bank, schema=SCHEMA, settings=SETTINGS, threshold=0.3).fit(people())
    result = explainer.explain(one(savings=59), target=0, n=1, vary=["savings"])
    assert result[0].needed == pytest.approx(0.8)
    assert 0.8 - 1e-9 <= float(result[0].probabilities[0]) < 0.82


def test_already_target_ignores_the_margin(banker: ProCE) -> None:
    row = one(savings=59)
    assert 0.5 < bank(row)[0, 1] < 0.6
    result = banker.explain(row, target=1)
    assert result[0].outcome == "already_target"
    assert len(result[0]) == 0
    assert len(result.to_frame()) == 0


def test_the_closest_is_near_to_the_best_that_exists(banker: ProCE) -> None:
    """One number decides: the least whole savings that pass the margin are known."""
    row = one()
    tried = [one(savings=value) for value in range(20, 101)]
    enough = next(each for each in tried if bank(each)[0, 1] >= 0.6)
    result = banker.explain(row, vary=["savings"], n=1, pick="closest")
    assert result.counterfactuals()["savings"].iloc[0] == enough["savings"].iloc[0]


@pytest.mark.parametrize("mode", ["off", "soft", "hard"])
def test_a_typical_pick_looks_more_like_its_target_and_is_not_much_farther(
    lender: Lender, rejected: pd.DataFrame, mode: str
) -> None:
    options = {"n": 1, "progress": without_diagnosis}
    explainer, rows = lender(mode), rejected.head(6)
    typical = explainer.explain(rows, pick="typical", **options)
    closest = explainer.explain(rows, **options)
    asked = "A typical way was asked for: it may ask for more than the decision needs"
    for result, is_asked in ((typical, True), (closest, False)):
        for item in result:
            is_said = any(text.startswith(asked) for text in item.sentences())
            assert is_said == (is_asked and len(item) > 0)
    likeness = explainer.fitted_.likeness_of({0, 1})
    assert likeness is not None
    pairs = [pair for pair in zip(typical, closest, strict=True) if len(pair[0])]
    assert [len(item) for item in typical] == [len(item) for item in closest]
    assert len(pairs) >= 5
    rows = np.stack([np.stack([ours.rows[0], theirs.rows[0]]) for ours, theirs in pairs])
    ones = np.ones(len(pairs), np.int64)
    likeness_losses = np.log(likeness.loss(rows, ones, 0 * ones)).mean(0)
    assert likeness_losses[0] < likeness_losses[1]
    far, near = (sum(float(pair[at].losses[0, 2]) for pair in pairs) for at in (0, 1))
    assert near < far <= 4 * near


def test_a_typical_pick_does_not_depend_on_its_batch(
    lender: Lender, rejected: pd.DataFrame
) -> None:
    options = {"pick": "typical", "n": 2, "progress": without_diagnosis}
    together = lender("soft").explain(rejected.head(5), **options)
    for position in (0, 3):
        alone = lender("soft").explain(rejected.iloc[[position]], **options)[0]
        assert len(alone)
        assert np.array_equal(alone.rows, together[position].rows)
        assert np.array_equal(alone.losses, together[position].losses)


def test_only_the_typical_pick_learns_what_classes_look_like_and_only_once() -> None:
    explainer, rows = ProCE(bank, schema=SCHEMA, settings=SETTINGS).fit(people()), one()
    for pick in ("closest", "balanced", "first"):
        explainer.explain(rows, pick=pick, n=1)
        assert not explainer.fitted_.looks.of_all
    explainer.explain(rows, pick="typical", n=1)
    learned = explainer.fitted_.looks.of_all
    assert learned
    explainer.explain(rows, pick="typical", n=1, causal="off")
    assert explainer.fitted_.looks.of_all is learned


def test_a_class_of_which_hardly_anything_is_known_has_no_looks_and_that_is_said() -> None:
    """Of 300 people about 20 have the target: the prototype has to do."""
    frame = people()
    limit = float(np.sort(bank(frame)[:, 1])[-20])
    explainer = ProCE(bank, schema=SCHEMA, settings=SETTINGS, threshold=limit).fit(frame)
    result = explainer.explain(one(), pick="typical", n=1)
    assert len(result[0])
    assert any("could not be learned" in note for note in result[0].notes)
    assert not any("could not be learned" in note for note in explainer.explain(one())[0].notes)


def test_a_balanced_pick_is_no_farther_from_the_best_of_all_three(
    lender: Lender, rejected: pd.DataFrame
) -> None:
    """On losses scaled to the range of the front: the closest of the same search is no nearer."""
    options = {"n": 1, "progress": without_diagnosis}
    balanced = lender("off").explain(rejected.head(5), pick="balanced", **options)
    closest = lender("off").explain(rejected.head(5), pick="closest", **options)
    pairs = [pair for pair in zip(balanced, closest, strict=True) if len(pair[0])]
    assert pairs
    for knee, near in pairs:
        losses = np.concatenate([knee.front.losses, knee.losses, near.losses])
        low, high = losses.min(0), losses.max(0)
        gap = np.square((losses - low) / np.maximum(high - low, 1e-12)).sum(-1)
        assert gap[-2] <= gap[-1] + 0.05


def test_several_counterfactuals_differ_in_what_they_change() -> None:
    """Four features that do the same, so that four ways exist, each with one change."""
    draw = np.random.default_rng(1)
    frame = pd.DataFrame(draw.uniform(0, 1, (200, 4)), columns=list("abcd"))

    def any_of_four(rows: pd.DataFrame) -> Any:
        return logistic(20 * (rows.max(axis=1) - 0.9))

    row = pd.DataFrame({name: [0.5] for name in frame.columns})
    result = ProCE(any_of_four, settings=SETTINGS).fit(frame).explain(row, n=4)
    acted_on = actions_of(result).groupby("rank")["feature"].agg(frozenset)
    assert len(result[0]) == 4
    assert len(set(acted_on)) >= 3


def test_n_is_the_most_and_not_less_where_there_are_more(banker: ProCE) -> None:
    for n in (1, 2, 5):
        result = banker.explain(refused(people(), 3), n=n)
        assert [len(item) for item in result] == [n, n, n]
        assert result.to_frame()["rank"].tolist() == [*range(1, n + 1)] * 3
    many, more = (banker.explain(refused(people(), 3), n=n) for n in (20, 30))
    assert [len(item) for item in many] == [len(item) for item in more]  # there are no more
    codec = banker.fitted_.codec
    for item in many:
        by_hand, size = done_by_hand(item.changes), item.rows / codec.reach
        for first, second in combinations(range(len(item)), 2):
            same = (by_hand[first] == by_hand[second]).all()
            apart = (np.abs(size[first] - size[second]) * by_hand[first]).max()
            assert not same or apart > 0.05, "two ways that are one"


def test_fewer_are_returned_where_fewer_exist() -> None:
    frame = pd.DataFrame({"a": ["x", "y"] * 50, "b": ["x"] * 50 + ["y"] * 50})

    def only_one_way(rows: pd.DataFrame) -> Any:
        return two_classes(np.where((rows["a"] == "y") & (rows["b"] == "y"), 0.9, 0.1))

    result = ProCE(only_one_way, settings=SETTINGS).fit(frame).explain(frame.head(1), n=4)
    assert len(result[0]) == 1


def test_fronts_are_kept_on_request(banker: ProCE) -> None:
    row = one()
    assert banker.explain(row, keep_front=False)[0].front is None
    assert banker.explain(row, keep_front=True)[0].front is not None
    assert banker.explain(row)[0].front is not None


def test_effort_moves_the_advice_to_what_is_easier() -> None:
    """Two features that count alike: the one that costs more is left alone."""
    frame = pd.DataFrame(np.random.default_rng(0).uniform(0, 1, (200, 2)), columns=["a", "b"])
    schema = Schema([Continuous("a"), Continuous("b")])

    def by_the_sum(rows: pd.DataFrame) -> Any:
        return logistic(10 * (rows.sum(axis=1) - 1))

    settings = SearchSettings(autoencoder=QUICK)
    explainer = ProCE(by_the_sum, schema=schema, settings=settings).fit(frame)
    row = pd.DataFrame({"a": [0.3], "b": [0.3]})
    for hard, easy in (("a", "b"), ("b", "a")):
        after = explainer.explain(row, effort={hard: 4, easy: 0.5}, n=1).counterfactuals().iloc[0]
        assert after[easy] - 0.3 > 2 * abs(after[hard] - 0.3)


@pytest.mark.parametrize("mode", ["hard", "soft"])
def test_holds_are_told_and_cost(mode: str) -> None:
    """Who studies more gets more pay, unless it is held; and no pay may fall.

    A hold keeps the factual value, and where it would have gone is known.
    """
    explainer = ProCE(
        modest, graph=STUDY_GRAPH, rules=["cf.pay >= x.pay"], causal=mode, settings=SETTINGS
    ).fit(students())
    rows = pd.DataFrame({"study": [3.0, 4.0], "skill": [3.0, 4.0], "pay": [6.0, 8.0]})
    result = explainer.explain(rows, vary=["study", "pay"])
    holds = [(item, item.changes == Change.HOLD) for item in result if len(item)]
    assert any(held.any() for _, held in holds)
    for item, held in holds:
        assert (item.rows == item.factual)[held].all()
        assert (item.expected != item.rows)[held].all()
