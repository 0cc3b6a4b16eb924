"""Solve the problem of some rows: search, make a shortlist, and check it on the model itself."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from proce.arrays import Array
from proce.errors import ProceError
from proce.explanation import done_by_hand
from proce.losses import Loss
from proce.methods.calls.last_check import LastCheck
from proce.methods.calls.options import Options
from proce.methods.fitting.fitted import FittedParts
from proce.methods.searching.attempts import FIRST, Attempt
from proce.methods.searching.chances import missing_chances
from proce.methods.searching.checking import FrameRows, check_candidates
from proce.methods.searching.failing_row import NamesFailingRow
from proce.methods.searching.scan import scan
from proce.methods.searching.shortlist import Shortlist, make_shortlist
from proce.methods.searching.solution import Solution
from proce.methods.searching.trials import Trials
from proce.objective import CounterfactualProblem, RunningProblem, initial_population
from proce.search import SearchProgress, SearchResult, Stop, nsga2


def solve(
    problem: CounterfactualProblem,
    frame_rows: FrameRows,
    fitted: FittedParts,
    options: Options,
    *,
    attempt: Attempt = FIRST,
    before: Solution | None = None,
    keep_fronts: bool = False,
    budget_seconds: float | None = None,
    progress: Callable[[SearchProgress], object] | None = None,
) -> Solution:
    """Search the rows of a problem, and check the best candidates as they would be shown.

    Parameters
    ----------
    problem
        The rows, and what they may become.
    frame_rows
        The same rows as the caller has them.
    fitted, options
        The fitted parts, and what the caller wants.
    attempt
        Which attempt at these rows it is, which says how it is made.
    before
        The solution of the attempt before, whose population the search goes on from.
    keep_fronts
        Whether the shortlist holds the whole Pareto sets too.
    budget_seconds
        The time after which the search ends; ``None`` for no such limit.
    progress
        A function that is called after each generation; the search ends where it returns False.
    """
    result, found = _search_for_shortlist(
        problem,
        frame_rows.positions,
        fitted,
        options,
        attempt,
        before,
        keep_fronts,
        budget_seconds,
        progress,
    )
    shortlist, check = _checked(problem, frame_rows, found)
    return Solution(
        shortlist,
        check,
        result.ended_by(Stop.OUT_OF_TIME, Stop.CALLER),
        result.population.genes,
        int(result.n_generations.max()),
        int(result.n_evaluations.sum()),
    )


def _search_for_shortlist(
    problem: CounterfactualProblem,
    positions: Array,
    fitted: FittedParts,
    options: Options,
    attempt: Attempt,
    before: Solution | None,
    keep_fronts: bool,
    budget_seconds: float | None,
    progress: Callable[[SearchProgress], object] | None,
) -> tuple[SearchResult, Shortlist]:
    """Search the rows of a problem where it lives, and return what is worth a last check there."""
    sparse = fitted.settings.sparse
    scans = sparse and options.max_evaluations is None and not attempt.surely
    # A search that knows the limit on changes finds other ways than one that does not: so that a
    # call without the limit is never farther, both make the same search at first.
    is_open = problem.max_changes is None or attempt.limited or not sparse
    posed = problem if is_open else replace(problem, max_changes=None)
    improved = attempt.improved(posed)
    searched = attempt.searched(posed)
    scanned = _scan(searched) if scans else []
    seeds = [_genes(problem, group) for group in scanned]
    if before is not None:
        seeds.append(before.population)
    result = search(searched, positions, fitted, options, attempt, seeds, budget_seconds, progress)
    shortlist = make_shortlist(
        posed,
        result,
        scanned,
        options,
        improved=improved,
        keep_fronts=keep_fronts,
        sparse=sparse,
        max_changes=problem.max_changes,
    )
    return result, shortlist


def solution_of(
    problem: CounterfactualProblem, frame_rows: FrameRows, shortlist: Shortlist
) -> Solution:
    """Return candidates that were found elsewhere as the solution of the rows that own them."""
    part = problem.take(shortlist.owner)  # an instance for each candidate
    by_hand = done_by_hand(shortlist.changes)[:, None]
    realised = part.realise_by_hand(shortlist.rows[:, None], by_hand)
    missing = missing_chances(part, realised, by_hand.sum(-1) > 0)[:, 0]
    shortlist, check = _checked(problem, frame_rows, replace(shortlist, missing=missing))
    check = replace(check, passed=check.passed & np.isfinite(missing))
    not_cut = np.zeros(len(frame_rows.positions), dtype=np.bool_)
    return Solution(shortlist, check, not_cut, shortlist.misses, 0, 0)


def search(
    problem: CounterfactualProblem,
    positions: Array,
    fitted: FittedParts,
    options: Options,
    attempt: Attempt = FIRST,
    seeds: Sequence[Array] = (),
    budget_seconds: float | None = None,
    progress: Callable[[SearchProgress], object] | None = None,
) -> SearchResult:
    """Run NSGA-II on a problem; errors name the ``positions (i,)`` of its rows.

    The first generation holds ``seeds``, genes ``(i, s, g)``, besides those that it draws.
    """
    settings, gene_map = attempt.settings(fitted.settings), problem.gene_map
    genome = problem.searched_genome
    seed = fitted.seed + attempt.number
    initial = initial_population(
        genome,
        problem.query,
        fitted.codec.reach,
        fitted.rows,
        gene_map,
        settings.population_size,
        seed,
        attempt.start(fitted.start),
    )
    return nsga2(
        NamesFailingRow(RunningProblem(problem), positions),
        genome,
        np.concatenate([initial, *seeds], axis=1),
        settings,
        seed=seed,
        keys=problem.query.keys,
        archive_by=Loss.DISTANCE,
        max_evaluations=options.max_evaluations,
        budget_seconds=budget_seconds,
        progress=progress,
    )


def _scan(problem: CounterfactualProblem) -> list[Trials]:
    """Scan a problem; an error says that it came before the first generation."""
    try:
        return scan(problem, problem.max_changes)
    except ProceError as error:
        error.args = (f"generation 0 of the search: {error}",)
        raise


def _genes(problem: CounterfactualProblem, trials: Trials) -> Array:
    """Return candidates as genes ``(i, c, g)``; the switch of what is done by hand is on."""
    switches = trials.by_hand[..., list(problem.gene_map.switched)]
    return np.concatenate([trials.rows, switches], axis=-1)


def _checked(
    problem: CounterfactualProblem, frame_rows: FrameRows, shortlist: Shortlist
) -> tuple[Shortlist, LastCheck]:
    """Return a shortlist as it is told, and which of its candidates passed the last check."""
    check = check_candidates(
        problem, frame_rows, shortlist.owner, shortlist.rows, shortlist.changes
    )
    return replace(shortlist, rows=check.shown.told()), check
