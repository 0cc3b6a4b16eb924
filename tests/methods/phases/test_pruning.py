"""Pruning takes actions back; in mode ``soft`` it never leads farther away."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from proce import ProCE
from proce.methods.phases.candidates import concatenate, evaluate
from proce.methods.phases.prune import prune

from ..conftest import neighbours

Lender = Callable[[str], ProCE]


@pytest.mark.parametrize("mode", ["soft", "hard", "off"])
def test_what_is_pruned_stays_feasible_and_has_fewer_actions(
    lender: Lender, rejected: pd.DataFrame, mode: str
) -> None:
    problem, tried = neighbours(lender(mode), rejected)
    pruned = prune(problem, tried)
    good = tried.is_feasible
    assert good.sum() > 10
    assert pruned.is_feasible[good].all()
    fewer = pruned.by_hand.sum(-1)[good] < tried.by_hand.sum(-1)[good]
    assert fewer.mean() > 0.9
    assert np.array_equal(pruned.rows[~good], tried.rows[~good])


def test_in_soft_a_hold_that_keeps_the_row_near_is_not_taken_back(
    lender: Lender, rejected: pd.DataFrame
) -> None:
    problem, tried = neighbours(lender("soft"), rejected)
    acting = prune(problem, tried)
    rows = np.where(acting.by_hand, acting.rows, problem.batch.factual[:, None])
    holding = evaluate(problem, rows, np.broadcast_to(problem.limits.movable[:, None], rows.shape))
    pruned, good = prune(problem, holding), holding.is_feasible
    assert good.sum() > 10
    assert (pruned.distance <= holding.distance)[good].all()


@pytest.mark.parametrize("mode", ["soft", "hard", "off"])
def test_candidates_are_pruned_alike_however_many_are_tried_at_once(
    lender: Lender, rejected: pd.DataFrame, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Long candidates and short ones stand in blocks of their own where they are many."""
    problem, tried = neighbours(lender(mode), rejected)
    shorter = prune(problem, tried.take_range(0, 4))
    mixed = concatenate([shorter, tried.take_range(4, 8)])
    together = prune(problem, mixed)
    for module in ("candidates", "prune"):
        monkeypatch.setattr(f"proce.methods.phases.{module}.BLOCK_CELLS", 300)
    apart = prune(problem, mixed)
    for ours, theirs in zip(apart.columns, together.columns, strict=True):
        assert np.array_equal(ours, theirs)
