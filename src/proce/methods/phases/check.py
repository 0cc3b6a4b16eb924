"""The last check of a problem's candidates, and what the search of its rows has come to."""

from dataclasses import dataclass, replace

import numpy as np

from proce.arrays import Array, with_rows
from proce.classifier import predict_shown
from proce.explanation import done_by_hand, has_moved
from proce.explanation.record.counterfactuals import count_actions
from proce.losses import Loss
from proce.methods.calls.call import LastCheck, as_shown, first_passed, last_check
from proce.methods.phases.choosing import is_better
from proce.methods.phases.shortlist import Shortlist
from proce.objective import CounterfactualProblem
from proce.objective.terms import obey_limits
from proce.schema import Layout
from proce.search import SearchResult, Stop


@dataclass(frozen=True, eq=False)
class FrameRows:
    """The rows of a problem as they stand in the caller's frame."""

    positions: Array  # (i,), the position of each row in the frame
    raw: Array  # (i, f), the rows in raw units
    layout: Layout  # how the frame looks


def check_candidates(
    problem: CounterfactualProblem,
    frame_rows: FrameRows,
    owner: Array,
    rows: Array,
    changes: Array,
) -> LastCheck:
    """Check candidates ``(n, f)`` as they would be shown; ``owner (n,)`` is the row of each."""
    factual = problem.batch.factual[owner]
    shown = as_shown(problem.codec, rows, factual, frame_rows.raw[owner], frame_rows.layout)
    allowed = obey_limits(
        problem.limits.take(owner),
        problem.codec,
        factual,
        shown.rows[:, None],
        has_moved(changes)[:, None],
        done_by_hand(changes)[:, None],
        problem.max_changes,
    )
    return last_check(
        shown,
        predict_shown(problem.classifier, shown.read),
        allowed[:, 0],
        factual=factual,
        target=problem.batch.target[owner],
        requirement=problem.requirement,
        rules=problem.rules,
    )


@dataclass(frozen=True, eq=False)
class Solution:
    """The candidates for the rows of a problem, and how the search for them ended."""

    # shortlist, check: the candidates worth showing, and which of them passed the last check
    shortlist: Shortlist
    check: LastCheck
    cut_short: Array  # (i,), whether time or the caller ended the search of a row
    population: Array  # (i, n, g), the genes that the search ended with

    def take_population(self, instances: Array) -> "Solution":
        """Return the solution whose population an attempt at some rows goes on from."""
        return replace(self, population=self.population[instances])

    @property
    def is_solved(self) -> Array:
        """Whether a row has a candidate that passed the last check, ``(i,)``."""
        is_solved = np.zeros_like(self.cut_short)
        is_solved[self.shortlist.owner[self.check.passed]] = True
        return is_solved

    @property
    def n_actions(self) -> Array:
        """How many actions and holds the recommended candidate of each row has, ``(i,)``."""
        lines, counts = self.lines_to_show(1), np.zeros_like(self.cut_short, dtype=np.int64)
        n_actions = count_actions(self.shortlist.changes[lines])
        return with_rows(counts, self.shortlist.owner[lines], n_actions)

    @property
    def distance(self) -> Array:
        """The distance of the recommended candidate of each row, infinite without one, ``(i,)``."""
        lines, losses = self.lines_to_show(1), self.shortlist.losses
        distance = np.full((len(self.cut_short),), np.inf, dtype=losses.dtype)
        return with_rows(distance, self.shortlist.owner[lines], losses[lines, Loss.DISTANCE])

    @property
    def robustness_gap(self) -> Array:
        """What each row's recommended candidate lacks until it is sure, infinite without one."""
        lines, gap = self.lines_to_show(1), self.shortlist.robustness_gap
        nothing = np.full((len(self.cut_short),), np.inf, dtype=gap.dtype)
        return with_rows(nothing, self.shortlist.owner[lines], gap[lines])

    def is_better_than(self, other: "Solution", rows: Array) -> Array:
        """Return where advice beats that of the ``rows (i,)`` of another solution."""
        theirs = other.robustness_gap[rows], other.distance[rows]
        return is_better(self.robustness_gap, self.distance, *theirs)

    def lines_to_show(self, n: int) -> Array:
        """Return the positions in the shortlist of each row's first ``n`` that passed."""
        lines, _ = first_passed(self.shortlist.owner, self.check.passed, n)
        return lines

    def n_dropped(self, n: int) -> Array:
        """Return how many candidates of each row failed before ``n`` had passed, ``(i,)``."""
        _, failed = first_passed(self.shortlist.owner, self.check.passed, n)
        return np.bincount(self.shortlist.owner[failed], minlength=len(self.cut_short))


def checked_solution(
    problem: CounterfactualProblem,
    frame_rows: FrameRows,
    shortlist: Shortlist,
    result: SearchResult,
) -> Solution:
    """Return what a search found as the solution of its rows, checked as it would be shown."""
    shortlist, check = _checked(problem, frame_rows, shortlist)
    return Solution(
        shortlist,
        check,
        result.ended_by(Stop.OUT_OF_TIME, Stop.CALLER),
        result.population.genes,
    )


def solution_of(
    problem: CounterfactualProblem, frame_rows: FrameRows, shortlist: Shortlist
) -> Solution:
    """Return candidates that were found elsewhere as the solution of the rows that own them."""
    part = problem.take(shortlist.owner)  # an instance for each candidate
    by_hand = done_by_hand(shortlist.changes)[:, None]
    realised = part.realise_by_hand(shortlist.rows[:, None], by_hand)
    gap = part.robustness_gap(realised, by_hand.sum(-1) > 0)[:, 0]
    shortlist, check = _checked(problem, frame_rows, replace(shortlist, robustness_gap=gap))
    check = replace(check, passed=check.passed & np.isfinite(gap))
    not_cut = np.zeros(len(frame_rows.positions), dtype=np.bool_)
    return Solution(shortlist, check, not_cut, shortlist.misses)


def _checked(
    problem: CounterfactualProblem, frame_rows: FrameRows, shortlist: Shortlist
) -> tuple[Shortlist, LastCheck]:
    """Return a shortlist as it is told, and which of its candidates passed the last check."""
    check = check_candidates(
        problem, frame_rows, shortlist.owner, shortlist.rows, shortlist.changes
    )
    return replace(shortlist, rows=check.shown.told()), check
