"""Which candidates survive: fronts by rank, the one that does not fit cut by crowding.

Ties are broken by position.
"""

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np

from proce.arrays import Flags, Floats, Ints
from proce.compiled.copies import drop_copies
from proce.compiled.kernel import kernel, part
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
    columns = zip(*(group[:3] for group in groups), strict=True)
    genes, losses, violation = (np.concatenate(column, axis=1) for column in columns)
    (i, m, g), k = genes.shape, losses.shape[2]
    size = min(size, m)
    survivors = Population(
        np.empty((i, size, g)),
        np.empty((i, size, k)),
        np.empty((i, size)),
        np.empty((i, size), np.int64),
    )
    position = None if crowding == "deb" else np.empty((k, m))
    keep_survivors(genes, losses, violation, position, survivors)
    return survivors


@kernel
def keep_survivors(
    genes: Floats,  # (i, m, g)
    losses: Floats,  # (i, m, k); those of copies are written
    violation: Floats,  # (i, m); that of copies is written
    position: Floats | None,  # (k, m), to write to; None leaves the crowding of the paper out
    survivors: Population,
) -> None:
    """Write the best candidates of each instance ``i`` by rank and crowding; copies come last.

    All is done for one instance after the other, so that a pool stays in the cache.
    """
    _, m, k = losses.shape
    crowding, counts, firsts = np.empty(m), np.empty(m, np.bool_), np.empty(m, np.int64)
    order, below = np.empty((k, m), np.int64), np.empty((k, m), np.int64)
    rank, size = np.empty(m, np.int64), survivors.rank.shape[1]
    for i in range(len(genes)):
        own_genes, own_losses, own_violation = genes[i], losses[i], violation[i]
        for c in range(m):
            counts[c] = True
        drop_copies(own_genes.view(np.uint64), counts, firsts)
        for c in range(m):
            if not counts[c]:
                own_violation[c] = np.inf
                for o in range(k):
                    own_losses[c, o] = np.inf
        objective_orders(own_losses.view(np.int64), order, below)
        rank_feasible(own_violation, order, below, size, rank)
        rank_infeasible(own_violation, own_violation.view(np.int64), size, rank)
        if position is None:
            deb_crowding(own_losses, order, rank, crowding)
        else:
            nearest_crowding(own_losses, rank, position, crowding)
        choose(i, own_genes, own_losses, own_violation, rank, crowding.view(np.int64), survivors)


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

    Its pool are ``genes (m, g)`` and so on; ``falling (m,)`` are the bits of the crowding, which is
    not negative, so they have its order.
    """
    m, n = len(rank), survivors.rank.shape[1]
    stop, grouped = np.empty(m + 1, np.int64), np.empty(m, np.int64)
    keys, order = np.empty(m, np.int64), np.empty(m, np.int64)
    below, spare = np.empty(m, np.int64), np.empty(m, np.int64)
    _group(rank, stop, grouped)
    start, front = 0, 0
    while start < n:
        size = stop[front] - start
        for s in range(size):
            keys[s] = -falling[grouped[start + s]]
        sort(keys, size, order, below, spare)
        for s in range(start, min(start + size, n)):
            c = grouped[start + order[s - start]]
            survivors.rank[i, s] = front
            survivors.violation[i, s] = violation[c]
            for o in range(losses.shape[1]):
                survivors.losses[i, s, o] = losses[c, o]
            for j in range(genes.shape[1]):
                survivors.genes[i, s, j] = genes[c, j]
        start += size
        front += 1


@part
def _group(rank: Ints, stop: Ints, grouped: Ints) -> None:
    """Write candidates front by front ``(m,)``, and where each front stops ``(m + 1,)``.

    Who has no rank ``(m,)`` is left out.
    """
    m = len(rank)
    for r in range(m + 1):
        stop[r] = 0
    for c in range(m):
        if rank[c] != UNRANKED:
            stop[rank[c] + 1] += 1
    for r in range(m):
        stop[r + 1] += stop[r]
    for c in range(m):  # stop[r] begins where front r begins
        if rank[c] != UNRANKED:
            grouped[stop[rank[c]]] = c
            stop[rank[c]] += 1
