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

from proce.arrays import Array, Flags, Floats, Ints
from proce.methods.phases.candidates import (
    BLOCK_CELLS,
    CandidateBatch,
    adopt_closer,
    concatenate,
    evaluate,
)
from proce.objective import CounterfactualProblem

_MIN_SAVED = 1e-9  # of distance by an action that is taken back


def prune(problem: CounterfactualProblem, trials: CandidateBatch) -> CandidateBatch:
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
            farther = ends_farther(problem, shorter.distance, some.distance)
            shorter = replace(shorter, violation=np.where(farther, np.inf, shorter.violation))
            pruned, better = adopt_closer(pruned, active[block], shorter, -math.inf, shorter=True)
            shortened.append(better)
        active = np.concatenate(shortened)
        active = active[_can_lose_some(pruned.take_rows(active))]
    return pruned.side_by_side(len(trials.rows))


def ends_farther(problem: CounterfactualProblem, distance: Array, before: Array) -> Flags:
    """Return which actions must stay because nobody may end farther ``(…)`` without them.

    That is so in mode ``soft``, where all that moves counts.
    """
    return ~(distance <= before) & (problem.mode == "soft")


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


def _can_lose_some(trials: CandidateBatch) -> Array:
    return (trials.is_feasible & (trials.by_hand.sum(-1) > 1))[:, 0]


def _shorter(problem: CounterfactualProblem, trials: CandidateBatch) -> CandidateBatch:
    """Try candidates ``(n, 1)`` without each action, then without more of them, as ``(n, v)``."""
    most = int(trials.by_hand.sum(-1).max())
    order = np.argsort(~trials.by_hand[:, 0], axis=-1, kind="stable")[:, :most]
    by_hand = leave_out_each(trials.by_hand, order)
    single = evaluate(problem, np.broadcast_to(trials.rows, by_hand.shape), by_hand)
    worth = _worth_of_each(trials, single)
    worth[np.arange(most) >= trials.by_hand.sum(-1)] = np.inf  # no action of theirs
    order = np.take_along_axis(order, np.argsort(worth, axis=-1, kind="stable"), 1)
    by_hand = leave_out_more(trials.by_hand, order)
    more = evaluate(problem, np.broadcast_to(trials.rows, by_hand.shape), by_hand)
    return concatenate([single, more])


@np.errstate(all="ignore")  # a model may say that a class is impossible
def _worth_of_each(trials: CandidateBatch, single: CandidateBatch) -> Floats:
    """Return what each action is worth: what is lost without it, for the distance it costs."""
    lost = np.maximum(single.prediction - trials.prediction, 0.0)
    worth = lost / np.maximum(trials.distance - single.distance, _MIN_SAVED)
    return np.where(np.isnan(worth), np.inf, worth)


def leave_out_each(by_hand: Flags, order: Ints) -> Flags:
    """Return what is done ``(n, 1, f)`` without each of the features ``(n, m)``, ``(n, m, f)``."""
    return by_hand & (np.arange(by_hand.shape[-1]) != order[..., None])


def leave_out_more(by_hand: Flags, order: Ints) -> Flags:
    """Return what is done without the first two of the features, the first three, and so on."""
    left = np.logical_and.accumulate(leave_out_each(by_hand, order), axis=1)
    return left[:, 1:]
