"""The nearest way that a lifted limit opens: no needless changes, and likely to work."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from proce.arrays import Array
from proce.losses import Loss
from proce.methods.searching.chances import missing_chances
from proce.methods.searching.pruning import prune
from proce.methods.searching.shortlist import change_kinds, nearest_candidates, spread
from proce.methods.searching.trials import Trials, assess, concatenate, try_out
from proce.objective import CounterfactualProblem, Doubt
from proce.search import SearchResult

_POOL_SIZE = 6  # ways of an instance from which needless changes are taken back
_N_BETWEEN = 12  # values between the row's own and the way's that a freed feature is tried at
# Which ways of an instance are tried at once with the equations fitted again: more of the first.
_TRIED_AGAIN = np.linspace(0, 1, 4) ** 2
_FIRM_ROUNDS = 2


@dataclass(frozen=True, eq=False)
class OpenedWays:
    """The nearest way of each row and limit that has one when the limit is lifted, as columns.

    Attributes
    ----------
    instance
        ``(n,)``, the instance of the relaxed problem that each way belongs to.
    row, limit
        ``(n,)``, the positions of its row in the query and of its limit among those lifted.
    rows, changes, expected
        ``(n, f)``: the ways in the entries of the codec, a ``Change`` for each cell, and where
        each feature would be by itself.
    losses
        ``(n, 3)``; see :class:`proce.losses.Loss`.
    """

    instance: Array
    row: Array
    limit: Array
    rows: Array
    changes: Array
    expected: Array
    losses: Array

    @classmethod
    def none(cls, n_features: int) -> "OpenedWays":
        """Return no ways of rows with so many features."""
        nothing, rows = np.zeros(0, dtype=np.int64), np.zeros((0, n_features)).astype(np.float64)
        changes = rows.astype(np.int8)
        return cls(
            nothing,
            nothing,
            nothing,
            rows,
            changes,
            rows,
            np.zeros((0, len(Loss)), dtype=rows.dtype),
        )

    def take(self, lines: Array) -> "OpenedWays":
        """Return some of the lines, given by position."""
        return OpenedWays(*(getattr(self, name)[lines] for name in self.__dataclass_fields__))


def nearest_ways(
    problem: CounterfactualProblem,
    result: SearchResult,
    freed: Sequence[int | None],
    doubts: tuple[Doubt, ...],
    is_doubted: Array,
) -> OpenedWays:
    """Return the nearest way of each instance that has one; its row and limit are not set yet.

    Parameters
    ----------
    problem, result
        The rows with their limits lifted, and where the search ended.
    freed
        For each instance the position of the feature whose limit is lifted, if it is of one.
    doubts
        The possible worlds in which ways should work.
    is_doubted
        ``(i,)``, whether a way of an instance must be likely to work in them.
    """
    solved = np.flatnonzero(result.archive.has_feasible)
    if not len(solved):
        return OpenedWays.none(len(problem.codec.schema))
    part = problem.take(solved)
    genes = nearest_candidates(result, _POOL_SIZE)[solved]
    pool = assess(part, part.realise(genes)).without_copies()
    pruned = prune(part, pool)
    own_freed = [freed[instance] for instance in solved.tolist()]
    tried = concatenate([pool, pruned, _between(part, pruned.nearest(1), own_freed)])
    near = tried.nearest(tried.rows.shape[1])
    which = _nearest_firm(replace(part, doubts=doubts), near, is_doubted[solved])
    kept = np.flatnonzero(which >= 0)
    if not len(kept):
        return OpenedWays.none(len(problem.codec.schema))
    part, near, instances = part.take(kept), near.take_rows(kept), solved[kept]
    nearest = near.take(which[kept, None])
    realised = part.realise_by_hand(nearest.rows, nearest.by_hand)
    return OpenedWays(
        instances,
        np.zeros_like(instances),
        np.zeros_like(instances),
        realised.point[:, 0],
        change_kinds(realised)[:, 0],
        realised.expected[:, 0],
        part.score(realised).losses[:, 0],
    )


def _nearest_firm(problem: CounterfactualProblem, near: Trials, is_doubted: Array) -> Array:
    """Return the first of the ways ``(i, c)``, nearest first, that is likely to work, ``(i,)``.

    The nearest way barely reaches the decision; one farther away may do so in most worlds. A few
    are tried from near to far, then a few between the last that failed and the first that works.
    The result is -1 where none is.
    """
    is_feasible, size = near.is_feasible, near.rows.shape[1]
    works = is_feasible.sum(1)
    counts, failed = works, np.full_like(works, -1)
    for _ in range(_FIRM_ROUNDS):
        nth = spread(failed + 1, np.minimum(works, size) - 1, _TRIED_AGAIN)
        nth = np.clip(nth, 0, size - 1)
        some, acts = near.take(nth), np.take_along_axis(is_feasible, nth, 1)
        realised = problem.realise_by_hand(some.rows, some.by_hand)
        missing = missing_chances(problem, realised, acts & is_doubted[:, None])
        firm = acts & (np.isfinite(missing) | ~is_doubted[:, None])
        works = np.minimum(works, np.where(firm, nth, size).min(1))
        failed = np.maximum(failed, np.where(~firm & (nth < works[:, None]), nth, -1).max(1))
    return np.where(works < counts, works, -1)


def _between(problem: CounterfactualProblem, ways: Trials, freed: Sequence[int | None]) -> Trials:
    """Try ways ``(i, 1)`` with the freed feature between its own value and theirs."""
    share = np.arange(1, _N_BETWEEN + 1) / (_N_BETWEEN + 1)
    rows, by_hand = (np.repeat(column, _N_BETWEEN, axis=1) for column in (ways.rows, ways.by_hand))
    for instance, position in enumerate(freed):
        if position is not None:
            own, now = problem.genome.anchor[instance, position], rows[instance, 0, position]
            rows[instance, :, position] = own + (now - own) * share
    return try_out(problem, problem.genome.repair(rows, by_hand), by_hand)
