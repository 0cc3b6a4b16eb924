"""Which candidates survive: fronts by rank, the one that does not fit cut by crowding.

Ties are broken by position.
"""

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np

from proce.arrays import Flags, Floats, Ints
from proce.compiled.kernel import kernel, part
from proce.compiled.stream import Words, hash_row
from proce.search.crowding import deb_crowding, nearest_crowding
from proce.search.pareto import (
    UNRANKED,
    objective_orders,
    rank_feasible,
    rank_infeasible,
    sort,
)
from proce.search.settings import Crowding


class Candidates(NamedTuple):
    """Genes with their losses and their violation.

    Attributes
    ----------
    genes
        ``(i, c, g)``.
    losses
        ``(i, c, k)``, cleaned.
    violation
        ``(i, c)``, cleaned.
    """

    genes: Floats
    losses: Floats
    violation: Floats


class Population(NamedTuple):
    """The surviving candidates, sorted by rank and falling crowding.

    Of two positions the smaller is the better candidate. Copies of the same genes have losses
    and a violation of +inf, all but one.

    Attributes
    ----------
    genes, losses, violation
        As :class:`Candidates` has them.
    rank
        ``(i, c)``, 0 for the first front.
    """

    genes: Floats
    losses: Floats
    violation: Floats
    rank: Ints

    @property
    def front(self) -> Flags:
        """Which candidates ``(i, c)`` are feasible and not dominated."""
        return (self.rank == 0) & (self.violation <= 0)

    def take(self, instances: Ints) -> Self:
        """Return the populations of some of the instances, given by position."""
        return self._replace(
            genes=self.genes[instances],
            losses=self.losses[instances],
            violation=self.violation[instances],
            rank=self.rank[instances],
        )


def survive(groups: Sequence[Candidates | Population], size: int, crowding: Crowding) -> Population:
    """Return the best ``size`` candidates of one or two groups, or all where there are fewer.

    A later copy of the same genes gets losses and a violation of +inf, so that it survives only
    where nothing else is left; replacing it would cost an evaluation.
    """
    assert len(groups) in (1, 2)
    first = Candidates(*groups[0][:3])
    second = Candidates(*(groups[1][:3] if len(groups) > 1 else (c[:, :0].copy() for c in first)))
    (i, n, g), k = first.genes.shape, first.losses.shape[2]
    size = min(size, n + second.violation.shape[1])
    survivors = Population(
        np.empty((i, size, g)),
        np.empty((i, size, k)),
        np.empty((i, size)),
        np.empty((i, size), np.int64),
    )
    keep_survivors(first, second, crowding == "deb", survivors)
    return survivors


@kernel
def keep_survivors(old: Candidates, new: Candidates, is_deb: bool, survivors: Population) -> None:
    """Write the best of two groups of candidates, instance by instance.

    The pool of one instance stays in the cache from the first step to the last.
    """
    n_instances, n, g = old.genes.shape
    k, m, size = old.losses.shape[2], n + new.genes.shape[1], survivors.rank.shape[1]
    pool_genes, pool_losses = np.empty((1, m, g)), np.empty((1, m, k))
    pool_violation, crowding = np.empty((1, m)), np.empty((1, m))
    order, below = np.empty((1, k, m), np.int64), np.empty((1, k, m), np.int64)
    rank = np.empty((1, m), np.int64)
    for i in range(n_instances):
        for c in range(m):
            is_new, d = c >= n, c - n if c >= n else c
            pool_violation[0, c] = new.violation[i, d] if is_new else old.violation[i, d]
            for o in range(k):
                pool_losses[0, c, o] = new.losses[i, d, o] if is_new else old.losses[i, d, o]
            for j in range(g):
                pool_genes[0, c, j] = new.genes[i, d, j] if is_new else old.genes[i, d, j]
        break_duplicates(pool_genes.view(np.uint64), pool_losses, pool_violation)
        objective_orders(pool_losses.view(np.int64), order, below)
        rank_feasible(pool_violation, order, below, size, rank)
        rank_infeasible(pool_violation, pool_violation.view(np.int64), size, rank)
        if is_deb:
            deb_crowding(pool_losses, order, rank, crowding)
        else:
            nearest_crowding(pool_losses, rank, crowding)
        choose(i, pool_genes, pool_losses, pool_violation, rank, crowding.view(np.int64), survivors)


