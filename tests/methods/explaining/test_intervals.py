"""How far an action may go: the interval is true at every point of the grid that was promised."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proce import CausalGraph, ProCE, StructuralCausalModel
from proce.explanation import Explanations
from proce.schema import Codec, Continuous, Schema

from ...worlds import SCHEMA, SETTINGS, TINY, WatchedBank, bank, one, people, two_classes


def window(low: float, high: float) -> Callable[[pd.DataFrame], Any]:
    """Return a model that says yes only where savings lie between two values."""

    def model(frame: pd.DataFrame) -> Any:
        savings = frame["savings"].to_numpy(float)
        return two_classes(np.where((savings >= low) & (savings <= high), 0.9, 0.1))

    return model


def only_change(result: Explanations) -> Any:
    """Return the only action of the recommended counterfactual."""
    lines = result.changes().query("rank == 1 and kind == 'action'")
    assert len(lines) == 1
    return lines.iloc[0]


def test_a_model_that_approves_only_in_a_window_is_told_so() -> None:
    explainer = ProCE(window(60, 66), schema=SCHEMA, settings=SETTINGS).fit(people())
    result = explainer.explain(one(savings=20), n=1)
    line = only_change(result)
    assert (line["after"], line["holds_from"], line["holds_to"]) == (60, 60, 66)
    assert result[0].sentences()[0] == "Raise savings from 20 to between 60 and 66."


def test_at_least_is_said_where_it_holds_to_the_end_of_the_search() -> None:
    explainer = ProCE(window(60, np.inf), schema=SCHEMA, settings=SETTINGS).fit(people())
    result = explainer.explain(one(savings=20), n=1)
    assert result[0].sentences()[0] == "Raise savings from 20 to at least 60."
    capped = explainer.explain(one(savings=20), n=1, ranges={"savings": (0, 70)})
    assert only_change(capped)["holds_to"] == 70
    assert capped[0].sentences()[0] == "Raise savings from 20 to at least 60."


def test_a_hole_between_the_told_value_and_the_end_is_seen() -> None:
    def holed(frame: pd.DataFrame) -> Any:
        savings = frame["savings"].to_numpy(float)
        yes = (savings >= 60) & ((savings < 80) | (savings > 83))
        return two_classes(np.where(yes, 0.9, 0.1))

    explainer = ProCE(holed, schema=SCHEMA, settings=SETTINGS).fit(people())
    result = explainer.explain(one(savings=20), n=1)
    assert only_change(result)["holds_to"] == 79
    assert result[0].sentences()[0] == "Raise savings from 20 to between 60 and 79."


def test_a_hole_of_one_value_on_a_small_grid_is_seen() -> None:
    def holed(frame: pd.DataFrame) -> Any:
        savings = frame["savings"].to_numpy(float)
        return two_classes(np.where((savings >= 30) & (savings != 73), 0.9, 0.1))

    explainer = ProCE(holed, schema=SCHEMA, settings=SETTINGS).fit(people())
    assert only_change(explainer.explain(one(savings=20), n=1))["holds_to"] == 72


def test_a_rule_ends_the_interval() -> None:
    explainer = ProCE(
        window(60, np.inf), schema=SCHEMA, rules=["cf.savings <= 77"], settings=SETTINGS
    ).fit(people())
    line = only_change(explainer.explain(one(savings=20), n=1))
    assert (line["holds_from"], line["holds_to"]) == (60, 77)


def test_what_follows_ends_the_interval_too() -> None:
    """Debt falls as savings rise, and the bank refuses debts below 10: savings of 80 or less."""
    frame = people()
    codec = Codec.fit(SCHEMA, frame)

    def strict(rows: pd.DataFrame) -> Any:
        yes = (rows["savings"] >= 50) & (rows["debt"] >= 10)
        return two_classes(np.where(yes, 0.9, 0.1))

    scm = StructuralCausalModel.fit(
        CausalGraph([("savings", "debt")]),
        codec.encode(frame),
        codec,
        equations={"debt": lambda parents: 70 - parents["savings"]},
    )
    explainer = ProCE(strict, schema=SCHEMA, graph=scm, settings=SETTINGS).fit(frame)
    result = explainer.explain(one(savings=20, debt=70), n=1, vary=["savings"])
    line = only_change(result)  # the debt is 90 - savings for this person
    assert (line["after"], line["holds_from"], line["holds_to"]) == (50, 50, 80)


def test_a_consequence_in_a_column_of_32_bits_leaves_the_interval_known() -> None:
    """The debt becomes 41.6, which no such column holds; the told row is what it holds."""
    schema = Schema([replace(f, step=None) if f.name == "debt" else f for f in SCHEMA])
    frame = people().astype({"debt": "float32"})
    codec = Codec.fit(schema, frame)
    scm = StructuralCausalModel.fit(
        CausalGraph([("savings", "debt")]),
        codec.encode(frame),
        codec,
        equations={"debt": lambda parents: 84.2 - 0.71 * parents["savings"]},
    )
    explainer = ProCE(window(60, 66), schema=schema, graph=scm, settings=SETTINGS).fit(frame)
    row = one(savings=20, debt=70).astype({"debt": "float32"})
    line = only_change(explainer.explain(row, n=1, vary=["savings"]))
    assert (line["after"], line["holds_from"], line["holds_to"]) == (60, 60, 66)


@settings(deadline=None, max_examples=15)
@given(low=st.integers(25, 95), width=st.integers(0, 30))
def test_the_interval_is_the_whole_window(low: int, width: int) -> None:
    """One window in the middle is found exactly: the grid of a step is narrowed to its end."""
    high = low + width
    explainer = _over_savings(window(low, high))
    result = explainer.explain(one(savings=20), n=1)
    if not len(result[0]):
        return
    line = only_change(result)
    assert (line["holds_from"], line["holds_to"]) == (low, min(high, 100))
    assert ("at least" in result[0].sentences()[0]) == (high >= 100)


def _over_savings(model: Callable[[pd.DataFrame], Any]) -> ProCE:
    schema = SCHEMA.edit(["age", "debt", "school"], action="fixed")
    return ProCE(model, schema=schema, settings=TINY).fit(people())


@pytest.mark.parametrize("mode", ["hard", "soft", "paper", "off"])
def test_every_point_of_a_promise_is_true_of_the_model(
    mode: str, lender: Callable[[str], ProCE], rejected: Any, trees: Any
) -> None:
    """The ends of each interval, with what follows from them, are asked once more by hand."""
    explainer = lender(mode)
    result = explainer.explain(rejected.head(4), n=1)
    lines = result.changes().query("kind == 'action' and holds_from == holds_from")
    assert len(lines)
    for row, own in lines.groupby("row"):
        doing = result.changes().query("row == @row and kind != 'consequence'")
        acts = dict(zip(doing["feature"], doing["after"], strict=True))
        for _, line in own.iterrows():
            assert line["holds_from"] <= line["after"] <= line["holds_to"]
            for value in (line["holds_from"], line["holds_to"]):
                if mode in ("hard", "soft"):
                    told = explainer.what_if(rejected.iloc[[row]], acts | {line["feature"]: value})
                    assert told.after == 1, line
                    assert not told.broken, line
                else:
                    frame = result.counterfactuals().iloc[[row]].copy()
                    frame[line["feature"]] = value
                    assert trees.predict(frame)[0] == 1, line


def test_numbers_without_a_step_have_intervals() -> None:
    schema = Schema([Continuous("savings"), Continuous("noise")])
    draw = np.random.default_rng(0)
    frame = pd.DataFrame({"savings": draw.uniform(0, 100, 300), "noise": draw.normal(size=300)})
    explainer = ProCE(window(60, 66), schema=schema, settings=SETTINGS).fit(frame)
    row = pd.DataFrame({"savings": [20.0], "noise": [0.0]})
    line = only_change(explainer.explain(row, n=1))
    assert 60 <= line["holds_from"] <= line["after"] <= line["holds_to"] <= 66
    assert line["holds_to"] > 65.8
    assert line["holds_from"] < 60.2


def test_the_number_of_answers_is_bounded_and_can_be_spared() -> None:
    watched = WatchedBank()
    explainer = ProCE(watched, schema=SCHEMA, settings=TINY).fit(people())
    watched.frames.clear()
    result = explainer.explain(one(), n=1, max_evaluations=64)
    assert result.changes()["holds_from"].isna().all()
    assert "at least" not in str(result[0])
    n_spared = sum(watched.sizes)
    watched.frames.clear()
    told = explainer.explain(one(), n=1)
    n_sides = 2 * int(told.changes()["holds_from"].notna().sum())
    assert n_sides
    n_scanned = 1_500  # ways of few actions, which a caller who counts answers is spared too
    assert sum(watched.sizes) <= 2 * n_spared + n_scanned + n_sides * 200 + 3 * 16 * 7


def test_without_time_nothing_is_promised() -> None:
    explainer = ProCE(bank, schema=SCHEMA, settings=TINY).fit(people())
    result = explainer.explain(one(), n=1, progress=lambda progress: progress.generation < 4)
    assert len(result[0])
    assert result.changes()["holds_from"].isna().all()


def test_intervals_do_not_depend_on_the_batch(banker: ProCE) -> None:
    many = people().head(12)
    together = banker.explain(many, target=1, n=2).changes()
    for row in sorted(together["row"].unique())[:3]:
        alone = banker.explain(many.iloc[[row]], target=1, n=2).changes()
        own = together.query("row == @row").drop(columns="row")
        assert own.equals(alone.drop(columns="row"))
