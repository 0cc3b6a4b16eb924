"""The nearest way that a lifted limit opens: no needless changes, and likely to work."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from proce.arrays import Array, expand, flatten
from proce.losses import Loss
from proce.methods.diagnosing.relaxed_problem import RelaxedProblem
from proce.methods.searching.chances import missing_chances
from proce.methods.searching.shortlist import change_kinds
from proce.objective import Doubt
from proce.search import SearchResult
from proce.search.survival import Candidates, Population

_POOL_SIZE = 4  # ways of an instance from which needless changes are taken back
_PRUNING_ROUNDS = 2
_N_BETWEEN = 12  # values between the row's own and the way's that a freed feature is tried at
_N_TRIED_AGAIN = 4  # ways of an instance that are tried at once with the equations fitted again
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
    problem: RelaxedProblem,
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
        return OpenedWays.none(len(problem.problem.codec.schema))
    part, everyone = problem.take(solved), np.arange(len(solved))
    genes, counts = _in_order(result.population.take(solved))
    pool = _near_to_far(genes, counts, _POOL_SIZE)
    pool[:, 0] = result.archive.genes[solved]
    pruned = _pruned(part, pool)
    own_freed = [freed[instance] for instance in solved.tolist()]
    more = np.concatenate([pool, pruned, _between(part, pruned[:, 0], own_freed)], axis=1)
    evaluation = part(more, everyone)
    genes, counts = _in_order(Candidates(more, evaluation.losses, evaluation.violation))
    which = _nearest_firm(part, genes, counts, doubts, is_doubted[solved])
    kept = np.flatnonzero(which >= 0)
    part = part.take(kept)
    realised = part.problem.realise(genes[kept, which[kept]][:, None])
    instances = solved[kept]
    return OpenedWays(
        instances,
        np.zeros_like(instances),
        np.zeros_like(instances),
        realised.point[:, 0],
        change_kinds(realised)[:, 0],
        realised.expected[:, 0],
        part.score(realised).losses[:, 0]
        if len(kept)
        else np.zeros((0, len(Loss)), dtype=realised.point.dtype),
    )


def _in_order(candidates: Candidates | Population) -> tuple[Array, Array]:
    """Return genes ``(i, c, g)`` by distance, those that are feasible first, and how many are."""
    distance = np.where(candidates.violation <= 0, candidates.losses[..., Loss.DISTANCE], np.inf)
    order = np.argsort(distance, axis=1, kind="stable")
    genes = candidates.genes[np.arange(len(order))[:, None], order]
    return genes, np.isfinite(distance).sum(1)


def _near_to_far(genes: Array, counts: Array, size: int) -> Array:
    """Return ``size`` of the first ``counts (i,)`` genes, more of the near ones."""
    nth = _spread(np.zeros_like(counts), counts - 1, size)
    return genes[np.arange(len(genes))[:, None], nth]


def _spread(first: Array, last: Array, size: int) -> Array:
    """Return positions ``(i, size)`` from first to last ``(i,)``, more of the first ones."""
    steps = np.linspace(0, 1, size) ** 2
    return first[:, None] + (steps * np.maximum((last - first), 0)[:, None]).round().astype(
        np.int64
    )


def _nearest_firm(
    problem: RelaxedProblem,
    genes: Array,
    counts: Array,
    doubts: tuple[Doubt, ...],
    is_doubted: Array,
) -> Array:
    """Return the first of the genes ``(i, c, g)`` that is likely to work; -1 for none, ``(i,)``.

    The nearest way barely reaches the decision; one farther away may do so in most worlds. A few
    are tried from near to far, then a few between the last that failed and the first that works.
    """
    everyone, doubted = np.arange(len(genes)), replace(problem.problem, doubts=doubts)
    failed, works = np.full_like(counts, -1), counts.copy()
    for _ in range(_FIRM_ROUNDS):
        nth = _spread(failed + 1, np.minimum(works, genes.shape[1]) - 1, _N_TRIED_AGAIN)
        nth = np.clip(nth, 0, genes.shape[1] - 1)
        realised = problem.problem.realise(genes[everyone[:, None], nth])
        acts = (realised.count > 0) & (nth < counts[:, None])
        missing = missing_chances(doubted, realised, acts & is_doubted[:, None])
        firm = acts & (np.isfinite(missing) | ~is_doubted[:, None])
        works = np.minimum(works, np.where(firm, nth, genes.shape[1]).min(1))
        failed = np.maximum(failed, np.where(~firm & (nth < works[:, None]), nth, -1).max(1))
    return np.where(works < counts, works, -1)


def _feasible_distance(problem: RelaxedProblem, genes: Array) -> Array:
    evaluation = problem(genes, np.arange(len(genes)))
    return np.where(evaluation.violation <= 0, evaluation.losses[..., Loss.DISTANCE], np.inf)


def _pruned(problem: RelaxedProblem, genes: Array) -> Array:
    """Take changes back one by one, as long as a way stays one and gets nearer."""
    anchor, switch_of = problem.genome.anchor, problem.problem.gene_map.switch_of
    best = _feasible_distance(problem, genes)
    for _ in range(_PRUNING_ROUNDS):
        changed = (genes != anchor[:, None])[..., : problem.problem.gene_map.n_features]
        positions = np.flatnonzero(flatten(changed, 0, 1).any(0)).tolist()
        if not positions:
            break
        variants = np.tile(genes[:, :, None], (1, 1, len(positions), 1))
        for variant, position in enumerate(positions):
            variants[:, :, variant, position] = anchor[:, None, position]
            if position in switch_of:
                variants[:, :, variant, switch_of[position]] = 0.0
        genes, best, improved = _best_variant(problem, genes, best, variants)
        if not improved:
            break
    return genes


def _between(problem: RelaxedProblem, genes: Array, freed: Sequence[int | None]) -> Array:
    """Return genes ``(i, g)`` with the freed feature between its own value and theirs, as more."""
    share = np.arange(1, _N_BETWEEN + 1, dtype=genes.dtype) / (_N_BETWEEN + 1)
    variants = np.tile(genes[:, None], (1, _N_BETWEEN, 1))
    for instance, position in enumerate(freed):
        if position is not None:
            own, now = problem.genome.anchor[instance, position], genes[instance, position]
            variants[instance, :, position] = own + (now - own) * share
    return problem.genome.repair(variants)


def _best_variant(
    problem: RelaxedProblem, genes: Array, best: Array, variants: Array
) -> tuple[Array, Array, bool]:
    """Return genes ``(i, s, g)`` replaced by the nearest of their variants ``(i, s, v, g)``."""
    values = _feasible_distance(problem, flatten(variants, 1, 2)).reshape(variants.shape[:-1])
    which = values.argmin(-1)
    closest = np.take_along_axis(values, which[..., None], -1).squeeze(-1)
    better = closest < best - 1e-9
    winner = expand(which[..., None, None], -1, -1, 1, genes.shape[-1])
    genes = np.where(better[..., None], np.take_along_axis(variants, winner, 2).squeeze(2), genes)
    return genes, np.where(better, closest, best), bool(better.any())
