"""The same seed gives the same answer for a row, whatever else is in the batch."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.base import clone

from proce import CausalGraph, Dataset, ProCE
from proce.classifier import fit_network
from proce.schema import Codec
from proce.training import TrainingSettings

from ...worlds import (
    SCHEMA,
    SETTINGS,
    TINY,
    bank,
    lenient_bank,
    one,
    people,
    refused,
    without_diagnosis,
)

Lender = Callable[[str], ProCE]


def assert_same_answer(one: Any, other: Any) -> None:
    """Bit for bit: rows, changes, probabilities, losses and fronts."""
    assert one.outcome == other.outcome
    for name in ("rows", "changes", "probabilities", "losses", "factual", "expected"):
        first, second = getattr(one, name), getattr(other, name)
        if first is None or second is None:
            assert first is second
            continue
        assert np.array_equal(first, second, equal_nan=True), name
    assert one.margin_met == other.margin_met
    if one.front is not None:
        assert np.array_equal(one.front.losses, other.front.losses)


@pytest.fixture(scope="module")
def network(loan: Dataset) -> Any:
    codec = Codec.fit(loan.recourse_schema, loan.frame)
    settings = TrainingSettings(n_epochs=10)  # with fewer it approves everybody
    return fit_network(codec, loan.frame, loan.label, settings=settings, seed=0)


@pytest.fixture(scope="module", params=["hard", "soft", "off"])
def explainer_of_a_network(request: pytest.FixtureRequest, loan: Dataset, network: Any) -> ProCE:
    return ProCE(
        network,
        schema=loan.recourse_schema,
        graph=loan.truth,
        rules=loan.rules,
        causal=request.param,
        settings=SETTINGS,
    ).fit(loan.frame)


def answers(explainer: ProCE, rows: pd.DataFrame, **options: Any) -> list[Any]:
    return list(explainer.explain(rows, progress=without_diagnosis, **options))


def check_independence(explainer: ProCE, rows: pd.DataFrame, target: Any) -> None:
    batch = answers(explainer, rows, target=target)
    assert sum(map(len, batch)) > 0
    for position in (0, len(rows) - 1):
        alone = answers(explainer, rows.iloc[[position]], target=target)
        assert_same_answer(alone[0], batch[position])
    backwards = answers(explainer, rows[::-1], target=target)
    for first, second in zip(batch, reversed(backwards), strict=True):
        assert_same_answer(first, second)
    fitted = explainer.fitted_
    try:
        explainer.fitted_ = replace(fitted, settings=replace(fitted.settings, chunk_size=3))
        for first, second in zip(answers(explainer, rows, target=target), batch, strict=True):
            assert_same_answer(first, second)
    finally:
        explainer.fitted_ = fitted


@pytest.mark.parametrize("mode", ["hard", "soft", "paper", "off"])
def test_with_boosted_trees(mode: str, lender: Lender, rejected: pd.DataFrame) -> None:
    check_independence(lender(mode), rejected.head(8), 1)


def test_with_our_networks(explainer_of_a_network: ProCE, network: Any, loan: Dataset) -> None:
    predicted = network.predict(network.codec.encode(loan.frame))
    check_independence(explainer_of_a_network, loan.frame[predicted == 0].head(8), 1)


def test_with_equations_that_were_fitted_and_refitted(
    loan: Dataset, trees: Any, rejected: pd.DataFrame
) -> None:
    """Levels are drawn from the row's own noise in every refit, too."""
    graph = CausalGraph([("age", "job"), ("education", "job"), ("job", "income")])
    explainer = ProCE(
        trees, schema=loan.recourse_schema, graph=graph, settings=replace(SETTINGS, n_refits=3)
    ).fit(loan.frame)
    assert explainer.fitted_.refits is not None
    check_independence(explainer, rejected.head(6), 1)


def test_with_missing_cells() -> None:
    frame = people().astype({"savings": float, "debt": float})
    frame.loc[::5, "savings"] = None
    frame.loc[::7, "debt"] = None

    graph = [("savings", "debt")]
    explainer = ProCE(lenient_bank, schema=SCHEMA, graph=graph, settings=SETTINGS).fit(frame)
    check_independence(explainer, frame.head(8), 1)


def test_twice_the_same_fit() -> None:
    explainer = ProCE(bank, schema=SCHEMA, settings=SETTINGS, seed=11)
    rows = refused(people(), 4)
    first, second = (answers(clone(explainer).fit(people()), rows) for _ in range(2))
    assert sum(map(len, first)) > 0
    for one_answer, other in zip(first, second, strict=True):
        assert_same_answer(one_answer, other)


def test_the_global_random_state_plays_no_part() -> None:
    rows = refused(people(), 3)
    torch.manual_seed(1)
    first = answers(ProCE(bank, schema=SCHEMA, settings=TINY).fit(people()), rows)
    torch.manual_seed(2)
    state = torch.random.get_rng_state()
    second = answers(ProCE(bank, schema=SCHEMA, settings=TINY).fit(people()), rows)
    assert sum(map(len, first)) > 0
    assert torch.equal(torch.random.get_rng_state(), state)
    for one_answer, other in zip(first, second, strict=True):
        assert_same_answer(one_answer, other)


def test_another_seed_searches_elsewhere() -> None:
    rows = refused(people(), 4)
    frames = [
        ProCE(bank, schema=SCHEMA, settings=SETTINGS, seed=seed)
        .fit(people())
        .explain(rows)
        .to_frame()
        for seed in (0, 1)
    ]
    assert not frames[0].equals(frames[1])


def test_equal_rows_get_equal_answers(banker: ProCE) -> None:
    """A row's random stream depends on its values, not on its place."""
    rows = pd.concat([one(), one(debt=70), one()])
    first, _, third = answers(banker, rows)
    assert len(first)
    assert_same_answer(first, third)


def test_the_diagnosis_too_is_the_same(banker: ProCE) -> None:
    rows = refused(people(), 3)
    batch = banker.explain(rows, vary=["age"])
    assert all(item.diagnosis.blockers for item in batch)
    for position in range(3):
        alone = banker.explain(rows.iloc[[position]], vary=["age"])
        assert alone[0].diagnosis == batch[position].diagnosis
