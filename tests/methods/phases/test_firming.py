"""Ways that are close but not sure to work are led farther until they are."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from proce import Dataset, ProCE
from proce.arrays import Array
from proce.explanation.record.counterfactuals import SURE
from proce.losses import Loss

from ...worlds import SETTINGS

FREEDOM = (["income"], ["income", "job"], ["income", "job", "education", "housing", "amount"])


@pytest.fixture(scope="module")
def uncertain(loan: Dataset, trees: Any) -> ProCE:
    """An explainer that has learned its equations, and refits them."""
    settings = replace(SETTINGS, n_refits=12)
    schema, graph = loan.recourse_schema, loan.graph
    return ProCE(trees, schema, graph, settings=settings).fit(loan.frame)


@pytest.fixture(scope="module")
def answers(uncertain: ProCE, rejected: Any) -> list[Any]:
    """The answers to the same rows with more and more that may vary."""
    return [uncertain.explain(rejected, vary=vary, n=1).rows for vary in FREEDOM]


def best_sure(rows: Any) -> Array:
    """Return how far the recommended way of each row is, infinite where it is not sure."""
    ways = rows.counterfactuals
    distance = np.where(ways.confidence >= SURE, ways.losses[:, Loss.DISTANCE], np.inf)
    found = np.full(len(rows.predicted), np.inf)
    found[ways.owner] = distance
    return found


def test_who_may_do_more_need_not_go_farther(answers: list[Any]) -> None:
    """A sure way that is found with fewer features is known with more, but for its last digits."""
    less = np.stack([best_sure(rows) for rows in answers[:-1]])
    less = np.where(np.stack([rows.margin_met for rows in answers[:-1]]), less, np.inf)
    assert np.isfinite(less).sum() >= 8, "a search that finds nothing proves nothing"
    for rows, fewer in ((answers[1], less[:1]), (answers[2], less)):
        assert (best_sure(rows) <= 1.02 * fewer.min(0)).all()
