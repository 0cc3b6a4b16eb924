"""Take actions back until each that is left is needed.

An action is needed where the target, a rule or a limit would be missed without it, all else being
done as before and following as it does. In mode ``soft``, where all that moves counts, an action is
also needed that keeps the row near: a feature that is held, or goes less far than it would by
itself. In every round each action is taken back alone, which tells what it is worth, and then the
least worth first, more and more of them together. The closest feasible candidate with fewer actions
is kept, until no action can go.

During the search the model is asked about rows on the unit range. Of what is to be shown every
action is taken back once more, and the model is asked about the very frame that a person would get,
so that what is said of the actions is true of what is shown. There an action without which the rest
is less sure to work is needed too.
"""

import math
from dataclasses import replace

import numpy as np

from proce.arrays import Array, Flags, Floats, Ints, lowest_of_each, nth_of_owner, with_rows
from proce.compiled.copies import groups_of, rounded
from proce.explanation import Change, done_by_hand
from proce.explanation.record.counterfactuals import NO_RULE
from proce.losses import Loss, target_probability
from proce.methods.calls.call import obey_rules
from proce.methods.phases.candidates import (
    BLOCK_CELLS,
    CandidateBatch,
    adopt_closer,
    concatenate,
    evaluate,
)
from proce.methods.phases.check import FrameRows, Solution, check_candidates
from proce.methods.phases.shortlist import Shortlist, change_kinds
from proce.objective import CounterfactualProblem
from proce.objective.terms import obey_limits

_MIN_SAVED = 1e-9  # of distance by an action that is taken back


def prune(problem: CounterfactualProblem, trials: CandidateBatch) -> CandidateBatch:
    """Return the candidates without the actions that they do not need.

    A candidate that is not feasible stays as it is.
    """
    pruned, owner = trials.flatten()
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
    return pruned.unflatten(len(trials.rows))


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


def prune_shown(
    problem: CounterfactualProblem,
    frame_rows: FrameRows,
    solution: Solution,
    n: int,
) -> Solution:
    """Return a solution of which each row's first ``n`` candidates need all of their actions.

    A candidate that holds without an action is replaced by what is left of it, or fails the check
    where that is no advice or shown already.
    """
    verified = np.zeros_like(solution.check.passed)
    while True:
        lines = solution.lines_to_show(n)
        lines = lines[~verified[lines]]
        if not len(lines):
            return solution
        shorter = _shorten(problem, frame_rows, solution, lines)
        verified[lines] = True
        if shorter is not None:
            solution, changed = shorter
            verified[changed] = False


def _shorten(
    problem: CounterfactualProblem,
    frame_rows: FrameRows,
    solution: Solution,
    lines: Array,
) -> tuple[Solution, Array] | None:
    """Return a solution with some lines replaced, and these lines; None where all are needed."""
    shortlist, check = solution.shortlist, solution.check
    by_hand = done_by_hand(shortlist.changes[lines])
    which, _, fewer = _without_each(by_hand & (by_hand.sum(-1) > 1)[:, None])
    if not len(which):
        return None
    line, owner = lines[which], shortlist.owner[lines[which]]
    part = problem.take(owner)  # an instance for each variant
    realised = part.realise_by_hand(shortlist.rows[line][:, None], fewer[:, None])
    rows, changes = realised.point[:, 0], change_kinds(realised)[:, 0]
    checked = check_candidates(problem, frame_rows, owner, rows, changes)
    can_go = checked.passed & realised.by_hand[:, 0].any(-1)
    distance = part.final_distance(realised)[:, 0]
    can_go &= ~ends_farther(problem, distance, shortlist.losses[line, Loss.DISTANCE])
    if problem.likeness is not None:  # an action that makes a row more typical is not for nothing
        told = np.stack([shortlist.rows[line], checked.shown.told()], axis=1)
        before, after = np.moveaxis(part.typicality_loss(told), 1, 0)
        can_go &= after <= before
    gap = part.robustness_gap(realised, can_go[:, None])[:, 0]
    good = np.flatnonzero(can_go & (gap <= shortlist.robustness_gap[line]))
    if not len(good):
        return None
    losses = part.without_uncertainty().score(realised).losses[:, 0]
    best = good[lowest_of_each(line[good], distance[good])]  # the closest variant
    replaced = line[best]
    shortened = replace(
        shortlist,
        rows=with_rows(shortlist.rows, replaced, rows[best]),
        changes=with_rows(shortlist.changes, replaced, changes[best]),
        losses=with_rows(shortlist.losses, replaced, losses[best]),
        expected=with_rows(shortlist.expected, replaced, realised.expected[best, 0]),
        robustness_gap=with_rows(shortlist.robustness_gap, replaced, gap[best]),
    )
    probabilities = with_rows(check.probabilities, replaced, checked.probabilities[best])
    passed = passed_when_shortened(shortlist, shortened, check.passed, replaced)
    shorter = replace(
        solution,
        shortlist=shortened,
        check=replace(check, passed=passed, probabilities=probabilities),
    )
    return shorter, replaced


