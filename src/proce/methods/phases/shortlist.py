"""From the candidates that a search leaves to those that are worth showing.

A front also holds candidates that change more than they must and are therefore likelier or more
typical. A person is shown what remains of a candidate when every action that it does not need is
taken back. Of these, the closest that is sure to work when the equations are fitted again comes
first, or else one of those that are the likeliest to. The pick ``typical`` looks for rows that look
like their target.
"""

from dataclasses import dataclass

import numpy as np

from proce.arrays import Array, Floats, Ints, blocks, expand
from proce.causal import Actions
from proce.explanation import Fronts, changes_of
from proce.losses import Loss
from proce.methods.calls.options import Options
from proce.methods.fitting.fitted import FittedParts
from proce.methods.phases.candidates import CandidateBatch
from proce.methods.phases.choosing import Criteria, Pool, choose, find_fronts
from proce.objective import CounterfactualProblem, Likeness
from proce.objective.distance import DISTANCES
from proce.objective.problem import are_sound
from proce.search import SearchResult

NO_LOOKS = (
    "What a typical row of the target looks like could not be learned: the training rows were not"
    " saved, or hardly any of them has the class. The row nearest to the prototype of the target"
    " was picked instead."
)
TYPICAL = (
    "A typical way was asked for: it may ask for more than the decision needs, so that the row"
    " looks more like others with this decision."
)


def wants_typical(fitted: FittedParts, options: Options) -> bool:
    """Whether a search is for rows that look like their target.

    As the paper prints it, the pick is made among what a search for the prototype finds.
    """
    return options.pick == "typical" and fitted.settings.sparse and fitted.mode != "paper"


@dataclass(frozen=True, eq=False)
class TypicalRows:
    """The rows of a call that are searched for what looks like their target."""

    positions: Array  # where these rows stand in the call
    # how much candidates look like their target; None where there are no such rows
    likeness: Likeness | None = None
    required: bool = False  # whether the call asks for typical ways

    @classmethod
    def none(cls) -> "TypicalRows":
        """Return that no row is searched so."""
        return cls(np.zeros(0, dtype=np.int64))

    def has(self, rows: Array) -> Array:
        """Return which of the rows at some positions are searched so, ``(i,)``."""
        return np.isin(rows, self.positions)

    def chunks(self, rows: Array, size: int) -> list[Array]:
        """Return rows in chunks of at most a size, in each of which all are searched alike."""
        is_typical = self.has(rows)
        parts = rows[is_typical], rows[~is_typical]
        return [chunk for part in parts for chunk in blocks(part, size)]

    def likeness_of(self, chunk: Array) -> Likeness | None:
        """Return how candidates of a chunk are measured; ``None`` where it is searched as usual."""
        return self.likeness if bool(self.has(chunk).all()) else None


def learn_looks(
    fitted: FittedParts, options: Options, rows: Array, target: Array, own: Array
) -> TypicalRows:
    """Learn what classes look like, where somebody asks for it, and return the rows it serves.

    A row is served where its target and its own class have enough training rows, whatever the
    other rows of the call are.

    Shapes: target, own ``(i,)``.
    """
    served, likeness = np.zeros(len(rows), dtype=np.bool_), None
    pairs = sorted({*zip(target.tolist(), own.tolist(), strict=True)})
    required = wants_typical(fitted, options)
    for pair in pairs if required else ():
        known = fitted.likeness_of({*pair})
        if known is not None:
            likeness = known
            served |= (target == pair[0]) & (own == pair[1])
    return TypicalRows(rows[served], likeness, required)


def typical_notes(typical: TypicalRows, rows: Array, found: Array) -> list[tuple[Array, str]]:
    """Return what readers should know where a typical way is asked for, each for some rows."""
    if not typical.required:
        return []
    return [(rows[~typical.has(rows)], NO_LOOKS), (found[typical.has(found)], TYPICAL)]


POOL_SIZE = 16  # candidates of a search that are pruned and compared
TYPICAL_DISTANCE_FACTOR = 4.0  # how many times as far as the closest a typical row may be
_N_MISSES = 16  # candidates of a row with which a diagnosis begins
_N_SPARE = 4  # candidates beyond those asked for, in case some fail the last check


@dataclass(frozen=True, eq=False)
class Shortlist:
    """Candidates worth a last check, those of a row together, the recommended one first."""

    owner: Array  # (n,), the instance that each candidate belongs to; ascending
    rows: Array  # (n, f), the candidates in the entries of the codec
    changes: Array  # (n, f), a Change for each cell
    losses: Array  # (n, 3); see `proce.losses.Loss`
    expected: Array  # (n, f), where each feature would be if it were neither acted on nor held
    robustness_gap: Array  # (n,), what each candidate lacks until it is sure to work
    fronts: Fronts  # the whole Pareto sets of all instances, where they are kept
    # (i, m, g), the genes of the first members of each instance's population: where none is
    # feasible, those that came nearest, the nearest first. They repeat where there are fewer.
    misses: Array


