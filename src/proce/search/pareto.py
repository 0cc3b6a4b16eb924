"""Constrained domination and ranks (Deb et al. 2002).

Of two candidates the feasible one wins. Of two infeasible ones the one with the smaller violation
wins. Of two feasible ones, one dominates the other where it is at most the other in every loss
and below it in one. The paper's definition of dominance is written with >=; every objective here
is a loss. A candidate with a loss or violation that is not finite compares with nothing and would
look non-dominated, so :func:`proce.search.problem.evaluate` puts it behind all others first.

A pool is small (200 candidates, three objectives), so what counts is branches: an order is
found by counting how many keys are below each, which beats a merge sort up to about 700
candidates, and who dominates whom is kept as bits. The code is written with loops, indices and
work arrays instead of slices and array expressions, because numba takes three times as long to
compile the latter.
"""

import numpy as np

from proce.arrays import Floats, Ints, Words
from proce.compiled.kernel import ZERO, part

UNRANKED = np.int64(2**31 - 1)
_ALL, _NONE, _ONE = np.uint64(2**64 - 1), np.uint64(0), np.uint64(1)
_SIGN_OFF = np.int64(2**63 - 1)


@part
def sort(keys: Ints, size: int, order: Ints, below: Ints, spare: Ints) -> None:
    """Write the stable order of the first keys, and how many of them are below each.

    ``keys``, ``order``, ``below`` and the work array ``spare`` have at least ``size`` entries.
    """
    for c in range(size):
        own = keys[c]
        count = np.int64(0)
        for d in range(size):  # no branch: this loop is vectorised
            count += np.int64(keys[d] < own)
        below[c] = count
        spare[c] = 0
    for c in range(size):
        first = below[c]
        order[first + spare[first]] = c
        spare[first] += 1


@part
def objective_orders(bits: Ints, order: Ints, below: Ints) -> None:
    """Write ``(k, m)``: the candidates in order of each objective, and how many are below.

    ``bits (m, k)`` are the bits of the losses.
    """
    m, k = bits.shape
    keys, spare = np.empty(m, np.int64), np.empty(m, np.int64)
    for o in range(k):
        for c in range(m):
            key = bits[c, o] ^ ((bits[c, o] >> 63) & _SIGN_OFF)  # ordered alike
            keys[c] = key if key != -1 else 0  # -0.0 is 0.0
        sort(keys, m, order[o], below[o], spare)


@part
def rank_feasible(violation: Floats, order: Ints, below: Ints, n: int, rank: Ints) -> None:
    """Write the ranks ``(m,)`` of feasible candidates, until ``n`` have one; others are unranked.

    ``violation`` is ``(m,)``; ``order`` and ``below (k, m)`` are those of :func:`objective_orders`.
    """
    k, m = order.shape
    words = (m + 63) // 64
    none_above = np.empty((m, words), np.uint64)  # bit d of row c: d is at most c everywhere
    one_below = np.empty((m, words), np.uint64)  # bit d of row c: d is below c somewhere
    seen = np.empty(words, np.uint64)
    waiting = np.empty(m, np.int64)
    for c in range(m):
        for w in range(words):
            none_above[c, w] = _ALL
            one_below[c, w] = _NONE
    for o in range(k):
        _compare(o, violation, order, below, none_above, one_below, seen)
    for c in range(m):
        rank[c] = UNRANKED
        for w in range(words):
            none_above[c, w] &= one_below[c, w]
    _peel(violation, none_above, n, rank, waiting, seen)


@part
def _compare(
    o: int,
    violation: Floats,
    order: Ints,
    below: Ints,
    none_above: Words,
    one_below: Words,
    seen: Words,
) -> None:
    """Walk up an objective ``o``: every feasible candidate that was seen before is below another.

    Of candidate ``c``, ``none_above (m, w)`` keeps those that are not above it in any objective so
    far, and ``one_below (m, w)`` gets those that are below it in this one. Both are bits.
    """
    m, words = none_above.shape
    for w in range(words):
        seen[w] = _NONE
    start = 0
    while start < m:
        stop = start
        while stop < m and below[o, order[o, stop]] == start:  # tied with the first
            c = order[o, stop]
            for w in range(words):
                one_below[c, w] |= seen[w]
            stop += 1
        for s in range(start, stop):
            c = order[o, s]
            if violation[c] <= 0:
                seen[c >> 6] |= _ONE << np.uint64(c & 63)
        for s in range(start, stop):
            c = order[o, s]
            for w in range(words):
                none_above[c, w] &= seen[w]
        start = stop


@part
def _peel(
    violation: Floats, dominators: Words, n: int, rank: Ints, waiting: Ints, alive: Words
) -> None:
    """Write ranks ``(m,)`` until ``n`` have one: who is dominated by none alive gets the next.

    ``dominators (m, w)`` and ``alive (w,)`` are bits; ``waiting (m,)`` is a work array.
    """
    m, words = dominators.shape
    for w in range(words):
        alive[w] = _NONE
    left = 0
    for c in range(m):
        if violation[c] <= 0:
            waiting[left] = c
            left += 1
            alive[c >> 6] |= _ONE << np.uint64(c & 63)
    n_ranked, front = 0, 0
    while left > 0 and n_ranked < n:
        kept = 0
        for s in range(left):
            c = waiting[s]
            dominated = _NONE
            for w in range(words):
                dominated |= dominators[c, w] & alive[w]
            if dominated != _NONE:
                waiting[s] = waiting[kept]  # the front gathers behind those still waiting
                waiting[kept] = c
                kept += 1
        for s in range(kept, left):
            c = waiting[s]
            rank[c] = front
            alive[c >> 6] ^= _ONE << np.uint64(c & 63)
        n_ranked += left - kept
        left = kept
        front += 1


@part
def rank_infeasible(violation: Floats, bits: Ints, n: int, rank: Ints) -> None:
    """Write the ranks of infeasible candidates, by violation, where ``n`` are not yet ranked.

    ``bits (m,)`` are the bits of the violation; it is not negative here, so they have its order.
    """
    m = len(violation)
    members, keys = np.empty(m, np.int64), np.empty(m, np.int64)
    order, below, spare = np.empty(m, np.int64), np.empty(m, np.int64), np.empty(m, np.int64)
    size, front = ZERO, -1
    for c in range(m):
        if rank[c] != UNRANKED:
            front = max(front, rank[c])
        elif violation[c] > 0:
            members[size] = c
            keys[size] = bits[c]
            size += 1
    if m - size >= n:
        return
    sort(keys, size, order, below, spare)
    for s in range(size):
        if s == 0 or keys[order[s]] != keys[order[s - 1]]:
            front += 1
        rank[members[order[s]]] = front
