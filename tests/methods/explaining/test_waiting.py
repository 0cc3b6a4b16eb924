"""Waiting: time passes for all that waits, as a last resort, within a limit, as one action."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from proce import ProCE
from proce.explanation import Explanations
from proce.methods import Nearest
from proce.schema import Action, Categorical, Continuous, Schema

from ...worlds import SETTINGS, two_classes

SCHEMA = Schema(
    [
        Continuous("age", (18, 90), step=1, action=Action.WAITS),
        Continuous("months_since", (0, 200), step=1, action=Action.WAITS, unit="months"),
        Continuous("savings", (0, 100), step=1),
        Categorical("school", ("no", "yes")),
    ]
)
MODES = [(None, "off"), ([("age", "savings")], "hard"), ([("age", "savings")], "soft")]


def people(n: int = 300) -> pd.DataFrame:
    draw = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "age": draw.integers(20, 80, n),
            "months_since": draw.integers(0, 120, n),
            "savings": draw.integers(0, 80, n),
            "school": draw.choice(["no", "yes"], n),
        }
    )


def one(**values: Any) -> pd.DataFrame:
    usual = {"age": 27, "months_since": 4, "savings": 10, "school": "no"}
    return pd.DataFrame({name: [value] for name, value in (usual | values).items()})


def patient(frame: pd.DataFrame) -> Any:
    """Say yes from 30 years on, two years after the last trouble; whatever the savings."""
    yes = (frame["age"] >= 30) & (frame["months_since"] >= 24)
    return two_classes(np.where(yes, 0.9, 0.1))


def either(frame: pd.DataFrame) -> Any:
    """Say yes from 28 years on, or for savings of 70 and more."""
    return two_classes(np.where((frame["age"] >= 28) | (frame["savings"] >= 70), 0.9, 0.1))


def explained(model: Any, row: pd.DataFrame, graph: Any = None, **options: Any) -> Explanations:
    explainer = ProCE(
        model, schema=SCHEMA, graph=graph, rules=options.pop("rules", ()), settings=SETTINGS
    )
    return explainer.fit(people()).explain(row, target=1, **options)


@pytest.mark.parametrize(("graph", "mode"), MODES)
def test_time_passes_for_all_that_waits_and_is_told_as_waiting(graph: Any, mode: str) -> None:
    explainer = ProCE(patient, schema=SCHEMA, graph=graph, causal=mode, settings=SETTINGS)
    result = explainer.fit(people()).explain(one(), n=1)
    row = result.counterfactuals().iloc[0]
    assert (row["age"], row["months_since"]) == (30, 4 + 36)
    assert result[0].sentences()[:2] == [
        "Wait at least 3 years (age 27 to 30 and months since 4 months to 40 months).",
        "If 3 years had passed, the model would have said class 1 (90%; it was 10%).",
    ]
    assert result.outcomes()["n_actions"].tolist() == [1]
    (reason,) = result.reasons().frame()["reason"]
    assert reason.startswith("Age is 27; 3 years later, ")


def test_waiting_counts_as_one_action_and_costs_by_time() -> None:
    """Three of the five years that are allowed, and the charge of one action."""
    result = explained(patient, one(), n=1, max_changes=1)
    assert result.outcomes()["distance"].tolist() == pytest.approx([3 / 5 + 0.02])


def test_nobody_waits_where_something_else_works() -> None:
    """A year would do, and be closer than savings; but time is the last resort."""
    result = explained(either, one(), n=4)
    assert len(result[0])
    assert set(result.changes()["feature"]) == {"savings"}
    assert "Wait" not in str(result[0])


def test_nobody_waits_longer_than_the_limit() -> None:
    assert not len(explained(patient, one(age=24))[0])
    longer = ProCE(patient, schema=SCHEMA, settings=replace(SETTINGS, max_wait_years=6))
    result = longer.fit(people()).explain(one(age=24), n=1)
    assert result[0].sentences()[0].startswith("Wait 6 years, not longer") or result[0].sentences()[
        0
    ].startswith("Wait at least 6 years")
    never = ProCE(patient, schema=SCHEMA, settings=replace(SETTINGS, max_wait_years=0))
    assert not len(never.fit(people()).explain(one())[0])


def test_time_only_passes() -> None:
    """A model that wants youth finds nobody younger, with or without a graph."""

    def young(frame: pd.DataFrame) -> Any:
        return two_classes(np.where(frame["age"] <= 22, 0.9, 0.1))

    for graph, mode in MODES:
        explainer = ProCE(young, schema=SCHEMA, graph=graph, causal=mode, settings=SETTINGS)
        assert not len(explainer.fit(people()).explain(one())[0])


def test_a_rule_can_ask_for_time() -> None:
    """Only school helps, which takes a year: the wait is there for the rule, and names it."""

    def schooled(frame: pd.DataFrame) -> Any:
        return two_classes(np.where(frame["school"].astype(str) == "yes", 0.9, 0.1))

    rule = "cf.school != x.school => cf.age > x.age"
    result = explained(schooled, one(), n=1, rules=[rule])
    told = result[0].sentences()
    assert 'Change school from "no" to "yes".' in told
    (waiting,) = [sentence for sentence in told if sentence.startswith("Wait")]
    assert waiting.startswith("Wait at least 1 year (age 27 to 28 and months since 4")
    assert waiting.endswith(f": the rule '{rule}' asks for it.")
    assert result.counterfactuals()["months_since"].tolist() == [16]


def test_a_request_says_who_may_wait() -> None:
    assert not len(explained(patient, one(), vary=["savings"])[0])
    assert explained(patient, one(), vary=["age"], n=1)[0].sentences()[0].startswith("Wait")
    capped = explained(patient, one(), ranges={"months_since": (0, 30)})
    assert not len(capped[0])


def test_how_long_one_may_wait_is_tried() -> None:
    def while_young(frame: pd.DataFrame) -> Any:
        return two_classes(np.where(frame["age"].between(29, 30), 0.9, 0.1))

    result = explained(while_young, one(), n=1)
    assert result[0].sentences()[0].startswith("Wait 2 to 3 years (age 27 to 29")
    line = result.changes().iloc[0]
    assert (line["holds_from"], line["holds_to"]) == (29, 30)


def test_a_missing_time_stays_missing_and_others_pass() -> None:
    def lenient(frame: pd.DataFrame) -> Any:
        return two_classes(np.where(frame["age"] >= 30, 0.9, 0.1))

    frame = people().astype({"months_since": "float64"})
    frame.loc[0, "months_since"] = np.nan
    row = one(months_since=np.nan)
    result = ProCE(lenient, schema=SCHEMA, settings=SETTINGS).fit(frame).explain(row, n=1)
    assert result[0].sentences()[0] == "Wait at least 3 years (age 27 to 30)."
    assert result.counterfactuals()["months_since"].isna().all()


def test_text_comes_back_from_json() -> None:
    result = explained(patient, one())
    back = Explanations.from_json(result.to_json())
    assert back.to_json() == result.to_json()
    assert back[0].sentences() == result[0].sentences()


def test_published_methods_let_nobody_wait() -> None:
    method = Nearest(either, schema=SCHEMA, respect_schema=True).fit(people())
    result = method.explain(one(), target=1)
    assert "age" not in set(result.changes()["feature"])


def test_a_method_that_knows_no_such_limit_is_told_as_it_is() -> None:
    def young(frame: pd.DataFrame) -> Any:
        return two_classes(np.where(frame["age"] <= 22, 0.9, 0.1))

    result = Nearest(young, schema=SCHEMA).fit(people()).explain(one(), target=1, n=1)
    assert result[0].sentences()[0].startswith("Lower age from 27 to 2")


@pytest.mark.parametrize(("graph", "mode"), MODES)
def test_what_if_lets_time_pass_for_all_that_waits(graph: Any, mode: str) -> None:
    """What somebody says of two of them stands, however little they agree."""
    explainer = ProCE(patient, schema=SCHEMA, graph=graph, causal=mode, settings=SETTINGS)
    explainer.fit(people())
    for changes, ends in (
        ({"age": 29}, (29, 28)),
        ({"months_since": 28}, (29, 28)),
        ({"age": 29, "months_since": 5}, (29, 5)),
        ({"school": "yes"}, (27, 4)),
    ):
        row = explainer.what_if(one(), changes).frame.iloc[0]
        assert (row["age"], row["months_since"]) == ends
    told = explainer.what_if(one(), {"age": 30})
    assert told.consequences["months_since"] == (4, 40)
    assert (told.before, told.after) == (0, 1)
