"""Survival for numba, as :mod:`proce.search.survival` and the archive define it."""

import numpy as np

from proce.compiled.kernel import kernel
from proce.search.kernels.crowding import deb_crowding, nearest_crowding
from proce.search.kernels.pareto import (
    UNRANKED,
    Floats,
    Ints,
    Words,
    objective_orders,
    rank_feasible,
    rank_infeasible,
    sort,
)
from proce.search.kernels.stream import GOLDEN_WORD, mix


@kernel
def survive(
    genes: Floats,  # (i, n, g)
    losses: Floats,  # (i, n, k)
    violation: Floats,  # (i, n)
    new_genes: Floats,  # (i, c, g)
    new_losses: Floats,  # (i, c, k)
    new_violation: Floats,  # (i, c)
    is_deb: bool,
    out_genes: Floats,  # (i, size, g); written
    out_losses: Floats,  # (i, size, k); written
    out_violation: Floats,  # (i, size); written
    out_rank: Ints,  # (i, size); written
) -> None:
    """Write the best of two groups of candidates, instance by instance.

    The pool of one instance stays in the cache from the first step to the last.
    """
    n_instances, n, g = genes.shape
    k, m, size = losses.shape[2], n + new_genes.shape[1], out_rank.shape[1]
    pool_genes, pool_losses = np.empty((1, m, g)), np.empty((1, m, k))
    pool_violation, crowding = np.empty((1, m)), np.empty((1, m))
    order, below = np.empty((1, k, m), np.int64), np.empty((1, k, m), np.int64)
    rank = np.empty((1, m), np.int64)
    for i in range(n_instances):
        for c in range(m):
            is_new, d = c >= n, c - n if c >= n else c
            pool_violation[0, c] = new_violation[i, d] if is_new else violation[i, d]
            for o in range(k):
                pool_losses[0, c, o] = new_losses[i, d, o] if is_new else losses[i, d, o]
            for j in range(g):
                pool_genes[0, c, j] = new_genes[i, d, j] if is_new else genes[i, d, j]
        break_duplicates(pool_genes.view(np.uint64), pool_losses, pool_violation)
        objective_orders(pool_losses.view(np.int64), order, below)
        rank_feasible(pool_violation, order, below, size, rank)
        rank_infeasible(pool_violation, pool_violation.view(np.int64), size, rank)
        if is_deb:
            deb_crowding(pool_losses, order, rank, crowding)
        else:
            nearest_crowding(pool_losses, rank, crowding)
        choose(
            pool_genes,
            pool_losses,
            pool_violation,
            rank,
            crowding.view(np.int64),
            out_genes[i : i + 1],
            out_losses[i : i + 1],
            out_violation[i : i + 1],
            out_rank[i : i + 1],
        )


@kernel
def keep_best(
    genes: Floats,  # (i, c, g)
    losses: Floats,  # (i, c, k)
    violation: Floats,  # (i, c)
    by: int,
    best_genes: Floats,  # (i, g); written
    best_losses: Floats,  # (i, k); written
) -> None:
    """Write each instance's first feasible candidate with the lowest loss, where it is better."""
    for i in range(len(genes)):
        best = -1
        for c in range(genes.shape[1]):
            if violation[i, c] <= 0 and losses[i, c, by] < best_losses[i, by]:
                best_losses[i, by] = losses[i, c, by]
                best = c
        if best >= 0:
            for o in range(losses.shape[2]):
                best_losses[i, o] = losses[i, best, o]
            for j in range(genes.shape[2]):
                best_genes[i, j] = genes[i, best, j]


@kernel
def is_finite(losses: Floats, violation: Floats) -> bool:
    """Return whether every loss and every violation is a finite number."""
    n_odd = 0
    for loss in losses.flat:
        n_odd += not np.isfinite(loss)
    for amount in violation.flat:
        n_odd += not np.isfinite(amount)
    return n_odd == 0


@kernel
def break_duplicates(bits: Words, losses: Floats, violation: Floats) -> None:
    """Give losses of +inf to every candidate whose genes, by their hash, came before.

    ``bits (i, m, g)`` are the bits of the genes.
    """
    n_instances, m, g = bits.shape
    size = 64
    while size < 2 * m:
        size *= 2
    table = np.empty(size, np.int64)  # open addressing: the position of each hash
    hashes = np.empty(m, np.uint64)
    for i in range(n_instances):
        for empty in range(size):
            table[empty] = -1
        for c in range(m):
            code = np.uint64(0)
            for j in range(g):
                code += mix(bits[i, c, j] + np.uint64(j) * GOLDEN_WORD)
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


@kernel
def choose(
    genes: Floats,
    losses: Floats,
    violation: Floats,
    rank: Ints,
    falling: Ints,
    out_genes: Floats,
    out_losses: Floats,
    out_violation: Floats,
    out_rank: Ints,
) -> None:
    """Write the first ``n`` candidates by rank, falling crowding and position.

    ``falling (i, m)`` are the bits of the crowding, which is not negative, so they have its order.
    """
    n_instances, m = rank.shape
    n = out_rank.shape[1]
    stop, grouped = np.empty(m + 1, np.int64), np.empty(m, np.int64)
    keys, order = np.empty(m, np.int64), np.empty(m, np.int64)
    below, spare = np.empty(m, np.int64), np.empty(m, np.int64)
    for i in range(n_instances):
        _group(i, rank, stop, grouped)
        start, front = 0, 0
        while start < n:
            size = stop[front] - start
            for s in range(size):
                keys[s] = -falling[i, grouped[start + s]]
            sort(keys, size, order, below, spare)
            for s in range(start, min(start + size, n)):
                c = grouped[start + order[s - start]]
                out_rank[i, s] = front
                out_violation[i, s] = violation[i, c]
                for o in range(losses.shape[2]):
                    out_losses[i, s, o] = losses[i, c, o]
                for j in range(genes.shape[2]):
                    out_genes[i, s, j] = genes[i, c, j]
            start += size
            front += 1


@kernel
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