def _without_each(by_hand: Flags) -> tuple[Ints, Ints, Flags]:
    """Return the line and the feature of each cell that is done, and what is done without it."""
    line, position = np.nonzero(by_hand)
    fewer = by_hand[line]
    fewer[np.arange(len(line)), position] = False
    return line, position, fewer


def passed_when_shortened(
    before: Shortlist, after: Shortlist, passed: Array, replaced: Array
) -> Array:
    """Return which lines ``(n,)`` pass once some were replaced, those of a row one by one.

    A replaced line passes where it is advice, and where no other line of its row that passes says
    the same: the lines before it as they are now, those behind it as they were.
    """
    passed, rows = passed.copy(), before.rows.copy()
    nth = nth_of_owner(after.owner[replaced])
    for turn in range(int(nth.max()) + 1):
        own = replaced[nth == turn]  # one of each row at most
        rows[own] = after.rows[own]
        passed[own] = False
        _, same = groups_of(np.column_stack([after.owner, rounded(rows)]))
        is_shown = np.isin(same[own], same[passed])
        passed[own] = np.isfinite(after.robustness_gap[own]) & ~is_shown
    return passed


def ablate_actions(
    problem: CounterfactualProblem, rows: Array, changes: Array, probabilities: Array
) -> tuple[Array, Array]:
    """Return what each action adds to the target's probability, and the rule that asks for it.

    The first result is by how much the probability falls when one action alone is taken back: the
    other actions stay, and what follows from them comes about. It is 0 for a cell that is not acted
    on. The second is the rule that each action or hold is there for alone, by position, and -1 for
    none: the target would be reached and all limits kept without it, but the rule would be broken.

    Shapes: rows, changes ``(n, f)``, probabilities ``(n,)``.
    """
    contributions = np.zeros(rows.shape, dtype=probabilities.dtype)
    asked_by = np.full(rows.shape, NO_RULE, dtype=np.int64)
    line, position, by_hand = _without_each(done_by_hand(changes))
    if not len(line):
        return contributions, asked_by
    part = problem.take(line)  # an instance for each cell
    realised = part.realise_by_hand(rows[line][:, None], by_hand[:, None])
    broken = _first_broken(part, realised.point[:, 0])
    blamed = broken != NO_RULE
    any_blamed = bool(blamed.any())
    if any_blamed:
        moved = realised.acted_on | realised.consequence
        shown = part.batch.factual, realised.point, moved, realised.by_hand
        blamed &= obey_limits(part.limits, part.codec, *shown, part.max_changes)[:, 0]
    is_action = changes[line, position] == Change.ACTION
    asked = is_action | blamed
    point = realised.point
    if not bool(asked.all()):
        part, point = part.take(np.flatnonzero(asked)), point[asked]
        line, position, broken = line[asked], position[asked], broken[asked]
        is_action, blamed = is_action[asked], blamed[asked]
    chances, target = part.ask(point), part.batch.target
    own = target_probability(chances[:, 0], target)
    contributions[line, position] = np.where(is_action, (probabilities[line] - own), 0.0)
    if any_blamed:
        reached = problem.requirement.is_reached(chances, target)[:, 0]
        asked_by[line, position] = np.where(blamed & reached, broken, NO_RULE)
    return contributions, asked_by


def _first_broken(problem: CounterfactualProblem, rows: Array) -> Array:
    """Return the first rule that each of the rows ``(n, f)`` breaks, by position; -1 for none."""
    broken = np.full((len(rows),), NO_RULE)
    for position, rule in reversed(list(enumerate(problem.rules))):
        broken[~obey_rules([rule], problem.batch.factual, rows)] = position
    return broken