@dataclass(frozen=True, eq=False)
class Ways:
    """Candidates ``(i, c)`` as a person would see them."""

    # realised, losses: what each comes to, and its losses
    realised: Actions
    losses: Array
    # feasible, robustness_gap: which are feasible where nothing is uncertain, and what each lacks
    # until it is sure to work
    feasible: Array
    robustness_gap: Array

    @classmethod
    def judged(cls, problem: CounterfactualProblem, pool: CandidateBatch, most: float) -> "Ways":
        """Return candidates as a person would see them; more than the ``most`` actions are none."""
        realised = problem.realise_by_hand(pool.rows, pool.by_hand)
        scored = problem.without_uncertainty().score(realised)
        feasible = are_sound(scored.violation, realised.count, *np.moveaxis(scored.losses, -1, 0))
        feasible &= np.isfinite(pool.violation)  # that of copies is not
        feasible &= realised.count <= most
        gap = problem.robustness_gap(realised, feasible)
        return cls(realised, scored.losses, feasible, gap)

    def beside(self, other: "Ways") -> "Ways":
        """Return these candidates, and behind them the others of the same rows."""
        columns = zip(vars(self.realised).values(), vars(other.realised).values(), strict=True)
        return Ways(
            Actions(*(np.concatenate(column, axis=1) for column in columns)),
            np.concatenate([self.losses, other.losses], axis=1),
            np.concatenate([self.feasible, other.feasible], axis=1),
            np.concatenate([self.robustness_gap, other.robustness_gap], axis=1),
        )


def distance_factor(problem: CounterfactualProblem) -> float:
    """Return how many times as far as the closest way a typical one may be, as losses tell it."""
    return TYPICAL_DISTANCE_FACTOR ** DISTANCES[problem.form].power


def select(
    problem: CounterfactualProblem,
    ways: Ways,
    result: SearchResult,
    options: Options,
    *,
    most: float,
    is_sparse: bool,
    keeps_fronts: bool,
) -> Shortlist:
    """Choose for each row what to show, and some more in case a candidate fails the last check."""
    realised = ways.realised
    order = choose(
        Pool(realised.point, realised.by_hand, ways.losses, ways.robustness_gap),
        options.pick,
        options.n + _N_SPARE,
        Criteria(
            distance_factor(problem),
            problem.codec.reach,
            is_sparse=is_sparse,
            is_typical=problem.likeness is not None,
            only_firm=problem.requires_robustness,
        ),
    )
    owner, nth = np.nonzero(order >= 0)
    positions = order[owner, nth]
    no_fronts = Fronts.empty(realised.point.shape[-1])
    return Shortlist(
        owner,
        realised.point[owner, positions],
        change_kinds(realised)[owner, positions],
        ways.losses[owner, positions],
        realised.expected[owner, positions],
        ways.robustness_gap[owner, positions],
        _fronts(problem, result, most) if keeps_fronts else no_fronts,
        _nearest_misses(result),
    )


def _nearest_misses(search: SearchResult) -> Array:
    """Return genes ``(i, m, g)`` of those that lack the least, the closest of equals first."""
    order = _by_lacking(search)
    order = order[:, np.arange(_N_MISSES) % order.shape[1]]
    return search.population.genes[np.arange(len(order))[:, None], order]


def _by_lacking(search: SearchResult) -> Array:
    """Return the positions ``(i, n)`` of a population from the least violation to the most."""
    population = search.population
    return np.lexsort((population.losses[..., Loss.DISTANCE], population.violation))


def nearest_candidates(search: SearchResult, size: int = POOL_SIZE) -> Array:
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
    first = np.argsort(order, axis=1, kind="stable")[:, :POOL_SIZE]
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


class NearestMisses:
    """The genes that came nearest in the first search of each row that found nothing."""

    def __init__(self, n_rows: int) -> None:
        self._line = np.full((n_rows,), -1)
        self._genes: Array | None = None

    def add(self, rows: Array, genes: Array) -> None:
        """Keep the genes ``(n, m, g)`` of rows ``(n,)`` that have none yet."""
        is_new = ~self.has(rows)
        rows, genes = rows[is_new], genes[is_new]
        if not len(rows):
            return
        known = genes[:0] if self._genes is None else self._genes
        self._line[rows] = len(known) + np.arange(len(rows))
        self._genes = np.concatenate([known, genes])

    def has(self, rows: Array) -> Array:
        """Return which of the rows ``(n,)`` were searched without success, ``(n,)``."""
        return self._line[rows] >= 0

    def genes(self, rows: Array) -> Array:
        """Return the genes ``(n, m, g)`` of rows that have some, the nearest first."""
        assert self._genes is not None, "only rows that have some are asked for"
        return self._genes[self._line[rows]]