@kernel
def keep_best(candidates: Candidates, by: int, genes: Floats, losses: Floats) -> None:
    """Write each instance's first feasible candidate with the lowest loss, where it is better.

    ``genes (i, g)`` and ``losses (i, k)`` hold the best so far; the loss at ``by`` decides.
    """
    for i in range(len(genes)):
        best = -1
        for c in range(candidates.genes.shape[1]):
            if candidates.violation[i, c] <= 0 and candidates.losses[i, c, by] < losses[i, by]:
                losses[i, by] = candidates.losses[i, c, by]
                best = c
        if best >= 0:
            for o in range(losses.shape[1]):
                losses[i, o] = candidates.losses[i, best, o]
            for j in range(genes.shape[1]):
                genes[i, j] = candidates.genes[i, best, j]


@part
def break_duplicates(bits: Words, losses: Floats, violation: Floats) -> None:
    """Give losses of +inf to every candidate whose genes, by their hash, came before.

    ``bits (i, m, g)`` are the bits of the genes.
    """
    n_instances, m, _ = bits.shape
    size = 64
    while size < 2 * m:
        size *= 2
    table = np.empty(size, np.int64)  # open addressing: the position of each hash
    hashes = np.empty(m, np.uint64)
    for i in range(n_instances):
        for empty in range(size):
            table[empty] = -1
        for c in range(m):
            code = hash_row(bits[i, c])
            hashes[c] = code
            slot = np.int64(code & np.uint64(size - 1))
            while table[slot] >= 0 and hashes[table[slot]] != code:
                slot = (slot + 1) & (size - 1)
            if table[slot] < 0:
                table[slot] = c
                continue
            violation[i, c] = np.inf
            for o in range(losses.shape[2]):
                losses[i, c, o] = np.inf


@part
def choose(
    i: int,
    genes: Floats,
    losses: Floats,
    violation: Floats,
    rank: Ints,
    falling: Ints,
    survivors: Population,
) -> None:
    """Write the first survivors of instance ``i`` by rank, falling crowding and position.

    Its pool are ``genes (1, m, g)`` and so on; ``falling (1, m)`` are the bits of the crowding,
    which is not negative, so they have its order.
    """
    m, n = rank.shape[1], survivors.rank.shape[1]
    stop, grouped = np.empty(m + 1, np.int64), np.empty(m, np.int64)
    keys, order = np.empty(m, np.int64), np.empty(m, np.int64)
    below, spare = np.empty(m, np.int64), np.empty(m, np.int64)
    _group(0, rank, stop, grouped)
    start, front = 0, 0
    while start < n:
        size = stop[front] - start
        for s in range(size):
            keys[s] = -falling[0, grouped[start + s]]
        sort(keys, size, order, below, spare)
        for s in range(start, min(start + size, n)):
            c = grouped[start + order[s - start]]
            survivors.rank[i, s] = front
            survivors.violation[i, s] = violation[0, c]
            for o in range(losses.shape[2]):
                survivors.losses[i, s, o] = losses[0, c, o]
            for j in range(genes.shape[2]):
                survivors.genes[i, s, j] = genes[0, c, j]
        start += size
        front += 1


@part
def _group(i: int, rank: Ints, stop: Ints, grouped: Ints) -> None:
    """Write the candidates of an instance front by front, and where each front stops."""
    m = rank.shape[1]
    for r in range(m + 1):
        stop[r] = 0
    for c in range(m):
        if rank[i, c] != UNRANKED:
            stop[rank[i, c] + 1] += 1
    for r in range(m):
        stop[r + 1] += stop[r]
    for c in range(m):  # stop[r] begins where front r begins
        if rank[i, c] != UNRANKED:
            grouped[stop[rank[i, c]]] = c
            stop[rank[i, c]] += 1
