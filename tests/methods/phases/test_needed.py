"""No needless action: without any one of its actions, what is shown no longer holds.

What is typical may do more, as long as each action makes it look more like its target.
"""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from proce import Dataset, Explanations, ProCE, SearchSettings, load_dataset
from proce.arrays import Array
from proce.causal import Actions
from proce.explanation import done_by_hand
from proce.explanation.record.counterfactuals import SURE
from proce.losses import Loss
from proce.methods.fitting.fitted import FittedParts
from proce.methods.phases.plan import CallSpec
from proce.methods.what_if import what_if

from ...worlds import (
    QUICK,
    SCHEMA,
    SETTINGS,
    bank,
    logistic,
    people,
    refused,
    two_classes,
    without_diagnosis,
)

Lender = Callable[[str], ProCE]
MODES = ("off", "soft", "hard", "paper")
PICKS = ("closest", "balanced", "typical", "first")


def advice(result: Explanations) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """What a person is told to do, in raw units: row, way and ``{feature: value}``, holds too."""
    frame, line = result.counterfactuals(), 0
    names = result.context.codec.schema.names
    for index, item in enumerate(result):
        for way, changes in enumerate(item.changes):
            by_hand = np.flatnonzero(done_by_hand(changes)).tolist()
            yield index, way, {names[at]: frame[names[at]].iloc[line] for at in by_hand}
            line += 1


def count_needless(
    explainer: ProCE, rows: pd.DataFrame, result: Explanations, **options: Any
) -> tuple[int, int]:
    """Take every action back alone, by ``what_if``; count those without which all still holds.

    In mode ``soft`` all that moves counts, so that holding a feature can keep a row near: there an
    action is needless only where the row is no farther without it. Nowhere is it needless where
    the rest is less sure to work when the equations are fitted again.
    """
    fitted = explainer._fitted()
    codec, n_needless, n_actions = fitted.codec, 0, 0
    plain = WithoutConsequences(explainer)
    spec = CallSpec.read(fitted, result_options(**options))
    for index, way, done in advice(result):
        row, item = rows.iloc[[index]], result[index]
        factual = codec.encode(row)
        target = item.target
        for name in done:
            n_actions += 1
            rest = {other: value for other, value in done.items() if other != name}
            if not rest:
                continue  # nothing is done, and the person has not the target
            told = (plain if fitted.mode == "paper" else explainer).what_if(row, rest)
            needed = item.needed if item.margin_met else 0.5
            reached = told.after == target and told.probabilities[target] >= needed - 1e-6
            shown = codec.encode(told.frame)
            by_hand = np.array([[[each in rest for each in codec.schema.names]]])
            nothing, ends = np.zeros_like(by_hand), shown[:, None]
            batch = spec.batch(factual, np.array([target]), codec.to_raw(factual))
            problem = spec.problem(batch).with_uncertainty(spec.uncertainty)
            tried = Actions(ends, by_hand, nothing, nothing, ends, nothing)
            _, excess = problem.terms.measured(tried)
            holds = reached and not told.broken and excess.item() <= 1e-6
            shorter = problem.realise_by_hand(ends, by_hand)
            if holds and fitted.mode == "soft":
                distance = problem.final_distance(shorter).item()
                holds = distance <= item.losses[way, Loss.DISTANCE]
            if holds and item.confidence is not None:
                gap = problem.robustness_gap(shorter, np.ones((1, 1), np.bool_)).item()
                holds = gap <= max(0.0, SURE - float(item.confidence[way]))
            n_needless += holds and not less_typical(fitted, result, index, way, shown)
    return n_needless, n_actions


def less_typical(
    fitted: FittedParts, result: Explanations, index: int, way: int, shown: Array
) -> bool:
    """Whether what is left of a way looks less like the target, where that is what counts."""
    if result.provenance.options["pick"] != "typical" or fitted.mode == "paper":
        return False
    target, own = (column[[index]] for column in (result.rows.target, result.rows.predicted))
    likeness = fitted.likeness_of({target.item(), own.item()})
    assert likeness is not None
    rows = np.stack([result[index].rows[way], shown[0]])[None]
    full, rest = likeness.loss(rows, target, own)[0].tolist()
    return rest > full


