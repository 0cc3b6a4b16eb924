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

from proce.arrays import Array, Flags, Floats
from proce.compiled.kernel import kernel
from proce.methods.searching.trials import (
    BLOCK_CELLS,
    Trials,
    adopt_closer,
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
    active = np.flatnonzero(_can_lose_some(pruned))
    while len(active):
        shortened = []
        for block in _blocks(pruned.by_hand[active]):
            some = pruned.take_rows(active[block])
            shorter = _shorter(problem.take(owner[active[block]]), some)
            if problem.mode == "soft":  # where all that moves counts, nobody may end farther
                farther = shorter.distance > some.distance
                violation = np.where(farther, np.inf, shorter.violation)
                shorter = replace(shorter, violation=violation)
            pruned, better = adopt_closer(pruned, active[block], shorter, -math.inf, shorter=True)
            shortened.append(better)
        active = np.concatenate(shortened)
        active = active[_can_lose_some(pruned.take_rows(active))]
    return pruned.side_by_side(len(trials.rows))


def _blocks(by_hand: Array) -> list[Array]:
    """Return the positions of candidates ``(n, 1, f)`` in blocks that are tried at once.

    All candidates of a block get as many variants as the longest has actions. Where these would be
    too many at once, long candidates and short ones stand in blocks of their own, so that a short
    one does not cost what the longest does.
    """
    n_cells = 2 * by_hand.shape[-1] * by_hand.sum(-1)[:, 0]  # of all variants of each
    if len(n_cells) * int(n_cells.max()) <= BLOCK_CELLS:
        return [np.arange(len(n_cells))]
    order, blocks = np.argsort(-n_cells, axis=-1, kind="stable"), []
    while len(order):
        size = max(1, BLOCK_CELLS // int(n_cells[order[0]]))
        blocks.append(order[:size])
        order = order[size:]
    return blocks


def _can_lose_some(trials: Trials) -> Array:
    return (trials.is_feasible & (trials.by_hand.sum(-1) > 1))[:, 0]


def _shorter(problem: CounterfactualProblem, trials: Trials) -> Trials:
    """Try candidates ``(n, 1)`` without each action, then without more of them, as ``(n, v)``."""
    rows, by_hand = np.ascontiguousarray(trials.rows), np.ascontiguousarray(trials.by_hand)
    shape = len(rows), int(by_hand.sum(-1).max()), rows.shape[-1]
    shorter, acts = np.empty(shape), np.empty(shape, np.bool_)
    leave_out_each(rows, by_hand, shorter, acts)
    single = try_out(problem, shorter, acts)
    fewer = shape[0], shape[1] - 1, shape[2]
    shorter, acts = np.empty(fewer), np.empty(fewer, np.bool_)
    leave_out_more(
        rows,
        by_hand,
        np.ascontiguousarray(trials.prediction),
        np.ascontiguousarray(trials.distance),
        np.ascontiguousarray(single.prediction),
        np.ascontiguousarray(single.distance),
        _MIN_SAVED,
        shorter,
        acts,
    )
    more = try_out(problem, shorter, acts)
    return concatenate([single, more])


@kernel
def leave_out_each(
    rows: Floats,  # (n, 1, f)
    by_hand: Flags,  # (n, 1, f)
    shorter: Floats,  # (n, m, f); written
    acts: Flags,  # (n, m, f); written
) -> None:
    """Write candidates without each of their actions, as many as they have."""
    n_features = rows.shape[2]
    for n in range(len(rows)):
        for v in range(shorter.shape[1]):
            number = 0
            for f in range(n_features):
                shorter[n, v, f] = rows[n, 0, f]
                acts[n, v, f] = by_hand[n, 0, f] and number != v
                number += by_hand[n, 0, f]


@kernel
def leave_out_more(
    rows: Floats,  # (n, 1, f)
    by_hand: Flags,  # (n, 1, f)
    prediction: Floats,  # (n, 1)
    distance: Floats,  # (n, 1)
    each_prediction: Floats,  # (n, m), without each action
    each_distance: Floats,  # (n, m)
    least_saved: float,
    shorter: Floats,  # (n, m - 1, f); written
    acts: Flags,  # (n, m - 1, f); written
) -> None:
    """Write candidates without the two actions that are worth least, the three, and so on."""
    n_features, n_actions = rows.shape[2], each_prediction.shape[1]
    worth, place = np.empty(n_actions), np.empty(n_actions, np.int64)
    for n in range(len(rows)):
        count = 0
        for f in range(n_features):
            count += by_hand[n, 0, f]
        for v in range(n_actions):
            lost = max(each_prediction[n, v] - prediction[n, 0], 0.0)
            own = lost / max(distance[n, 0] - each_distance[n, v], least_saved)
            worth[v] = own if v < count and own == own else np.inf
        for v in range(n_actions):  # how many come before, of equal ones the earlier
            place[v] = 0
            for w in range(n_actions):
                place[v] += worth[w] < worth[v] or (worth[w] == worth[v] and w < v)
        for v in range(n_actions - 1):
            number = 0
            for f in range(n_features):
                shorter[n, v, f] = rows[n, 0, f]
                acts[n, v, f] = by_hand[n, 0, f] and place[number] > v + 1
                number += by_hand[n, 0, f]
