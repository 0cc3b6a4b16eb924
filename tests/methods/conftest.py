"""Fitted once for all tests; nothing here is changed by any of them."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

from proce import Dataset, ProCE, load_dataset
from proce.methods.calls.options import Options
from proce.methods.phases.candidates import CandidateBatch, evaluate
from proce.methods.pipeline import ProceCall
from proce.objective import CounterfactualProblem

from ..worlds import SCHEMA, SETTINGS, bank, people


@pytest.fixture(scope="session")
def loan() -> Dataset:
    return load_dataset("loan", n=800, seed=3)


@pytest.fixture(scope="session")
def trees(loan: Dataset) -> Any:
    """A model that answers the same whatever stands beside a row."""
    model = HistGradientBoostingClassifier(
        max_iter=25, random_state=0, categorical_features="from_dtype"
    )
    return model.fit(loan.frame, loan.label)


@pytest.fixture(scope="session")
def lender(loan: Dataset, trees: Any) -> Callable[[str], ProCE]:
    """Explainers of the loan model by causal mode, with the equations given."""

    @cache
    def fitted(mode: str) -> ProCE:
        return ProCE(
            trees,
            schema=loan.recourse_schema,
            graph=loan.truth,
            rules=loan.rules,
            causal=mode,
            settings=SETTINGS,
        ).fit(loan.frame)

    return fitted


@pytest.fixture(scope="session")
def rejected(loan: Dataset, trees: Any) -> Any:
    """Applicants whom the loan model rejects."""
    return loan.frame[trees.predict(loan.frame) == 0].head(12)


@pytest.fixture(scope="session")
def banker() -> ProCE:
    """An explainer without a graph or rules, of a function that is known."""
    return ProCE(bank, schema=SCHEMA, settings=SETTINGS).fit(people())


def posed(explainer: ProCE, rows: pd.DataFrame, **options: Any) -> CounterfactualProblem:
    """Return the search problem of rows; nothing is uncertain in it."""
    call = ProceCall(explainer.fitted_, Options(**options), rows)
    return call.spec.problem(call.batch(np.arange(len(call))))


def neighbours(
    explainer: ProCE, rows: pd.DataFrame
) -> tuple[CounterfactualProblem, CandidateBatch]:
    """Return the problem of rows, and as candidates training rows of their prototypes."""
    problem = posed(explainer, rows)
    near = np.stack([positions[:8] for positions in problem.batch.neighbours])
    candidates = explainer.fitted_.rows[near]
    by_hand = np.broadcast_to(problem.limits.movable[:, None], candidates.shape)
    return problem, evaluate(problem, candidates, by_hand)