class WithoutConsequences:
    """Asks as the mode ``paper`` acts: nothing follows from anything."""

    def __init__(self, explainer: ProCE) -> None:
        self.fitted = replace(explainer._fitted(), scm=None)

    def what_if(self, row: pd.DataFrame, changes: dict[str, Any]) -> Any:
        return what_if(self.fitted, row, changes)


def result_options(**options: Any) -> Any:
    from proce.methods.calls.options import Options

    return Options(**options)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("pick", PICKS)
def test_no_action_of_any_way_is_needless_in_any_mode_and_pick(
    lender: Lender, rejected: pd.DataFrame, mode: str, pick: str
) -> None:
    explainer, rows = lender(mode), rejected.head(6)
    result = explainer.explain(rows, n=3, pick=pick, progress=without_diagnosis)
    n_needless, n_actions = count_needless(explainer, rows, result)
    assert n_actions > 6
    assert n_needless == 0


def test_working_through_causes_buys_nothing_with_a_token_move(
    loan: Dataset, trees: Any, rejected: pd.DataFrame
) -> None:
    """Where acting on effects costs more, every action is still needed for the decision."""
    settings = replace(SETTINGS, effect_weight=4.0)
    explainer = ProCE(
        trees, loan.recourse_schema, loan.truth, loan.rules, causal="hard", settings=settings
    ).fit(loan.frame)
    rows = rejected.head(6)
    result = explainer.explain(rows, n=3, progress=without_diagnosis)
    n_needless, n_actions = count_needless(explainer, rows, result)
    assert n_actions > 6
    assert n_needless == 0


