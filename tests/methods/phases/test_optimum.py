"""ProCE beside the exact optimum on models that are additive, and that optimum beside all rows."""

import importlib.util
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from proce import ProCE, SearchSettings, load_dataset
from proce.objective import CounterfactualProblem

from ...worlds import people, refused, score
from ..conftest import posed

OPTIMUM = Path(__file__).parents[3] / "benchmarks" / "optimum.py"


def benchmark() -> Any:
    spec = importlib.util.spec_from_file_location("optimum", OPTIMUM)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def log_odds(frame: pd.DataFrame) -> Any:
    return score(frame).to_numpy()


def without_margin(explainer: ProCE) -> ProCE:
    fitted = explainer.fitted_
    explainer = ProCE(explainer.model, explainer.schema)
    explainer.fitted_ = replace(fitted, settings=replace(fitted.settings, margin=0.0))
    return explainer


def by_trying_all(problem: CounterfactualProblem) -> float:
    """The least distance of all rows of the bank's grid: savings, debt and school."""
    own = problem.batch.factual
    savings, debt, school = (
        problem.codec.schema.position(n) for n in ("savings", "debt", "school")
    )
    values = np.arange(0, 101, dtype=own.dtype)
    steps = [
        problem.codec.encode_value(name, v) for name in ("savings", "debt") for v in range(101)
    ]
    grid = np.array(steps, dtype=own.dtype).reshape(2, 101)
    best = np.inf
    for code, owed in product(range(3), range(101)):
        rows = own.repeat(len(values), axis=0)
        rows[:, savings], rows[:, debt], rows[:, school] = grid[0], grid[1, owed], code
        realised = problem.realise(rows[None])
        scored = problem.score(realised)
        distance = np.where(scored.violation[0] <= 0, scored.losses[0, :, 2], np.inf)
        best = min(best, float(distance.min()))
    return best


def test_the_programme_finds_what_trying_all_rows_finds(banker: ProCE) -> None:
    optimum, rows = benchmark().optimum, refused(people(), 4)
    for line in range(len(rows)):
        problem = posed(without_margin(banker), rows.iloc[[line]], target=1)
        best = optimum(problem, rows.iloc[[line]], log_odds)
        assert best == pytest.approx(by_trying_all(problem), abs=1e-6)


def test_the_bank_is_left_with_no_nearer_way(banker: ProCE) -> None:
    rows = refused(people(), 20)
    ratio, n_missed = benchmark().ratios(without_margin(banker), rows, log_odds)
    assert n_missed == 0
    assert len(ratio) == len(rows)
    assert ratio.min() > 1 - 1e-6
    assert ratio.mean() < 1.01


@pytest.mark.slow
def test_on_loan_the_way_is_within_3_percent_of_the_nearest() -> None:
    optimum, data = benchmark(), load_dataset("loan")
    model = optimum.fit_linear(data.frame, data.label)
    settings = SearchSettings(margin=0.0)
    explainer = ProCE(model, data.schema, causal="off", settings=settings).fit(data.frame)
    rows = data.frame[model.predict(data.frame) == 0].head(60)
    ratio, n_missed = optimum.ratios(explainer, rows, model.decision_function)
    assert n_missed == 0
    assert ratio.min() > 1 - 1e-6
    assert ratio.mean() < 1.03
