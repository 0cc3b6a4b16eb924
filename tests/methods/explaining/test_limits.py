"""Every limit holds in every row that is returned, whatever is asked for."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from proce import Dataset, ProCE, SearchSettings
from proce.schema import Action, Continuous, Schema

from ...worlds import (
    SCHEMA,
    SETTINGS,
    STUDY_GRAPH,
    actions_of,
    bank,
    modest,
    one,
    people,
    refused,
    students,
    without_diagnosis,
)

Lender = Callable[[str], ProCE]
ACTIONABLE = (
    *("age", "education", "job", "income", "housing", "savings", "debt", "amount", "duration"),
)
RANGES = {
    "age": (18, 60),
    "education": ("high school", "master"),
    "income": (20_000, 90_000),
    "savings": (0, 30_000),
    "debt": (0, 20_000),
    "credit_score": (500, 800),
    "amount": (1_000, 40_000),
    "duration": (12, 60),
}
RULES = {
    "cf.amount <= x.amount": lambda cf, x: cf["amount"] <= x["amount"],
    "cf.job == x.job": lambda cf, x: cf["job"].astype(str) == x["job"].astype(str),
    "cf.savings + cf.debt <= 60000": lambda cf, x: cf["savings"] + cf["debt"] <= 60_000,
    "cf.income > x.income => cf.duration <= x.duration": lambda cf, x: (
        (cf["income"] <= x["income"]) | (cf["duration"] <= x["duration"])
    ),
}


@st.composite
def options(draw: st.DrawFn) -> dict[str, Any]:
    """Draw options of a call that a person might combine."""
    asked: dict[str, Any] = {"n": draw(st.integers(1, 5))}
    maybe = lambda strategy: draw(st.none() | strategy)  # noqa: E731 - reads as a sentence below
    asked["vary"] = maybe(st.sets(st.sampled_from(ACTIONABLE), min_size=1).map(sorted))
    named = draw(st.sets(st.sampled_from(sorted(RANGES)), max_size=3))
    asked["ranges"] = {name: RANGES[name] for name in sorted(named)}
    asked["max_changes"] = maybe(st.integers(1, 4))
    weighed = draw(st.sets(st.sampled_from(ACTIONABLE), max_size=3))
    asked["effort"] = {name: draw(st.sampled_from((0.5, 2, 4))) for name in sorted(weighed)}
    asked["min_probability"] = maybe(st.sampled_from((0.5, 0.7, 0.9)))
    asked["rules"] = sorted(draw(st.sets(st.sampled_from(sorted(RULES)), max_size=2)))
    asked["pick"] = draw(st.sampled_from(("closest", "balanced", "typical")))
    return asked


@pytest.mark.parametrize("n_examples", [6, pytest.param(80, marks=pytest.mark.slow, id="many")])
@pytest.mark.parametrize("mode", ["hard", "soft", "paper", "off"])
def test_limits_hold_together(
    mode: str,
    n_examples: int,
    lender: Lender,
    loan: Dataset,
    trees: Any,
    rejected: pd.DataFrame,
) -> None:
    found = 0

    @settings(
        max_examples=n_examples,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
        database=None,
    )
    @given(asked=options(), start=st.integers(0, 9))
    def sweep(asked: dict[str, Any], start: int) -> None:
        nonlocal found
        rows = rejected.iloc[start : start + 3]
        result = lender(mode).explain(rows, progress=without_diagnosis, **asked)
        found += len(result.to_frame())
        check_limits(result, rows, loan, trees, asked)

    sweep()
    assert found > n_examples


def check_limits(
    result: Any, rows: pd.DataFrame, loan: Dataset, model: Any, asked: dict[str, Any]
) -> None:
    frame = result.to_frame()
    if not len(frame):
        return
    after = result.counterfactuals().reset_index(drop=True)
    before = rows.iloc[frame["row"]].reset_index(drop=True)
    assert (model.predict(after) == 1).all()
    assert (frame.groupby("row")["rank"].count() <= asked["n"]).all()
    if asked["min_probability"] is not None:
        assert (model.predict_proba(after)[:, 1] >= asked["min_probability"] - 1e-9).all()
    for name, (low, high) in asked["ranges"].items():
        assert ((after[name] >= low) & (after[name] <= high)).all(), name
    for text in asked["rules"]:
        assert RULES[text](after, before).all(), text
    assert (after["sex"].astype(str) == before["sex"].astype(str)).all()
    assert (after["age"] >= before["age"]).all()
    acted_on = actions_of(result)
    allowed = set(asked["vary"] or ACTIONABLE)
    assert set(acted_on["feature"]) <= allowed
    if asked["max_changes"] is not None:
        assert (acted_on.groupby(["row", "rank"]).size() <= asked["max_changes"]).all()
    for feature in loan.recourse_schema:
        if isinstance(feature, Continuous) and feature.range:
            low, high = feature.range
            assert after[feature.name].between(low, high).all(), feature.name


def test_what_may_not_vary_may_still_follow(lender: Lender, rejected: pd.DataFrame) -> None:
    result = lender("hard").explain(rejected, vary=["savings", "debt"], progress=without_diagnosis)
    changes = result.changes()
    done = changes[changes["kind"] != "consequence"]
    assert set(done["feature"]) <= {"savings", "debt"}
    assert "credit_score" in set(changes[changes["kind"] == "consequence"]["feature"])


def test_a_range_binds_where_a_feature_ends_even_if_it_must_move() -> None:
    """Savings of 20 are outside the range: in every counterfactual they are inside."""
    explainer = ProCE(bank, schema=SCHEMA, settings=SETTINGS).fit(people())
    result = explainer.explain(one(), ranges={"savings": (30, 45)})
    assert result[0].outcome == "found"
    assert result.counterfactuals()["savings"].between(30, 45).all()


def test_increase_and_decrease_go_one_way(banker: ProCE) -> None:
    rows = refused(people(), 8)
    result = banker.explain(rows)
    after = result.to_frame()
    before = rows.iloc[after["row"]]
    assert len(after) >= 8
    assert (after["age"].to_numpy() >= before["age"].to_numpy()).all()
    assert (after["debt"].to_numpy() <= before["debt"].to_numpy()).all()
    assert (after["home"].to_numpy() == before["home"].to_numpy()).all()


def test_a_value_outside_the_permitted_range_may_stay() -> None:
    """Nobody is told to save more than 60; who has 70 may keep it, and has no more after."""
    schema = SCHEMA.edit("savings", range=(0, 60))
    explainer = ProCE(bank, schema=schema, settings=SETTINGS).fit(people())
    result = explainer.explain(one(savings=70, debt=90))
    after = result.counterfactuals()["savings"]
    assert result[0].outcome == "found"
    assert after.max() <= 70


def test_min_probability_never_falls_back(banker: ProCE) -> None:
    row = one(home="rents", school="none")
    for least in (0.8, 0.95):
        result = banker.explain(row, min_probability=least, progress=without_diagnosis)
        assert result[0].outcome == "found"
        assert float(result[0].probabilities.min()) >= least - 1e-9
    best = bank(one(savings=100, debt=0, school="high", age=90))[0, 1]
    result = banker.explain(row, min_probability=min(1.0, best + 0.01), progress=without_diagnosis)
    assert result[0].outcome == "not_found"


def test_options_of_a_call_leave_the_explainer_as_it_was(banker: ProCE) -> None:
    row = one()
    before = banker.explain(row).to_frame()
    assert len(before)
    banker.explain(row, vary=["debt"], ranges={"debt": (0, 10)}, rules=["cf.age == x.age"])
    pd.testing.assert_frame_equal(banker.explain(row).to_frame(), before)


def test_the_result_remembers_what_was_asked(banker: ProCE) -> None:
    result = banker.explain(
        one(), vary=["savings"], ranges={"savings": (10, 90)}, effort={"savings": 2}
    )
    assert result.context.vary == ("savings",)
    assert result.context.ranges == {"savings": (10, 90)}
    assert result.context.effort == {"savings": 2}


def test_rules_of_the_explainer_and_of_the_call_add_up() -> None:
    explainer = ProCE(bank, schema=SCHEMA, settings=SETTINGS, rules=["cf.savings <= 50"]).fit(
        people()
    )
    result = explainer.explain(refused(people(), 4), rules=["cf.debt >= 5"])
    after = result.counterfactuals()
    assert len(after)
    assert (after["savings"] <= 50).all()
    assert (after["debt"] >= 5).all()


def test_a_rule_of_dependence_holds(loan: Dataset, trees: Any, rejected: pd.DataFrame) -> None:
    """``income ~> savings``: where income moves, savings move the way their equation says."""
    explainer = ProCE(
        trees, schema=loan.schema, rules=["income ~> savings"], settings=SETTINGS
    ).fit(loan.frame)
    result = explainer.explain(rejected.head(5), progress=without_diagnosis)
    after = result.to_frame()
    before = rejected.iloc[after["row"]]
    income = after["income"].to_numpy() - before["income"].to_numpy()
    savings = after["savings"].to_numpy() - before["savings"].to_numpy()
    assert (income != 0).any()
    assert (savings[income > 0] > 0).all()
    assert (savings[income < 0] < 0).all()
    assert (savings[income == 0] == 0).all()


@pytest.mark.parametrize("mode", ["hard", "soft"])
def test_what_nobody_can_act_on_is_never_held(mode: str) -> None:
    """To hold the skill would do, and cost less than to hold the pay that follows from it."""
    frame = students()
    schema = Schema.infer(frame).edit("skill", action=Action.INDIRECT)
    explainer = ProCE(
        modest,
        schema=schema,
        graph=STUDY_GRAPH,
        rules=["cf.pay >= x.pay"],
        causal=mode,
        settings=SETTINGS,
    ).fit(frame)
    rows = pd.DataFrame({"study": [3.0, 4.0], "skill": [3.0, 4.0], "pay": [6.0, 8.0]})
    changes = explainer.explain(rows).changes()
    assert set(changes[changes["kind"] == "hold"]["feature"]) == {"pay"}


def test_a_declared_range_holds_for_who_is_far_outside_of_it() -> None:
    draw = np.random.default_rng(0)
    frame = pd.DataFrame({"ratio": draw.uniform(0, 3, 400), "years": draw.integers(0, 30, 400)})
    frame.loc[:2, "ratio"] = 1_500.0

    def by_ratio(rows: pd.DataFrame) -> Any:
        yes = 1 / (1 + np.exp((rows["ratio"] - 2 - rows["years"] / 40).clip(upper=30)))
        return np.column_stack([1 - yes, yes])

    schema = Schema.infer(frame).edit("ratio", range=(0, 1))
    quick = SearchSettings(population_size=20, n_generations=5)
    result = ProCE(by_ratio, schema, settings=quick).fit(frame).explain(frame.head(3), target=1)
    assert (result.outcomes()["outcome"] == "found").all()
    ended = result.counterfactuals()["ratio"]
    assert ((ended <= 1) | (ended == 1_500)).all()
    acted = result.changes().query("feature == 'ratio' and kind == 'action'")
    assert len(acted)
    assert (acted["holds_to"] <= 1).all()
