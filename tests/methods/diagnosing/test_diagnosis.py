"""What is told of a row without advice: ways that are too unlikely, and time that only passes."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from proce import Explanation, ProCE
from proce.explanation import Blocker
from proce.explanation.record.counterfactuals import ways_text
from proce.schema import Action, Continuous, Schema

from ...worlds import SETTINGS, logistic, two_classes

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
