"""Constrained domination and ranks (Deb et al. 2002).

Of two candidates the feasible one wins. Of two infeasible ones the one with the smaller violation
wins. Of two feasible ones, one dominates the other where it is at most the other in every loss
and below it in one. The paper's definition of dominance is written with >=; every objective here
is a loss. A candidate with a loss or violation that is not finite compares with nothing and would
look non-dominated, so :func:`clean` puts it behind all others first.
"""

import math

import torch
from torch import Tensor

from proce.compiled import engine
from proce.search.problem import Evaluation


def clean(evaluation: Evaluation) -> Evaluation:
    """Return losses and violation with +inf throughout where one of them was not finite."""
    if _is_finite(evaluation.losses, evaluation.violation):
        return evaluation  # nearly always so
    finite = torch.isfinite(evaluation.losses).all(-1) & torch.isfinite(evaluation.violation)
    return Evaluation(
        evaluation.losses.where(finite[..., None], torch.inf),
        evaluation.violation.where(finite, torch.inf),
    )


def _is_finite(losses: Tensor, violation: Tensor) -> bool:
    """Return whether all losses and violations are finite; False also where a sum is too large."""
    if engine.use_kernels(losses.device):
        from proce.search.kernels.survival import is_finite

        return bool(is_finite(losses.contiguous().numpy(), violation.contiguous().numpy()))
    return math.isfinite(losses.sum() + violation.sum())


def pareto_rank(losses: Tensor, violation: Tensor) -> Tensor:
    """Return the rank ``(i, m)`` of each candidate, 0 for the first front.

    Parameters
    ----------
    losses
        ``(i, m, k)``, cleaned.
    violation
        ``(i, m)``, cleaned.
    """
    feasible = violation <= 0  # (i, m)
    pairs = feasible[:, :, None] & feasible[:, None, :]
    rank = _peel_fronts(dominates(losses) & pairs, feasible)
    n_fronts = rank.amax(-1, keepdim=True) + 1  # (i, 1)
    return torch.where(feasible, rank, n_fronts + _dense_rank(violation.clamp(min=0)) - 1)


def dominates(losses: Tensor) -> Tensor:
    """Return ``(…, m, m)``: does candidate d dominate candidate c? Indexed ``[…, d, c]``.

    It does where it is at most the other in every loss ``(…, m, k)`` and below it in one.
    """
    first = losses[..., 0]
    none_above = torch.ones(*first.shape, first.shape[-1], dtype=torch.bool, device=losses.device)
    one_below = torch.zeros_like(none_above)
    for loss in losses.unbind(-1):  # (…, m)
        none_above &= loss[..., :, None] <= loss[..., None, :]
        one_below |= loss[..., :, None] < loss[..., None, :]
    return none_above & one_below


def non_dominated(losses: Tensor) -> Tensor:
    """Return flags ``(…, m)`` for the candidates that no other dominates."""
    return ~dominates(losses).any(-2)


def _peel_fronts(dominates: Tensor, feasible: Tensor) -> Tensor:
    """Return the rank of the feasible candidates, front by front; -1 for all others."""
    rank = torch.full(feasible.shape, -1, device=feasible.device)
    alive, front = feasible, 0
    while bool(alive.any()):
        dominated = (dominates & alive[:, :, None]).any(1)  # (i, m)
        rank = torch.where(alive & ~dominated, front, rank)
        alive, front = alive & dominated, front + 1
    return rank


def _dense_rank(values: Tensor) -> Tensor:
    """Return how many distinct values, of zero and the row's own, are below each value."""
    ordered, order = values.sort(dim=-1)
    start = torch.zeros_like(ordered[:, :1])
    rises = torch.diff(ordered, dim=-1, prepend=start)
    steps = (torch.nan_to_num(rises, nan=0.0) > 0).cumsum(-1)  # inf - inf is no rise
    return torch.empty_like(steps).scatter_(-1, order, steps)
