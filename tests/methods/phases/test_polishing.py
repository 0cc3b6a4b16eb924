"""Polishing draws candidates in: as near as their actions can be, and each by itself."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from proce import ProCE
from proce.methods.phases.candidates import CandidateBatch, evaluate
from proce.methods.phases.polish import polish
from proce.objective import CounterfactualProblem

from ...worlds import one
from ..conftest import neighbours, posed

Lender = Callable[[str], ProCE]


def acting(explainer: ProCE, problem: CounterfactualProblem, **values: int) -> CandidateBatch:
    """Return the candidate in which a person does this."""
    codec, rows = explainer.fitted_.codec, problem.batch.factual.copy()[:, None]
    by_hand = np.zeros_like(rows, dtype=np.bool_)
    for name, value in values.items():
        position = codec.schema.position(name)
        rows[..., position] = codec.encode_value(name, value)
        by_hand[..., position] = True
    return evaluate(problem, rows, by_hand)


def told(explainer: ProCE, trials: CandidateBatch, name: str) -> float:
    codec = explainer.fitted_.codec
    return float(codec.to_raw(trials.rows[:, 0])[0, codec.schema.position(name)])


def test_a_single_number_goes_back_to_the_first_value_that_is_enough(banker: ProCE) -> None:
    # 60% needs log-odds of 0.405: (savings - 40) / 25 - 0.75 is that from 68.9 on.
    problem = posed(banker, one())
    nearer = polish(problem, acting(banker, problem, savings=100))
    assert told(banker, nearer, "savings") == 69


def test_of_two_numbers_that_do_the_same_one_is_given_up_for_the_other(banker: ProCE) -> None:
    problem = posed(banker, one())
    far = acting(banker, problem, savings=80, debt=10)
    nearer = polish(problem, far)
    assert nearer.distance < far.distance
    moved = told(banker, nearer, "savings") - told(banker, nearer, "debt") - (20 - 40)
    assert moved == 49  # as many steps as are needed, in all


@pytest.mark.parametrize("mode", ["soft", "hard", "off"])
def test_what_is_polished_is_no_farther_and_does_not_depend_on_its_batch(
    lender: Lender, rejected: pd.DataFrame, mode: str
) -> None:
    explainer = lender(mode)
    problem, tried = neighbours(explainer, rejected)
    polished, good = polish(problem, tried), tried.is_feasible
    assert good.sum() > 10
    assert polished.is_feasible[good].all()
    assert (polished.distance < tried.distance)[good].all()
    for row in range(len(rejected)):
        only = np.array([row])
        alone = polish(problem.take(only), tried.take_rows(only))
        assert np.array_equal(alone.rows[0], polished.rows[row])
