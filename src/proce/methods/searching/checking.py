"""The last check of a problem's candidates: its limits, its rules, and the model itself."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from proce.compiled import engine
from proce.explanation import Change, done_by_hand
from proce.methods.calls.last_check import ROUNDING, LastCheck, as_shown, last_check
from proce.objective import CounterfactualProblem
from proce.schema import Layout


@dataclass(frozen=True, eq=False)
class FrameRows:
    """The rows of a problem as they stand in the caller's frame.

    Attributes
    ----------
    positions
        ``(i,)``, the position of each row in the frame.
    raw
        ``(i, f)``, the rows in raw units.
    layout
        How the frame looks.
    """

    positions: Tensor
    raw: Tensor
    layout: Layout


def check_candidates(
    problem: CounterfactualProblem,
    frame_rows: FrameRows,
    owner: Tensor,
    rows: Tensor,
    changes: Tensor,
) -> LastCheck:
    """Check candidates ``(n, f)`` as they would be shown; ``owner (n,)`` is the row of each."""
    factual = problem.query.factual[owner]
    shown = as_shown(problem.codec, rows, factual, frame_rows.raw[owner], frame_rows.layout)
    within = _within_limits_compiled if engine.use_kernels(rows.device) else within_limits
    return last_check(
        shown,
        within(problem, owner, shown.rows, changes),
        factual=factual,
        target=problem.query.target[owner],
        classifier=problem.classifier,
        requirement=problem.requirement,
        rules=problem.rules,
    )


def within_limits(
    problem: CounterfactualProblem, owner: Tensor, rows: Tensor, changes: Tensor
) -> Tensor:
    """Return which rows ``(n, f)``, each of the instance that owns it, obey every limit, ``(n,)``.

    Parameters
    ----------
    problem
        The search problem.
    owner
        ``(n,)``, the instance of each row.
    rows, changes
        ``(n, f)``, the rows, and what became of each cell.
    """
    factual, limits = problem.query.factual[owner], problem.limits.take(owner)
    by_hand = done_by_hand(changes)
    excess = limits.excess(rows[:, None], by_hand[:, None], problem.codec.reach).squeeze(1)
    allowed = (excess <= ROUNDING) & (~by_hand | limits.movable).all(-1)
    unchanged = (rows == factual) | problem.codec.missing(rows)
    allowed &= (unchanged | (changes != 0)).all(-1)  # no cell moves without a change that says so
    allowed &= ~(unchanged & (changes == Change.ACTION)).any(-1)  # nor is one said to that does not
    allowed &= ~(problem.avoided.cells(rows, factual) & by_hand).any(-1)
    if problem.max_changes is not None:
        allowed &= by_hand.sum(-1) <= problem.max_changes
    return allowed


def _within_limits_compiled(
    problem: CounterfactualProblem, owner: Tensor, rows: Tensor, changes: Tensor
) -> Tensor:
    """Return what :func:`within_limits` does, by a kernel."""
    from proce.methods.searching.kernels.checking import obey_limits

    limits, max_changes = problem.limits, problem.max_changes
    allowed = torch.empty(len(rows), dtype=torch.bool)
    obey_limits(
        owner.numpy(),
        rows.contiguous().numpy(),
        changes.contiguous().numpy(),
        problem.query.factual.contiguous().numpy(),
        limits.movable.contiguous().numpy(),
        limits.bounds.numpy(),
        problem.codec.reach.numpy(),
        problem.codec.is_number.numpy(),
        problem.avoided.table.numpy(),
        math.inf if max_changes is None else float(max_changes),
        ROUNDING,
        allowed.numpy(),
    )
    return allowed
