"""From the candidates that a search leaves to those that are worth showing.

A front also holds candidates that change more than they must and are therefore likelier or more
typical. A person is shown what remains of a candidate when every action that it does not need is
taken back. Of these, the closest that is sure to work when the equations are fitted again comes
first, or else one of those that are the likeliest to.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from proce.arrays import Array, Floats, Ints, expand
from proce.causal import Actions
from proce.explanation import Fronts, changes_of
from proce.losses import Loss
from proce.methods.calls.options import Options
from proce.methods.searching.chances import missing_chances
from proce.methods.searching.choosing import Choice, Pool, choose, find_fronts, near_limit
from proce.methods.searching.firming import firm_up
from proce.methods.searching.polishing import consolidate, polish
from proce.methods.searching.pruning import prune
from proce.methods.searching.trials import Trials, assess, concatenate
from proce.objective import CounterfactualProblem
from proce.objective.problem import are_sound
from proce.objective.terms import most_changes
from proce.search import SearchResult

_POOL_SIZE = 16  # candidates of a search that are pruned and compared
_N_POLISHED = 4  # of these that are drawn in
_TYPICAL_DISTANCE_FACTOR = 4.0  # how many times as far as the closest a typical row may be
_N_MISSES = 16  # candidates of a row with which a diagnosis begins
_N_SPARE = 4  # candidates beyond those asked for, in case some fail the last check


@dataclass(frozen=True, eq=False)
class Shortlist:
    """Candidates that are worth a last check, those of a row together, the recommended one first.

    Attributes
    ----------
    owner
        ``(n,)``, the instance that each candidate belongs to; ascending.
    rows
        ``(n, f)``, the candidates in the entries of the codec.
    changes
        ``(n, f)``, a ``Change`` for each cell.
    losses
        ``(n, 3)``; see :class:`proce.losses.Loss`.
    expected
        ``(n, f)``, where each feature would be if it were neither acted on nor held.
    missing
        ``(n,)``, what each candidate lacks until it is sure to work.
    fronts
        The whole Pareto sets of all instances, where they are kept.
    misses
        ``(i, m, g)``, the genes of the first members of each instance's population: where none is
        feasible, those that came nearest, the nearest first. They repeat where there are fewer.
    """

    owner: Array
    rows: Array
    changes: Array
    losses: Array
    expected: Array
    missing: Array
    fronts: Fronts
    misses: Array


class _Judged(NamedTuple):
    """Candidates ``(i, c)`` as a person would see them.

    Attributes
    ----------
    realised, losses
        What each comes to, and its losses.
    feasible, missing
        Which are feasible where nothing is doubted, and what each lacks until it is sure to work.
    """

    realised: Actions
    losses: Array
    feasible: Array
    missing: Array


def make_shortlist(
    problem: CounterfactualProblem,
    search: SearchResult,
    scanned: list[Trials],
    options: Options,
    *,
    keep_fronts: bool,
    improved: CounterfactualProblem,
    sparse: bool = True,
    max_changes: int | None = None,
) -> Shortlist:
    """Choose for each row what to show, and some more in case a candidate fails the last check.

    Parameters
    ----------
    problem, search
        The problem, and what a search found.
    scanned
        What a scan found, in groups by the number of actions.
    options
        What the caller wants.
    keep_fronts
        Whether the shortlist holds the whole Pareto sets too.
    improved
        The problem in which candidates are improved: with its doubts, or without.
    sparse
        Whether actions that are not needed are taken back, and candidates drawn in.
    max_changes
        The most actions and holds of a candidate, where the problem itself does not say so.
    """
    pool = assess(improved, improved.realise(nearest_candidates(search)))
    if sparse:
        pool = _improve(improved, pool, scanned)
    factor = _TYPICAL_DISTANCE_FACTOR ** (2 if problem.is_squared else 1)
    if problem.likeness is not None:
        limit = near_limit(pool.feasible_distance.min(1), factor)
        typical = improved.realise(most_typical(search, limit))
        pool = concatenate([pool, assess(improved, typical)])
    judge = _judge_with_firmer if sparse and problem.doubts else _judge
    most = most_changes(max_changes)
    realised, losses, _, missing = judge(problem, pool, most)
    order = choose(
        Pool(realised.point, realised.by_hand, losses, missing),
        Choice(
            options.pick,
            options.n + _N_SPARE,
            factor,
            problem.codec.reach,
            is_sparse=sparse,
            is_typical=problem.likeness is not None,
            only_firm=problem.asks_for_doubts,
        ),
    )
    owner, nth = np.nonzero(order >= 0)
    positions = order[owner, nth]
    return Shortlist(
        owner,
        realised.point[owner, positions],
        change_kinds(realised)[owner, positions],
        losses[owner, positions],
        realised.expected[owner, positions],
        missing[owner, positions],
        _fronts(problem, search, most) if keep_fronts else Fronts.empty(realised.point.shape[-1]),
        _nearest_misses(search),
    )


def _judge_with_firmer(problem: CounterfactualProblem, pool: Trials, most: float) -> _Judged:
    """Return what :func:`_judge` does, with closer ways added that are sure to work."""
    near = _judge(problem, pool, most)
    firm = _judge(problem, firm_up(problem, pool, near.feasible, near.missing), most)
    columns = zip(vars(near.realised).values(), vars(firm.realised).values(), strict=True)
    return _Judged(
        Actions(*(np.concatenate(column, axis=1) for column in columns)),
        np.concatenate([near.losses, firm.losses], axis=1),
        np.concatenate([near.feasible, firm.feasible], axis=1),
        np.concatenate([near.missing, firm.missing], axis=1),
    )


def _judge(problem: CounterfactualProblem, pool: Trials, most: float) -> _Judged:
    """Return candidates as a person would see them, and what each lacks to be sure.

    One that acts on more than the ``most`` features, or holds them, is not feasible.
    """
    realised = problem.realise_by_hand(pool.rows, pool.by_hand)
    scored = problem.without_doubts().score(realised)
    feasible = are_sound(scored.violation, realised.count, *np.moveaxis(scored.losses, -1, 0))
    feasible &= np.isfinite(pool.violation)  # that of copies is not
    feasible &= realised.count <= most
    missing = missing_chances(problem, realised, feasible)
    return _Judged(realised, scored.losses, feasible, missing)


def _nearest_misses(search: SearchResult) -> Array:
    """Return genes ``(i, m, g)`` of those that lack the least, the closest of equals first."""
    order = _by_lacking(search)
    order = order[:, np.arange(_N_MISSES) % order.shape[1]]
    return search.population.genes[np.arange(len(order))[:, None], order]


def _by_lacking(search: SearchResult) -> Array:
    """Return the positions ``(i, n)`` of a population from the least violation to the most."""
    population = search.population
    return np.lexsort((population.losses[..., Loss.DISTANCE], population.violation))


def _improve(problem: CounterfactualProblem, pool: Trials, scanned: list[Trials]) -> Trials:
    """Return candidates without needless actions, some of them drawn in too.

    Every candidate is improved by itself, whatever the others are.
    """
    n_scanned = sum(group.rows.shape[1] for group in scanned)
    pruned = prune(problem, concatenate([*scanned, pool.without_copies()])).without_copies()
    of_search = pruned.take_range(n_scanned, pruned.rows.shape[1])
    near = concatenate([pruned.take_range(0, n_scanned), of_search.nearest(_N_POLISHED)])
    polished = polish(problem, consolidate(problem, near))
    return concatenate([prune(problem, polished), pruned])


def nearest_candidates(search: SearchResult, size: int = _POOL_SIZE) -> Array:
    """Return genes ``(i, s, g)``: the closest feasible candidate, then others from near to far.

    Candidates repeat where fewer than ``s`` are feasible. Where none is, the result holds
    those that lack the least.
    """
    population = search.population
    distance = np.where(population.violation <= 0, population.losses[..., Loss.DISTANCE], np.inf)
    n_feasible = np.isfinite(distance).sum(1)
    order = np.argsort(distance, axis=1, kind="stable")
    order = np.where((n_feasible > 0)[:, None], order, _by_lacking(search))
    n_feasible = np.where(n_feasible > 0, n_feasible, order.shape[1])
    size = min(size, order.shape[1]) - 1
    near = expand(np.arange(size // 2), len(order), -1)
    first = np.full_like(n_feasible, size // 2)
    far = spread(first, n_feasible - 1, np.linspace(0, 1, size - size // 2))
    nth = np.minimum(np.concatenate([near, far], axis=1), n_feasible[:, None] - 1)
    kept = np.take_along_axis(order, nth, 1)
    instances = np.arange(len(order))[:, None]
    return np.concatenate(
        [search.archive.genes[:, None], population.genes[instances, kept]], axis=1
    )


def spread(first: Ints, last: Ints, shares: Floats) -> Ints:
    """Return positions ``(i, s)`` at shares ``(s,)`` of the way from first to last ``(i,)``."""
    way = shares * np.maximum(last - first, 0)[:, None]
    return (first[:, None] + way).round().astype(np.int64)


def most_typical(search: SearchResult, limit: Array) -> Array:
    """Return genes ``(i, s, g)`` of the candidates that look most like their targets.

    Candidates beyond the distance ``limit (i,)`` and infeasible ones come last.
    """
    population = search.population
    near = (population.violation <= 0) & (population.losses[..., Loss.DISTANCE] <= limit[:, None])
    order = np.where(near, population.losses[..., Loss.PROTOTYPE], np.inf)
    first = np.argsort(order, axis=1, kind="stable")[:, :_POOL_SIZE]
    return population.genes[np.arange(len(first))[:, None], first]


def change_kinds(realised: Actions) -> Array:
    """Return a ``Change`` for each cell of realised rows, ``(i, c, f)``."""
    return changes_of(realised.acted_on | realised.consequence, realised.by_hand)


def _fronts(problem: CounterfactualProblem, search: SearchResult, most: float) -> Fronts:
    """Return the feasible members of populations that no other dominates."""
    population, losses = problem.realise(search.population.genes), search.population.losses
    is_feasible = (search.population.violation <= 0) & (population.count <= most)
    flags = find_fronts(population.point, losses, is_feasible)
    owner, member = np.nonzero(flags)
    return Fronts(
        owner,
        population.point[owner, member],
        losses[owner, member],
        change_kinds(population)[owner, member],
    )
