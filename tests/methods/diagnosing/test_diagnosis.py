"""What is told of a row without advice: how near it came, and which limit helps when lifted."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from proce import Explanation, ProCE
from proce.explanation import Blocker
from proce.explanation.record.counterfactuals import ways_text
from proce.losses import Loss
from proce.methods.diagnosing.diagnosis import ClosestMiss, nearness_text
from proce.methods.phases.shortlist import NearestMisses
from proce.schema import Action, Continuous, Schema

from ...worlds import SETTINGS, logistic, two_classes, without_diagnosis

UNLIKELY = (
    "A way was found, but by the refits of the equations it is more likely to fail than to work,"
    " so it is not advised."
)
STUDY = Schema(
    [Continuous("study", (0, 10), step=0.05), Continuous("skill", action=Action.INDIRECT)]
)


def hits_a_narrow_mark(frame: pd.DataFrame) -> Any:
    """Return yes where skill is 25, more exactly than equations of 60 rows can tell."""
    return two_classes(np.where((frame["skill"].to_numpy() - 25) ** 2 <= 0.15**2, 0.9, 0.1))


@pytest.fixture(scope="module")
def lost() -> Explanation:
    draw = np.random.default_rng(0)
    study = draw.uniform(0, 10, 60).round(2)
    learners = pd.DataFrame({"study": study, "skill": 3 * study + draw.normal(0, 3, 60)}).round(2)
    learners.loc[60] = [8.0, 25.0]
    settings = replace(SETTINGS, n_refits=20)
    explainer = ProCE(
        hits_a_narrow_mark, schema=STUDY, graph=[("study", "skill")], settings=settings
    ).fit(learners)
    item = explainer.explain(pd.DataFrame({"study": [2.0], "skill": [5.5]}))[0]
    assert item.outcome == "not_found"
    return item


def test_a_way_that_most_refits_deny_is_told_as_such(lost: Explanation) -> None:
    """It was told as likely enough but not allowed, though nothing forbids it."""
    diagnosis = lost.diagnosis
    assert diagnosis is not None
    told, way = diagnosis.reason.split(" There is a likelier one ")
    assert told == f"No change was found for which the model says class 1. {UNLIKELY}"
    assert way.startswith("if skill, which only follows from others, could be set to 2")
    assert "fitted again" not in way


def test_an_unlikely_way_alone_is_no_way() -> None:
    unlikely = Blocker("search", "n_refits", "if it need not hold", 0.1)
    richer = Blocker("range", "savings", "with savings allowed to reach 5", 0.2)
    assert ways_text([unlikely]) == ""
    assert ways_text([richer]) == " There is one with savings allowed to reach 5."
    both = ways_text([unlikely, richer])
    assert both == " There is a likelier one with savings allowed to reach 5."


class TestTime:
    """Nobody gets younger."""

    SCHEMA = Schema(
        [
            Continuous("age", (18, 90), step=1, unit="years", action=Action.WAITS),
            Continuous("savings", (0, 100), step=1, action=Action.FIXED),
        ]
    )

    def told(self, wants: Any, age: float) -> str:
        draw = np.random.default_rng(0)
        ages, savings = draw.integers(18, 90, 200), draw.integers(0, 100, 200)
        people = pd.DataFrame({"age": ages, "savings": savings}).astype(float)
        row = pd.DataFrame({"age": [age], "savings": [10.0]})
        item = ProCE(wants, schema=self.SCHEMA, settings=SETTINGS).fit(people).explain(row)[0]
        assert item.diagnosis is not None
        return item.diagnosis.reason

    def test_it_never_passes_backwards(self) -> None:
        def wants_the_young(frame: pd.DataFrame) -> Any:
            return logistic(40 - frame["age"] + 0.5 * (frame["savings"] - 10).clip(lower=0))

        reason = self.told(wants_the_young, 71)
        assert "savings were not fixed, but" in reason
        assert "age" not in reason

    def test_how_long_it_would_take_is_still_told(self) -> None:
        def wants_the_old(frame: pd.DataFrame) -> Any:
            return logistic(frame["age"] - 39.5)

        assert "if one could wait until age is 4" in self.told(wants_the_old, 20)


def test_the_first_misses_of_a_row_are_kept() -> None:
    misses = NearestMisses(5)
    assert not misses.has(np.arange(5)).any()
    misses.add(np.array([3, 1]), np.array([[[3.0]], [[1.0]]]))
    misses.add(np.array([1, 0]), np.array([[[9.0]], [[0.0]]]))
    misses.add(np.array([], dtype=np.int64), np.zeros((0, 7, 2)))  # of no row
    assert misses.has(np.arange(5)).tolist() == [True, True, False, True, False]
    assert misses.genes(np.array([0, 1, 3]))[:, 0, 0].tolist() == [0.0, 1.0, 3.0]


def test_a_closest_miss_is_told_without_contradiction() -> None:
    def nearness(probability: float, needed: float, is_reached: bool = False) -> str:
        return nearness_text(ClosestMiss({}, probability, is_reached=is_reached), needed)

    assert nearness(0.3, 0.5) == (
        " The closest attempt reaches 30%; the model decides so from 50% on."
    )
    assert "reaches under 1%; the model decides so from 50% on" in nearness(0.0002, 0.5)
    assert "49.97%; the model decides so from 50.00% on" in nearness(0.4997, 0.5)
    assert "likely enough (62%), but is not allowed" in nearness(0.62, 0.6, True)
    assert nearness(0.5, 0.5) == (  # at its threshold a model says the second class
        " The closest attempt reaches 50%; the model decides so only above it."
    )


def test_a_probability_that_was_asked_for_is_not_told_as_the_decision() -> None:
    told = nearness_text(ClosestMiss({}, 0.7), 0.9, was_asked=True)
    assert told == " The closest attempt reaches 70%, where 90% was asked for."


VARIED = (["amount", "duration"], ["education"], ["housing", "amount"], ["debt"], ["job"])


@pytest.mark.parametrize("vary", VARIED, ids=" and ".join)
def test_a_limit_that_helps_when_it_is_lifted_is_not_denied(
    lender: Callable[[str], ProCE], rejected: Any, vary: list[str]
) -> None:
    """Who has a way with one limit lifted is told of a limit that helps."""
    explainer = lender("hard")
    items = list(explainer.explain(rejected, vary=vary, max_changes=1, n=1))
    blocked = [number for number, item in enumerate(items) if item.outcome == "not_found"]
    assert blocked, "a limit that stops nobody proves nothing"
    rows, helped = rejected.iloc[blocked], set()
    lifted: tuple[dict[str, Any], ...] = ({"max_changes": 1}, {"vary": vary})
    for options in lifted:
        found = explainer.explain(rows, n=1, progress=without_diagnosis, **options)
        helped |= {blocked[at] for at, item in enumerate(found) if item.outcome == "found"}
    diagnoses = [items[number].diagnosis for number in sorted(helped)]
    assert all(diagnosis is not None and diagnosis.blockers for diagnosis in diagnoses)


def test_a_way_that_is_told_of_is_about_as_near_as_the_advice_without_the_limit(
    lender: Callable[[str], ProCE], rejected: Any
) -> None:
    """One was 1.6 times as far, with changes that were not taken back as those of advice are."""
    explainer, row = lender("soft"), rejected.iloc[[4]]
    diagnosis = explainer.explain(row, vary=["debt"], max_changes=2, n=1)[0].diagnosis
    advice = explainer.explain(row, max_changes=2, n=1)[0]
    assert diagnosis is not None
    assert [blocker.kind for blocker in diagnosis.blockers] == ["vary"]
    assert diagnosis.blockers[0].distance <= 1.4 * advice.losses[0, Loss.DISTANCE]