def network(frame: pd.DataFrame, label: Any) -> Any:
    model = make_pipeline(StandardScaler(), MLPClassifier((16,), max_iter=60, random_state=0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # it need not be good, only a network
        return model.fit(frame, label)


def line(frame: pd.DataFrame, label: Any) -> Any:
    return make_pipeline(StandardScaler(), LogisticRegression()).fit(frame, label)


@pytest.mark.parametrize("fit", [network, line])
def test_no_action_is_needless_whatever_the_model(fit: Any) -> None:
    draw = np.random.default_rng(0)
    frame = pd.DataFrame(draw.exponential(1, (400, 8)), columns=list("abcdefgh"))
    label = (frame[["a", "b", "c"]].sum(axis=1) + draw.normal(0, 0.5, 400) > 3.5).astype(int)
    model = fit(frame, label)
    explainer = ProCE(model, settings=SETTINGS).fit(frame)
    rows = frame[model.predict(frame) == 0].head(10)
    result = explainer.explain(rows, n=3)
    n_needless, n_actions = count_needless(explainer, rows, result)
    assert n_actions >= 30
    assert n_needless == 0


def test_without_the_margin_the_decision_alone_is_what_actions_are_needed_for() -> None:
    def capped(frame: pd.DataFrame) -> Any:
        return two_classes(np.minimum(bank(frame)[:, 1], 0.55))

    explainer = ProCE(capped, schema=SCHEMA, settings=SETTINGS).fit(people())
    rows = refused(people(), 6)
    result = explainer.explain(rows, n=3)
    assert not any(item.margin_met for item in result)
    n_needless, n_actions = count_needless(explainer, rows, result)
    assert n_actions >= 18
    assert n_needless == 0


@settings(max_examples=15, deadline=None)
@given(
    weights=st.lists(st.floats(-3, 3), min_size=5, max_size=5),
    seed=st.integers(0, 5),
    max_changes=st.sampled_from([None, 2, 4]),
)
def test_needless_actions_are_found_in_no_linear_world(
    weights: list[float], seed: int, max_changes: int | None
) -> None:
    frame = pd.DataFrame(np.random.default_rng(seed).uniform(0, 1, (120, 5)), columns=list("abcde"))

    def model(rows: pd.DataFrame) -> Any:
        return logistic(4 * (rows.to_numpy() @ np.array(weights) - 0.5))

    rows = frame[model(frame)[:, 1] < 0.5].head(3)
    if not len(rows) or len(rows) == len(frame) or not (model(frame)[:, 1] >= 0.5).any():
        return
    tiny = SearchSettings(population_size=20, n_offspring=20, n_generations=10, autoencoder=QUICK)
    explainer = ProCE(model, settings=tiny).fit(frame)
    options = {"n": 2, "max_changes": max_changes}
    result = explainer.explain(rows, progress=without_diagnosis, **options)
    assert count_needless(explainer, rows, result, max_changes=max_changes)[0] == 0


@pytest.mark.parametrize("mode", MODES)
def test_a_limit_on_changes_never_finds_a_closer_way(
    lender: Lender, rejected: pd.DataFrame, mode: str
) -> None:
    options = {"n": 1, "progress": without_diagnosis}
    free = lender(mode).explain(rejected, **options)
    n_compared = 0
    for max_changes in (1, 2, 3):
        limited = lender(mode).explain(rejected, max_changes=max_changes, **options)
        for ours, theirs in zip(free, limited, strict=True):
            if len(theirs) and ours.margin_met == theirs.margin_met:
                n_compared += 1
                is_shakier = ours.confidence is not None and theirs.confidence[0] < min(
                    SURE, ours.confidence[0].item()
                )
                assert is_shakier or ours.losses[0, 2] <= theirs.losses[0, 2] + 1e-12
    assert n_compared > 5


def wide(n: int = 1500) -> tuple[pd.DataFrame, Any]:
    """Return 120 columns of which 5 matter."""
    draw = np.random.default_rng(0)
    frame = pd.DataFrame(draw.normal(0, 1, (n, 120)), columns=[f"c{at:03d}" for at in range(120)])
    score = 1.2 * frame[[f"c{at:03d}" for at in range(0, 100, 20)]].sum(axis=1)
    return frame, (draw.uniform(0, 1, n) < 1 / (1 + np.exp(-score))).astype(int)


def test_of_120_columns_of_which_5_matter_at_most_6_change() -> None:
    frame, label = wide()
    model = line(frame, label)
    explainer = ProCE(model, settings=SearchSettings(autoencoder=QUICK)).fit(frame)
    rows = frame[model.predict(frame) == 0].head(6)
    result = explainer.explain(rows, n=2)
    for item in result:
        assert len(item) == 2
        assert ((item.rows != item.factual).sum(-1) <= 6).all()
    assert count_needless(explainer, rows, result)[0] == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["credit_card", "german_credit"])
def test_on_real_data_no_action_is_needless_and_no_limit_finds_a_closer_way(name: str) -> None:
    from sklearn.ensemble import HistGradientBoostingClassifier

    data: Dataset = load_dataset(name)
    frame = data.frame.head(4000)
    model = HistGradientBoostingClassifier(
        max_iter=60, random_state=0, categorical_features="from_dtype"
    ).fit(frame, data.label[: len(frame)])
    explainer = ProCE(model, schema=data.recourse_schema, rules=data.rules).fit(frame)
    rows = frame[model.predict(frame) == 1].head(40)
    result = explainer.explain(rows, n=3, progress=without_diagnosis)
    assert count_needless(explainer, rows, result)[0] == 0
    for max_changes in (1, 2, 3):
        limited = explainer.explain(rows, n=1, max_changes=max_changes, progress=without_diagnosis)
        for ours, theirs in zip(result, limited, strict=True):
            if len(theirs) and ours.margin_met == theirs.margin_met:
                assert ours.losses[0, 2] <= theirs.losses[0, 2] + 1e-12
