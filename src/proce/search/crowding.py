"""How isolated a candidate is in its front.

``"deb"`` is the crowding distance of NSGA-II: for each objective the gap between the two
neighbours in that objective, on the range of the front, summed; the ends of a front are
infinitely isolated. ``"paper"`` is Eq. 12: the distance between the two candidates nearest to
it, all on the range of the front, so that no unit of an objective decides who is near;
infinite in fronts of one or two. Either way an objective without a range is left out.

Both write ``(m,)`` for the candidates that have a rank.
"""

import numpy as np

from proce.arrays import Floats, Ints
from proce.compiled.kernel import ZERO, part
from proce.search.pareto import UNRANKED


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
    """Return the distance between the two nearest; of equally near ones the earlier counts."""
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
