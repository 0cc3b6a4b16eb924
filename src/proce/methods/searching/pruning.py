"""Take actions back until each that is left is needed.

An action is needed where the target, a rule or a limit would be missed without it, all else being
done as before and following as it does. In mode ``soft``, where all that moves counts, an action is
also needed that keeps the row near: a feature that is held, or goes less far than it would by
itself. In every round each action is taken back alone, which tells what it is worth, and then the
least worth first, more and more of them together. The closest feasible candidate with fewer actions
is kept, until no action can go.
"""

import torch
from torch import Tensor

from proce.methods.searching.trials import Trials, concatenate, try_out
from proce.objective import CounterfactualProblem

_MIN_SAVED = 1e-9  # of distance by an action that is taken back


def prune(problem: CounterfactualProblem, trials: Trials) -> Trials:
    """Return the candidates without the actions that they do not need.

    A candidate that is not feasible stays as it is.
    """
    pruned, owner = trials.each_alone()
    active = torch.nonzero(_can_lose_some(pruned)).flatten()
    while len(active):
        shorter, found = _shorten(problem.take(owner[active]), pruned.take_rows(active))
        active, shorter = active[found], shorter.take_rows(torch.nonzero(found).flatten())
        pruned = pruned.with_rows(active, shorter)
        active = active[_can_lose_some(shorter)]
    return pruned.side_by_side(len(trials.rows))


def _can_lose_some(trials: Trials) -> Tensor:
    return (trials.is_feasible & (trials.by_hand.sum(-1) > 1))[:, 0]


def _shorten(problem: CounterfactualProblem, trials: Trials) -> tuple[Trials, Tensor]:
    """Return candidates ``(n, 1)`` with fewer actions, and flags ``(n,)`` where there is one."""
    by_hand, n_features = trials.by_hand, trials.rows.shape[-1]
    most = int(by_hand.sum(-1).max())
    acted_on = by_hand.byte().argsort(dim=-1, descending=True, stable=True)[..., :most]
    alone = torch.zeros(*acted_on.shape, n_features, dtype=torch.bool)
    alone = alone.scatter(-1, acted_on[..., None], True) & by_hand[:, :, None]  # (i, c, m, f)
    single = _without(problem, trials, alone)
    lost = single.prediction - trials.prediction
    saved = (trials.distance - single.distance).clamp(min=_MIN_SAVED)
    worth = (lost.clamp(min=0) / saved).nan_to_num(nan=torch.inf)
    worth = worth.masked_fill(~alone.any(-1)[:, 0], torch.inf)
    order = worth.argsort(dim=-1, stable=True)[:, None]
    together = alone.gather(2, order[..., None].expand_as(alone)).cumsum(2).bool()
    both = concatenate([single, _without(problem, trials, together[:, :, 1:])])
    fewer = both.by_hand.sum(-1) < by_hand.sum(-1)
    if problem.mode == "soft":
        fewer &= both.distance <= trials.distance
    closest, which = both.feasible_distance.where(fewer, torch.inf).min(-1)
    return both.take(which[:, None]), closest.isfinite()


def _without(problem: CounterfactualProblem, trials: Trials, flags: Tensor) -> Trials:
    """Try candidates ``(n, 1)`` without the actions flagged in ``(n, 1, v, f)``, as ``(n, v)``."""
    rows = trials.rows[:, :, None].expand(flags.shape).flatten(1, 2)
    by_hand = (trials.by_hand[:, :, None] & ~flags).flatten(1, 2)
    return try_out(problem, rows, by_hand)
