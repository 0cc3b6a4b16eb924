"""What each action adds to the target's probability, and how often the whole holds."""

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from proce.causal import Ensemble
from proce.explanation import Change, Explanation
from proce.methods.explaining.shortlist import shortfalls
from proce.objective import CounterfactualProblem, askable


def weighed(
    problem: CounterfactualProblem, items: Sequence[Explanation], refits: Ensemble | None
) -> list[Explanation]:
    """Return the explanations of a problem's rows with ``contributions`` and ``refits``."""
    counts = [len(item) for item in items]
    if not sum(counts):
        return list(items)
    owner = torch.repeat_interleave(torch.arange(len(items)), torch.tensor(counts))
    rows = torch.cat([item.rows for item in items])
    changes = torch.cat([item.changes for item in items])
    chances = torch.cat([item.probabilities for item in items])
    part = problem.take(owner)  # an instance for each counterfactual
    added = contributions(part, rows, changes, chances)
    held = None if refits is None else _reached(part, rows, changes, refits)
    ends = torch.tensor([0, *counts]).cumsum(0).tolist()
    return [
        replace(item, contributions=added[at:to], refits=None if held is None else held[at:to])
        if len(item)
        else item
        for item, at, to in zip(items, ends[:-1], ends[1:], strict=True)
    ]


def contributions(
    problem: CounterfactualProblem, rows: Tensor, changes: Tensor, chances: Tensor
) -> Tensor:
    """Return by how much the target's probability falls when one action is taken back, ``(n, f)``.

    The other actions stay, and what follows from them alone comes about. 0 for cells that are not
    acted on.

    Parameters
    ----------
    problem
        With an instance for each row.
    rows, changes
        ``(n, f)``, counterfactuals, and what became of each cell.
    chances
        ``(n,)``, of the target.
    """
    way, cell = torch.nonzero(changes == Change.ACTION, as_tuple=True)
    acting = _by_hand(changes)[way]
    acting[torch.arange(len(way)), cell] = False
    part = problem.take(way)
    reached = torch.where(acting, rows[way], part.query.factual)
    if problem.mode in ("hard", "soft") and problem.scm is not None:
        told = problem.scm.actions(
            part.query.factual, reached[:, None], part.query.residual, acting[:, None]
        )
        reached = told.point[:, 0]
    added = torch.zeros(rows.shape, dtype=chances.dtype)
    if len(way):
        without = problem.classifier.predict_proba(askable(reached))
        own = without.gather(1, part.query.target[:, None]).squeeze(1)
        added[way, cell] = chances[way] - own.to(chances)
    return added


def _reached(
    problem: CounterfactualProblem, rows: Tensor, changes: Tensor, refits: Ensemble
) -> Tensor:
    """Return in how many refits the actions reach the decision, ``(n,)``."""
    short = shortfalls(problem, rows[:, None], _by_hand(changes)[:, None], refits)
    return torch.stack([each[:, 0] <= 0 for each in short]).sum(0)


def _by_hand(changes: Tensor) -> Tensor:
    return (changes == Change.ACTION) | (changes == Change.HOLD)
