"""Which candidates survive: fronts by rank, the one that does not fit cut by crowding.

Ties are broken by position.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from proce.arrays import Array, Flags, Floats, Ints, Words
from proce.compiled.copies import drop_copies
from proce.compiled.kernel import ZERO, kernel, part
from proce.search.settings import Crowding

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


@part
def on_range(loss: float, other: float, low: float, high: float) -> float:
    """Return how far a loss is above another, in units of a range; 0 in a range without width.

    Halves are taken, because a range can be twice the largest float.
    """
    width = 0.5 * high - 0.5 * low
    return (0.5 * loss - 0.5 * other) / width if width > 0 else 0.0


@part
def deb_crowding(losses: Floats, order: Ints, rank: Ints, crowding: Floats) -> None:
    """Write the sides of the box between a candidate's neighbours in its front, ``(m,)``.

    The losses are ``(m, k)``, and ``order (k, m)`` is by each of them.
    """
    k, m = order.shape
    first, last = np.empty(m, np.int64), np.empty(m, np.int64)
    two_before, one_before = np.empty(m, np.int64), np.empty(m, np.int64)
    for c in range(m):
        crowding[c] = 0.0
    for o in range(k):
        for r in range(m):
            first[r] = two_before[r] = one_before[r] = -1
        for s in range(m):
            c = order[o, s]
            r = rank[c]
            if r != UNRANKED:
                if first[r] < 0:
                    first[r] = c
                last[r] = c
        for s in range(m):
            c = order[o, s]
            r = rank[c]
            if r == UNRANKED:
                continue
            low, high = losses[first[r], o], losses[last[r], o]
            if not high > low:
                continue
            if c == first[r] or c == last[r]:
                crowding[c] = np.inf
            if two_before[r] >= 0:
                crowding[one_before[r]] += on_range(
                    losses[c, o], losses[two_before[r], o], low, high
                )
            two_before[r] = one_before[r]
            one_before[r] = c


@part
def nearest_crowding(losses: Floats, rank: Ints, position: Floats, crowding: Floats) -> None:
    """Write the distance between a candidate's two nearest in its front (Eq. 12).

    ``position (k, m)`` is written to.
    """
    m, k = losses.shape
    members = np.empty(m, np.int64)
    n_fronts = 0
    for c in range(m):
        if rank[c] != UNRANKED:
            n_fronts = max(n_fronts, rank[c] + 1)
    for r in range(n_fronts):
        size = ZERO
        for c in range(m):
            if rank[c] == r:
                members[size] = c
                size += 1
        for o in range(k):
            low, high = np.inf, -np.inf
            for s in range(size):
                low = min(low, losses[members[s], o])
                high = max(high, losses[members[s], o])
            for s in range(size):
                position[o, s] = on_range(losses[members[s], o], low, low, high)
        for s in range(size):
            crowding[members[s]] = _gap_around(position, size, s) if size > 2 else np.inf


@part
def _gap_around(position: Floats, size: int, s: int) -> float:
    """Return how far apart the two nearest to one of positions ``(k, m)`` are; ties go early."""
    a, b = ZERO, ZERO
    gap_a, gap_b = np.inf, np.inf
    for t in range(size):
        gap = _squared_gap(position, s, t)
        if t != s and gap < gap_a:
            a, b, gap_a, gap_b = t, a, gap, gap_a
        elif t != s and gap < gap_b:
            b, gap_b = t, gap
    return float(np.sqrt(_squared_gap(position, a, b)))


@part
def _squared_gap(position: Floats, a: int, b: int) -> float:
    """Return the squared distance of two candidates in the objectives ``(k, m)``."""
    total = 0.0
    for o in range(len(position)):
        offset = position[o, a] - position[o, b]
        total += offset * offset
    return total


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The losses and the violation of some candidates.

    Attributes
    ----------
    losses
        ``(i, c, k)``, all minimised.
    violation
        ``(i, c)``; a candidate is feasible where it is zero or less.

    A candidate with a loss or a violation that is not finite loses to every other one.
    """

    losses: Array
    violation: Array


class Candidates(NamedTuple):
    """Genes with their losses and their violation."""

    genes: Floats  # (i, c, g)
    losses: Floats  # (i, c, k), cleaned
    violation: Floats  # (i, c), cleaned

    @classmethod
    def of(cls, genes: Array, evaluation: Evaluation) -> "Candidates":
        """Return genes with what they were evaluated to."""
        return cls(genes, evaluation.losses, evaluation.violation)


class Population(NamedTuple):
    """The surviving candidates, sorted by rank and falling crowding.

    Of two positions the smaller is the better candidate. Copies of the same genes have losses
    and a violation of +inf, all but one.
    """

    # genes, losses, violation: as `Candidates` has them
    genes: Floats
    losses: Floats
    violation: Floats
    rank: Ints  # (i, c), 0 for the first front

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
    apart = np.empty(m)
    bits = _Bits(genes.view("u8"), losses.view("i8"), violation.view("i8"), apart.view("i8"))
    keep_survivors(Candidates(genes, losses, violation), bits, apart, position, survivors)
    return survivors


class _Bits(NamedTuple):
    """The same memory as whole numbers; numba takes half a second to compile such a view."""

    genes: Words  # (i, m, g)
    losses: Ints  # (i, m, k)
    violation: Ints  # (i, m)
    crowding: Ints  # (m,)


@kernel
def keep_survivors(
    pool: Candidates,  # (i, m); losses and violation of copies are written
    bits: _Bits,
    crowding: Floats,  # (m,), to write to
    position: Floats | None,  # (k, m), to write to; None leaves the crowding of the paper out
    survivors: Population,
) -> None:
    """Write the best candidates ``(i, n)`` of each instance by rank and crowding; copies come last.

    All is done for one instance after the other, so that a pool stays in the cache.
    """
    _, m, k = pool.losses.shape
    counts, firsts = np.empty(m, np.bool_), np.empty(m, np.int64)
    order, below = np.empty((k, m), np.int64), np.empty((k, m), np.int64)
    rank, size = np.empty(m, np.int64), survivors.rank.shape[1]
    for i in range(len(pool.genes)):
        losses, violation = pool.losses[i], pool.violation[i]
        for c in range(m):
            counts[c] = True
        drop_copies(bits.genes[i], counts, firsts)
        for c in range(m):
            if not counts[c]:
                violation[c] = np.inf
                for o in range(k):
                    losses[c, o] = np.inf
        objective_orders(bits.losses[i], order, below)
        rank_feasible(violation, order, below, size, rank)
        rank_infeasible(violation, bits.violation[i], size, rank)
        if position is None:
            deb_crowding(losses, order, rank, crowding)
        else:
            nearest_crowding(losses, rank, position, crowding)
        choose(i, pool.genes[i], losses, violation, rank, bits.crowding, survivors)


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
