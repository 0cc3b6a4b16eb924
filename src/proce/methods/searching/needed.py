"""The last look at what is shown: does it still hold without one of its actions?

Candidates are pruned during the search, where the model is asked about rows on the unit range. Here
every action is taken back once more and the model is asked about the very frame that a person
would get, so that what is said of the actions is true of what is shown. An action without which
the rest is less sure to work is needed too.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from proce.arrays import Array, lowest_of_each, nth_of_owner, with_rows
from proce.compiled.copies import groups_of, rounded
from proce.explanation import done_by_hand
from proce.losses import Loss
from proce.methods.searching.chances import missing_chances
from proce.methods.searching.checking import FrameRows, check_candidates
from proce.methods.searching.pruning import ends_farther
from proce.methods.searching.shortlist import Shortlist, change_kinds
from proce.methods.searching.solution import Solution
from proce.objective import CounterfactualProblem


def drop_needless(
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
    which, positions = np.nonzero(by_hand & (by_hand.sum(-1) > 1)[:, None])
    if not len(which):
        return None
    line, owner = lines[which], shortlist.owner[lines[which]]
    fewer = by_hand[which]
    fewer[np.arange(len(which)), positions] = False
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
    missing = missing_chances(part, realised, can_go[:, None])[:, 0]
    good = np.flatnonzero(can_go & (missing <= shortlist.missing[line]))
    if not len(good):
        return None
    losses = part.without_doubts().score(realised).losses[:, 0]
    best = good[lowest_of_each(line[good], distance[good])]  # the closest variant
    replaced = line[best]
    new: dict[str, Array] = {
        "rows": rows[best],
        "changes": changes[best],
        "losses": losses[best],
        "expected": realised.expected[best, 0],
        "missing": missing[best],
    }
    columns: dict[str, Any] = {
        name: with_rows(getattr(shortlist, name), replaced, column) for name, column in new.items()
    }
    shortened = replace(shortlist, **columns)
    probabilities = with_rows(check.probabilities, replaced, checked.probabilities[best])
    passed = passed_when_shortened(shortlist, shortened, check.passed, replaced)
    shorter = replace(
        solution,
        shortlist=shortened,
        check=replace(check, passed=passed, probabilities=probabilities),
    )
    return shorter, replaced


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
        passed[own] = np.isfinite(after.missing[own]) & ~is_shown
    return passed
