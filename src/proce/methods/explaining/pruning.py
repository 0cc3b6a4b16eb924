"""Take actions back until each that is left is needed.

An action is needed where the target, a rule or a limit would be missed without it, all else being
done as before and following as it does. In every round each action is taken back alone, which
tells what it is worth, and then the least worth first, more and more of them together. The closest
feasible candidate with fewer actions is kept, until no action can go.
"""

import torch
from torch import Tensor

from proce.methods.explaining.trials import Trials, concatenate, try_out
from proce.objective import CounterfactualProblem

_MIN_SAVED = 1e-9  # of distance by an action that is taken back


def prune(problem: CounterfactualProblem, trials: Trials) -> Trials:
    """Return the candidates without the actions that they do not need.

    A candidate that is not feasible stays as it is.
    """
    pruned = trials
    active = torch.nonzero(_can_lose_some(trials).any(1)).flatten()
    while len(active):
        part = pruned.take_rows(active)
        shorter, found = _shorten(problem.take(active), part)
        everyone = torch.arange(len(pruned.rows))
        positions = torch.zeros_like(everyone).index_put((active,), torch.arange(len(active)))
        is_active = torch.isin(everyone, active)
        flags = is_active[:, None] & found[positions]
        pruned = shorter.take_rows(positions).where(flags, pruned)
        active = active[(found & _can_lose_some(shorter)).any(1)]
    return pruned


def _can_lose_some(trials: Trials) -> Tensor:
    return trials.is_feasible & (trials.by_hand.sum(-1) > 1)


def _shorten(problem: CounterfactualProblem, trials: Trials) -> tuple[Trials, Tensor]:
    """Return the candidates with fewer actions, and flags ``(i, c)`` where there is one."""
    by_hand, (n_rows, n_candidates, n_features) = trials.by_hand, trials.rows.shape
    most = int(by_hand.sum(-1).max())
    acted_on = by_hand.byte().argsort(dim=-1, descending=True, stable=True)[..., :most]
    alone = torch.zeros(*acted_on.shape, n_features, dtype=torch.bool)
    alone = alone.scatter(-1, acted_on[..., None], True) & by_hand[:, :, None]  # (i, c, m, f)
    single = _without(problem, trials, alone)
    shape = n_rows, n_candidates, -1
    lost = single.prediction.view(shape) - trials.prediction[..., None]
    saved = (trials.distance[..., None] - single.distance.view(shape)).clamp(min=_MIN_SAVED)
    worth = (lost.clamp(min=0) / saved).nan_to_num(nan=torch.inf)
    order = worth.masked_fill(~alone.any(-1), torch.inf).argsort(dim=-1, stable=True)
    together = alone.gather(2, order[..., None].expand_as(alone)).cumsum(2).bool()
    several = _without(problem, trials, together[:, :, 1:])
    distance = torch.cat(
        [_shorter_distance(each, trials).view(shape) for each in (single, several)], dim=2
    )
    closest, which = distance.min(-1)
    n_single = n_candidates * most
    first = torch.arange(n_candidates) * most
    of_several = n_single + torch.arange(n_candidates) * (most - 1) - most
    positions = which + torch.where(which < most, first, of_several)
    both = concatenate([single, several])
    return both.take(positions), closest.isfinite()


def _without(problem: CounterfactualProblem, trials: Trials, flags: Tensor) -> Trials:
    """Try the candidates without the actions flagged in ``(i, c, v, f)``, as ``(i, c * v)``."""
    rows = trials.rows[:, :, None].expand(flags.shape).flatten(1, 2)
    by_hand = (trials.by_hand[:, :, None] & ~flags).flatten(1, 2)
    return try_out(problem, rows, by_hand)


def _shorter_distance(variants: Trials, trials: Trials) -> Tensor:
    """Return the distance of feasible variants ``(i, c * v)`` with fewer actions, else infinity."""
    n_candidates = trials.rows.shape[1]
    count = trials.by_hand.sum(-1).repeat_interleave(variants.rows.shape[1] // n_candidates, 1)
    feasible = trials.is_feasible.repeat_interleave(variants.rows.shape[1] // n_candidates, 1)
    fewer = (variants.by_hand.sum(-1) < count) & feasible
    return variants.feasible_distance.where(fewer, torch.inf)
