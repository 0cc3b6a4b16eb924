"""Solve the problem of some rows: search, make a shortlist, check it on the model itself."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from proce.explanation import done_by_hand
from proce.losses import Loss
from proce.methods.calls.last_check import ROUNDING, LastCheck, last_check
from proce.methods.calls.options import Options
from proce.methods.explaining.failing_row import NamesFailingRow
from proce.methods.explaining.shortlist import Shortlist, make_shortlist
from proce.methods.fitting.fitted import Fitted
from proce.objective import CounterfactualProblem, genome_of, initial_population
from proce.schema import Layout
from proce.search import SearchProgress, SearchResult, Stop, nsga2

_CUT_SHORT = (Stop.OUT_OF_TIME, Stop.CALLER)


@dataclass(frozen=True, eq=False)
class Frame:
    """The rows of a problem as they stand in the caller's frame.

    Attributes
    ----------
    positions
        ``(i,)``, in the frame.
    raw
        ``(i, f)``, in raw units.
    layout
        How the frame looked.
    """

    positions: Tensor
    raw: Tensor
    layout: Layout

    def take(self, instances: Tensor) -> "Frame":
        """Return some of the rows, given by position among these."""
        return Frame(self.positions[instances], self.raw[instances], self.layout)


@dataclass(frozen=True, eq=False)
class Solved:
    """What was found for the rows of a problem.

    Attributes
    ----------
    shortlist, check
        The candidates worth showing, and which of them passed the last check.
    cut_short
        ``(i,)``, whether time or the caller ended the search of a row.
    n_generations, n_evaluations
        The most generations that a row took, and the candidates of all rows together.
    """

    shortlist: Shortlist
    check: LastCheck
    cut_short: Tensor
    n_generations: int
    n_evaluations: int

    @property
    def found(self) -> Tensor:
        """Which rows have a candidate that passed, ``(i,)``."""
        found = torch.zeros_like(self.cut_short)
        found[self.shortlist.owner[self.check.passed]] = True
        return found

    def lines_to_show(self, n: int) -> Tensor:
        """Return the places in the shortlist of the first ``n`` of each row that passed."""
        return torch.nonzero(self.check.passed & (self._passed_so_far() <= n)).flatten()

    def n_dropped(self, n: int) -> Tensor:
        """Return how many candidates of each row failed before ``n`` had passed, ``(i,)``."""
        failed = ~self.check.passed & (self._passed_so_far() < n)
        return self.shortlist.owner[failed].bincount(minlength=len(self.cut_short))

    def _passed_so_far(self) -> Tensor:
        """Return how many of a row's candidates have passed up to each one, ``(n,)``."""
        owner, passed = self.shortlist.owner, self.check.passed.long()
        per_row = torch.zeros(len(self.cut_short), dtype=torch.long).index_add(0, owner, passed)
        return passed.cumsum(0) - (per_row.cumsum(0) - per_row)[owner]


def solve(
    problem: CounterfactualProblem,
    frame: Frame,
    fitted: Fitted,
    options: Options,
    budget_seconds: float | None = None,
    progress: Callable[[SearchProgress], object] | None = None,
) -> Solved:
    """Search the rows of a problem, and check the best candidates as they would be shown.

    Parameters
    ----------
    problem
        The rows, and what they may become.
    frame
        The same rows as the caller has them.
    fitted, options
        The fitted parts, and what the caller wants.
    budget_seconds
        After which the search ends; ``None`` for no such limit.
    progress
        Called after each generation; the search ends where it returns False.
    """
    result = search(problem, frame.positions, fitted, options, budget_seconds, progress)
    shortlist = make_shortlist(problem, result, options, fitted.refits)
    return Solved(
        shortlist,
        check_candidates(problem, frame, shortlist.owner, shortlist.rows, shortlist.changes),
        torch.tensor([stop in _CUT_SHORT for stop in result.stopped], dtype=torch.bool),
        int(result.n_generations.max()),
        int(result.n_evaluations.sum()),
    )


def search(
    problem: CounterfactualProblem,
    positions: Tensor,
    fitted: Fitted,
    options: Options,
    budget_seconds: float | None = None,
    progress: Callable[[SearchProgress], object] | None = None,
) -> SearchResult:
    """Run NSGA-II on a problem; errors name the ``positions (i,)`` of its rows."""
    settings, gene_map = fitted.settings, problem.gene_map
    genome = genome_of(problem.codec, problem.query.factual, problem.limits, gene_map)
    initial = initial_population(
        genome,
        problem.query,
        fitted.codec.reach,
        fitted.rows,
        gene_map,
        settings.population_size,
        fitted.seed,
        settings.start if fitted.left_out is None else "gaussian",
    )
    return nsga2(
        NamesFailingRow(problem, positions),
        genome,
        initial,
        settings,
        seed=fitted.seed,
        keys=problem.query.keys,
        archive_by=Loss.DISTANCE,
        max_evaluations=options.max_evaluations,
        budget_seconds=budget_seconds,
        progress=progress,
    )


def check_candidates(
    problem: CounterfactualProblem, frame: Frame, owner: Tensor, rows: Tensor, changes: Tensor
) -> LastCheck:
    """Check candidates ``(n, f)`` of the rows at ``owner (n,)`` as they would be shown."""
    part = problem.take(owner)  # an instance for each candidate
    return last_check(
        rows,
        factual=part.query.factual,
        raw=frame.raw[owner],
        target=part.query.target,
        codec=problem.codec,
        classifier=problem.classifier,
        layout=frame.layout,
        requirement=problem.requirement,
        rules=problem.rules,
        within_limits=lambda shown: _within_limits(part, shown, changes),
    )


def _within_limits(problem: CounterfactualProblem, rows: Tensor, changes: Tensor) -> Tensor:
    """Return flags ``(n,)``: the rows ``(n, f)``, one of each instance, obey every limit."""
    by_hand = done_by_hand(changes)
    excess = problem.limits.excess(rows[:, None], by_hand[:, None], problem.codec.reach).squeeze(1)
    allowed = (excess <= ROUNDING) & (~by_hand | problem.limits.movable).all(-1)
    unchanged = (rows == problem.query.factual) | problem.codec.missing(rows)
    allowed &= (unchanged | (changes != 0)).all(-1)  # nothing moves without being told
    if problem.max_changes is not None:
        allowed &= by_hand.sum(-1) <= problem.max_changes
    return allowed
