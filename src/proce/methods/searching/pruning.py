"""Take actions back until each that is left is needed.

An action is needed where the target, a rule or a limit would be missed without it, all else being
done as before and following as it does. In mode ``soft``, where all that moves counts, an action is
also needed that keeps the row near: a feature that is held, or goes less far than it would by
itself. In every round each action is taken back alone, which tells what it is worth, and then the
least worth first, more and more of them together. The closest feasible candidate with fewer actions
is kept, until no action can go.
"""

import math
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from proce.compiled.arrays import as_array
from proce.compiled.engine import use_kernels
from proce.methods.searching.trials import (
    Trials,
    adopt_closer,
    cells_at_once,
    concatenate,
    try_out,
)
from proce.objective import CounterfactualProblem

_MIN_SAVED = 1e-9  # of distance by an action that is taken back


def prune(problem: CounterfactualProblem, trials: Trials) -> Trials:
    """Return the candidates without the actions that they do not need.

    A candidate that is not feasible stays as it is.
    """
    pruned, owner = trials.each_alone()
    active = torch.nonzero(_can_lose_some(pruned)).flatten()
    while len(active):
        shortened = []
        for block in _blocks(pruned.by_hand[active]):
            some = pruned.take_rows(active[block])
            shorter = _shorter(problem.take(owner[active[block]]), some)
            if problem.mode == "soft":  # where all that moves counts, nobody may end farther
                farther = shorter.distance > some.distance
                violation = shorter.violation.masked_fill(farther, torch.inf)
                shorter = replace(shorter, violation=violation)
            pruned, better = adopt_closer(pruned, active[block], shorter, -math.inf, shorter=True)
            shortened.append(better)
        active = torch.cat(shortened)
        active = active[_can_lose_some(pruned.take_rows(active))]
    return pruned.side_by_side(len(trials.rows))


def _blocks(by_hand: Tensor) -> list[Tensor]:
    """Return the positions of candidates ``(n, 1, f)`` in blocks that are tried at once.

    All candidates of a block get as many variants as the longest has actions. Where these would be
    too many at once, long candidates and short ones stand in blocks of their own, so that a short
    one does not cost what the longest does.
    """
    n_cells = 2 * by_hand.shape[-1] * by_hand.sum(-1)[:, 0]  # of all variants of each
    most = cells_at_once(by_hand.device)
    if len(n_cells) * int(n_cells.max()) <= most:
        return [torch.arange(len(n_cells))]
    order, blocks = n_cells.argsort(descending=True, stable=True), []
    while len(order):
        size = max(1, most // int(n_cells[order[0]]))
        blocks.append(order[:size])
        order = order[size:]
    return blocks


def _can_lose_some(trials: Trials) -> Tensor:
    return (trials.is_feasible & (trials.by_hand.sum(-1) > 1))[:, 0]


def _shorter(problem: CounterfactualProblem, trials: Trials) -> Trials:
    """Try candidates ``(n, 1)`` without each action, then without more of them, as ``(n, v)``."""
    if use_kernels(trials.rows.device):
        return _shorter_compiled(problem, trials)
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
    return concatenate([single, _without(problem, trials, together[:, :, 1:])])


def _shorter_compiled(problem: CounterfactualProblem, trials: Trials) -> Trials:
    from proce.methods.searching.kernels.leaving_out import leave_out_each, leave_out_more

    rows, by_hand = as_array(trials.rows), as_array(trials.by_hand)
    shape = len(rows), int(by_hand.sum(-1).max()), rows.shape[-1]
    shorter, acts = np.empty(shape), np.empty(shape, np.bool_)
    leave_out_each(rows, by_hand, shorter, acts)
    single = try_out(problem, torch.from_numpy(shorter), torch.from_numpy(acts))
    fewer = shape[0], shape[1] - 1, shape[2]
    shorter, acts = np.empty(fewer), np.empty(fewer, np.bool_)
    leave_out_more(
        rows,
        by_hand,
        as_array(trials.prediction),
        as_array(trials.distance),
        as_array(single.prediction),
        as_array(single.distance),
        _MIN_SAVED,
        shorter,
        acts,
    )
    more = try_out(problem, torch.from_numpy(shorter), torch.from_numpy(acts))
    return concatenate([single, more])


def _without(problem: CounterfactualProblem, trials: Trials, flags: Tensor) -> Trials:
    """Try candidates ``(n, 1)`` without the actions flagged in ``(n, 1, v, f)``, as ``(n, v)``."""
    rows = trials.rows[:, :, None].expand(flags.shape).flatten(1, 2)
    by_hand = (trials.by_hand[:, :, None] & ~flags).flatten(1, 2)
    return try_out(problem, rows, by_hand)
