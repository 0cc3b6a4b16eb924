"""Ways that are close but not sure to work are led farther until they are."""

from dataclasses import replace
from typing import Any

import pytest
import torch

from proce import Dataset, ProCE
from proce.losses import Loss
from proce.methods.searching.chances import SURE

from ...worlds import SETTINGS

FREEDOM = (["income"], ["income", "job"], ["income", "job", "education", "housing", "amount"])


@pytest.fixture(scope="module")
def doubting(loan: Dataset, trees: Any) -> ProCE:
    """An explainer that has learned its equations, and doubts them."""
    settings = replace(SETTINGS, n_refits=12)
    schema, graph = loan.recourse_schema, loan.graph
    return ProCE(trees, schema, graph, settings=settings).fit(loan.frame)


@pytest.fixture(scope="module")
def answers(doubting: ProCE, rejected: Any) -> list[Any]:
    """The answers to the same rows with more and more that may vary."""
    return [doubting.explain(rejected, vary=vary, n=1).rows for vary in FREEDOM]


def best_sure(rows: Any) -> torch.Tensor:
    """Return how far the recommended way of each row is, infinite where it is not sure."""
    ways = rows.counterfactuals
    distance = ways.losses[:, Loss.DISTANCE].where(ways.confidence >= SURE, torch.inf)
    nothing = torch.full((len(rows.predicted),), torch.inf, dtype=torch.float64)
    return nothing.index_copy(0, ways.owner, distance)


def test_who_may_do_more_need_not_go_farther(answers: list[Any]) -> None:
    """A sure way that is found with fewer features is known with more, but for its last digits."""
    less = torch.stack([best_sure(rows) for rows in answers[:-1]])
    less = less.where(torch.stack([rows.margin_met for rows in answers[:-1]]), torch.inf)
    assert int(less.isfinite().sum()) >= 8, "a search that finds nothing proves nothing"
    for rows, fewer in ((answers[1], less[:1]), (answers[2], less)):
        assert (best_sure(rows) <= 1.02 * fewer.amin(0)).all()
