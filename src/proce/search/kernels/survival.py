"""Survival for numba: the first and the last step of :mod:`proce.search.survival`."""

import numpy as np

from proce.compiled.kernel import kernel
from proce.search.kernels.pareto import UNRANKED, Floats, Ints, Words, sort
from proce.search.kernels.stream import GOLDEN_WORD, mix


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
