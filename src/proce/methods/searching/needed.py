"""The last look at what is shown: does it still hold without one of its actions?

Candidates are pruned during the search, where the model is asked about rows on the unit range. Here
every action is taken back once more and the model is asked about the very frame that a person
would get, so that what is said of the actions is true of what is shown. An action without which
the rest is less sure to work is needed too.
"""

from dataclasses import replace

import torch
from torch import Tensor

from proce.explanation import done_by_hand
from proce.losses import Loss
from proce.methods.searching.chances import missing_chances
from proce.methods.searching.shortlist import Shortlist, change_kinds
from proce.methods.searching.solution import Solution
from proce.methods.searching.solve import FrameRows, check_candidates
from proce.objective import CounterfactualProblem

_COLUMNS = ("rows", "changes", "losses", "expected", "missing")


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
    verified = torch.zeros_like(solution.check.passed)
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
    lines: Tensor,
) -> tuple[Solution, Tensor] | None:
    """Return a solution with some lines replaced, and these lines; None where all are needed."""
    shortlist, check = solution.shortlist, solution.check
    by_hand = done_by_hand(shortlist.changes[lines])
    which, positions = torch.nonzero(by_hand & (by_hand.sum(-1) > 1)[:, None], as_tuple=True)
    if not len(which):
        return None
    line, owner = lines[which], shortlist.owner[lines[which]]
    fewer = by_hand[which]
    fewer[torch.arange(len(which)), positions] = False
    part = problem.take(owner)  # an instance for each variant
    realised = part.realise_by_hand(shortlist.rows[line][:, None], fewer[:, None])
    rows, changes = realised.point[:, 0], change_kinds(realised)[:, 0]
    checked = check_candidates(problem, frame_rows, owner, rows, changes)
    can_go = checked.passed & realised.by_hand[:, 0].any(-1)
    if problem.mode == "soft":
        can_go &= part.final_distance(realised)[:, 0] <= shortlist.losses[line, Loss.DISTANCE]
    if problem.likeness is not None:  # an action that makes a row more typical is not for nothing
        told = torch.stack([shortlist.rows[line], checked.shown.told()], dim=1)
        before, after = part.typicality_loss(told).unbind(1)
        can_go &= after <= before
    missing = missing_chances(part, realised, can_go[:, None])[:, 0]
    good = torch.nonzero(can_go & (missing <= shortlist.missing[line])).flatten()
    if not len(good):
        return None
    losses = part.without_doubts().score(realised).losses[:, 0]
    distance = part.final_distance(realised)[:, 0]
    passed, probabilities = check.passed.clone(), check.probabilities.clone()
    columns = {name: getattr(shortlist, name).clone() for name in _COLUMNS}
    replaced = sorted(set(line[good].tolist()))
    for at in replaced:
        variants = good[line[good] == at]
        best = variants[distance[variants].argmin()]
        columns["rows"][at], columns["changes"][at] = rows[best], changes[best]
        columns["losses"][at] = losses[best]
        columns["expected"][at] = realised.expected[best, 0]
        columns["missing"][at] = missing[best]
        probabilities[at] = checked.probabilities[best]
        passed[at] = missing[best].isfinite() & ~_is_shown(columns["rows"], shortlist, passed, at)
    shorter = replace(
        solution,
        shortlist=replace(shortlist, **columns),
        check=replace(check, passed=passed, probabilities=probabilities),
    )
    return shorter, torch.tensor(replaced)


def _is_shown(rows: Tensor, shortlist: Shortlist, passed: Tensor, line: int) -> Tensor:
    """Return whether another line of the same row that passed says the same."""
    same = (rows.nan_to_num(nan=-9.0) == rows[line].nan_to_num(nan=-9.0)).all(-1)
    same &= passed & (shortlist.owner == shortlist.owner[line])
    same[line] = False
    return same.any()
