"""The last check: every row is decoded, sent to the model and the rules again, and measured."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from proce import CausalGraph, ProCE
from proce.arrays import Array
from proce.explanation import Change
from proce.methods.calls.options import Options
from proce.methods.phases.check import FrameRows, check_candidates
from proce.methods.pipeline import ProceCall
from proce.schema import Action, Categorical, Continuous, Schema

from ...worlds import (
    SCHEMA,
    SETTINGS,
    TINY,
    bank,
    logistic,
    one,
    people,
    refused,
    two_classes,
    without_diagnosis,
)


def passes(
    explainer: ProCE, row: pd.DataFrame, changes: dict[str, Any], margin: float = 0.0, **asked: Any
) -> bool:
    """Whether a counterfactual with these changes would be returned."""
    fitted = replace(explainer.fitted_, settings=replace(explainer.fitted_.settings, margin=margin))
    call = ProceCall(fitted, Options(**asked), row)
    rows = call.factual.copy()
    kinds = np.zeros_like(rows, dtype=np.int8)
    for name, value in changes.items():
        position = fitted.codec.schema.position(name)
        rows[0, position] = fitted.codec.encode_value(name, value)
        kinds[0, position] = Change.ACTION
    return check(call, rows, kinds)


def check(call: ProceCall, rows: Array, kinds: Array) -> bool:
    """Whether a candidate of the only row of a call passes the last check."""
    problem = call.spec.problem(call.batch(np.arange(len(call))))
    first = np.array([0])
    frame = FrameRows(first, call.raw, call.layout)
    return bool(check_candidates(problem, frame, first, rows, kinds).passed[0])


ENOUGH = {"savings": 80}


def test_a_sound_row_passes(banker: ProCE) -> None:
    assert passes(banker, one(), ENOUGH)


@pytest.mark.parametrize(
    ("changes", "asked"),
    [
        ({"savings": 30}, {}),
        ({"savings": 80, "age": 30}, {}),
        ({"savings": 80, "debt": 50}, {}),
        ({"savings": 80, "home": "owns"}, {}),
        ({"savings": 120}, {}),
        (ENOUGH, {"vary": ("debt",)}),
        (ENOUGH, {"ranges": {"savings": (0, 70)}}),
        (ENOUGH, {"ranges": {"age": (50, 60)}}),
        (ENOUGH, {"rules": ("cf.savings <= 70",)}),
        (ENOUGH, {"min_probability": 0.99}),
        ({"savings": 80, "debt": 30}, {"max_changes": 1}),
    ],
    ids=str,
)
def test_a_row_beyond_any_limit_does_not(
    banker: ProCE, changes: dict[str, Any], asked: dict[str, Any]
) -> None:
    assert not passes(banker, one(), changes, **asked)


def test_the_margin_counts_where_it_is_asked_for(banker: ProCE) -> None:
    changes = {"savings": 60}
    assert 0.5 < bank(one(**changes))[0, 1] < 0.6
    assert passes(banker, one(), changes)
    assert not passes(banker, one(), changes, margin=0.1)


def test_a_change_that_is_not_told_does_not_pass(banker: ProCE) -> None:
    call = ProceCall(banker.fitted_, Options(), one())
    rows = call.factual.copy()
    rows[0, 1] = call.fitted.codec.encode_value("savings", 80)
    assert not check(call, rows, np.zeros_like(rows, dtype=np.int8))


class FickleBank:
    """A model that refuses whomever it is asked about again, whatever it said before.

    The last check asks about all that a search has found.
    """

    def __init__(self) -> None:
        self.is_armed = False
        self.seen: set[tuple[Any, ...]] = set()

    def __call__(self, frame: pd.DataFrame) -> Any:
        answer = bank(frame)
        rows = list(frame.itertuples(index=False, name=None))
        again = np.array([self.is_armed and row in self.seen for row in rows])
        self.seen.update(rows if self.is_armed else [])
        return np.where(again[:, None], -np.sort(-answer), answer)


def test_what_fails_is_dropped_and_counted() -> None:
    fickle = FickleBank()
    explainer = ProCE(fickle, schema=SCHEMA, settings=SETTINGS).fit(people())
    honest = explainer.explain(one(), n=8)  # four that are asked for, and four to spare
    assert 4 < len(honest[0]) <= 8
    fickle.is_armed = True
    result = explainer.explain(one(), progress=without_diagnosis)
    assert result[0].outcome == "not_found"
    # What the last search found is counted, which starts elsewhere and may find others.
    assert 4 < result[0].dropped <= 8


def test_of_an_honest_model_nothing_is_dropped(banker: ProCE) -> None:
    """What is scored is what is shown: the search itself keeps to every limit."""
    result = banker.explain(
        refused(people(), 10), max_changes=2, rules=["cf.savings <= 90", "cf.age <= x.age + 9"]
    )
    assert sum(item.dropped for item in result) == 0
    assert sum(len(item) for item in result) >= 30


def test_with_equations_nothing_is_dropped_either() -> None:
    draw = np.random.default_rng(2)
    cause = draw.normal(size=400)
    frame = pd.DataFrame(
        {"a": cause, "b": 0.5 * cause + draw.normal(size=400), "c": cause + draw.normal(size=400)}
    )

    def by_a_and_c(rows: pd.DataFrame) -> Any:
        return logistic(rows["a"] + rows["c"])

    for mode in ("hard", "soft"):
        explainer = ProCE(
            by_a_and_c, graph=[("a", "b"), ("a", "c")], causal=mode, settings=SETTINGS
        ).fit(frame)
        result = explainer.explain(frame.head(20))
        assert sum(item.dropped for item in result) == 0
        assert len(result.to_frame()) > 20


def test_whole_numbers_stay_whole_where_the_frame_says_so() -> None:
    """Trained on fractions, asked about whole numbers: what is shown is what was checked."""
    training = people().astype({"savings": float, "debt": float})
    training["savings"] += 0.5
    explainer = ProCE(bank, settings=SETTINGS).fit(training)
    result = explainer.explain(refused(people(), 6))
    after = result.counterfactuals()
    assert len(after) >= 6
    assert after["savings"].dtype == people()["savings"].dtype
    assert (bank(after)[:, 1] > 0.5).all()


GRADES = Schema(
    [Continuous("effort"), Categorical("grade", ("low", "mid", "top"), action=Action.INDIRECT)]
)


def pupils() -> pd.DataFrame:
    """Return pupils whose grade follows from their effort, by a noise of their own."""
    draw = np.random.default_rng(4)
    effort = draw.uniform(0, 1, 600)
    grade = np.digitize(effort + draw.normal(0, 0.25, 600), [0.35, 0.65])
    return pd.DataFrame({"effort": effort, "grade": np.array(["low", "mid", "top"])[grade]})


def wants_the_top(rows: pd.DataFrame) -> Any:
    return two_classes(np.where(rows["grade"] == "top", 0.9, 0.1))


@pytest.fixture(scope="module")
def teacher() -> ProCE:
    settings = replace(SETTINGS, n_refits=3)
    graph = [("effort", "grade")]
    return ProCE(wants_the_top, schema=GRADES, graph=graph, settings=settings).fit(pupils())


def test_the_noise_of_a_level_is_the_same_in_a_question_as_in_an_answer(teacher: ProCE) -> None:
    rows = pupils()[pupils()["grade"] == "low"].head(12)
    frame = teacher.explain(rows, n=1, progress=without_diagnosis).to_frame()
    assert len(frame) >= 6
    for line in frame.to_dict("records"):
        told = teacher.what_if(rows.iloc[[line["row"]]], {"effort": line["effort"]})
        assert told.frame["grade"].tolist() == ["top"]
        assert told.consequences == {"grade": ("low", "top")}


def test_the_noise_of_a_level_belongs_to_the_row_and_not_to_its_place(teacher: ProCE) -> None:
    """In the equations that were fitted again, too."""
    rows = pupils()[pupils()["grade"] == "low"].head(12)

    def answers(frame: pd.DataFrame) -> list[Any]:
        return [item.rows.tolist() for item in teacher.explain(frame, progress=without_diagnosis)]

    together = answers(rows)
    assert sum(map(len, together)) >= 6
    assert [answers(rows.iloc[[row]])[0] for row in range(len(rows))] == together
    assert answers(rows[::-1])[::-1] == together


def test_graphs_that_all_agree_support_what_is_shown() -> None:
    same = CausalGraph([("effort", "grade")])
    graph = CausalGraph([("effort", "grade")], resamples=[same, same, same])
    explainer = ProCE(wants_the_top, schema=GRADES, graph=graph, settings=TINY).fit(pupils())
    rows = pupils()[pupils()["grade"] == "low"].head(12)
    result = explainer.explain(rows, n=1, progress=without_diagnosis)
    supports = [item.support.tolist() for item in result if item.support is not None]
    assert len(supports) >= 4
    assert supports == [[3]] * len(supports)


def test_what_a_search_missed_is_returned_where_the_diagnosis_finds_it() -> None:
    """The first check lets nothing pass; the search for what blocks finds a row all the same."""
    fickle = FickleBank()

    def sincere_when_diagnosed(progress: Any) -> None:
        fickle.is_armed = fickle.is_armed and progress.stage != "diagnose"

    explainer = ProCE(fickle, schema=SCHEMA, settings=TINY, rules=["cf.age <= 80"]).fit(people())
    fickle.is_armed = True
    result = explainer.explain(one(), vary=["savings"], progress=sincere_when_diagnosed)
    assert result[0].outcome == "found"
    assert result[0].diagnosis is None
    assert (bank(result.counterfactuals())[:, 1] >= 0.5).all()
    assert (result.counterfactuals()["age"] <= 80).all()
