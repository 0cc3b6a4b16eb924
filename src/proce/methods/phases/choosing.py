"""Which candidates of each row are worth showing, and in which order.

All functions take the candidates ``(…, p)`` of many rows at once. What a candidate lacks until it
is sure to work is infinite for one that does not count: that it is not feasible, or was dropped.
"""

from typing import Any, NamedTuple

import numpy as np

from proce.arrays import Array, Flags, Floats, Ints, Words, expand, scatter
from proce.compiled.cells import unit_gap
from proce.compiled.copies import first_of_each, rounded
from proce.compiled.kernel import ZERO, kernel, part
from proce.losses import Loss
from proce.methods.calls.explain_options import Pick
from proce.search.survival import Candidates, on_range, survive

_SLACK = 0.02  # shaky candidates whose chances differ by no more count as equally likely to work
DISTANCE_WEIGHT = 2.0  # how much more a more distant candidate must differ to be shown
_ALIKE = 0.05  # of the unit range: two ways that differ by less are one
FIRST, CLOSEST, BALANCED, TYPICAL = range(4)
_PICKS = {"first": FIRST, "closest": CLOSEST, "balanced": BALANCED, "typical": TYPICAL}
PREDICTION, PROTOTYPE, DISTANCE = int(Loss.PREDICTION), int(Loss.PROTOTYPE), int(Loss.DISTANCE)
_NONE, _ONE = np.uint64(0), np.uint64(1)


def is_better(gap: Array, distance: Array, than: Array, than_distance: Array) -> Array:
    """Return flags where advice is surer than other advice, or as sure and closer."""
    surer = (gap < than) & ~as_sure(than, gap)
    is_closer = np.isfinite(gap) & (distance < than_distance)
    return surer | (as_sure(gap, than) & is_closer)


def as_sure(gap: Any, than: Any) -> Any:
    """Return whether what lacks so much is no less sure than what lacks ``than``.

    Nothing shaky is as sure as what is sure. Kernels ask it of one candidate.
    """
    return (gap <= than) | (than > 0) & (gap <= than + _SLACK)


_is_as_sure = part(as_sure)


class Pool(NamedTuple):
    """The candidates of some rows."""

    rows: Array  # (i, p, f), the candidates in the entries of the codec
    by_hand: Array  # (i, p, f), the features that each candidate acts on or holds
    losses: Array  # (i, p, 3); see `proce.losses.Loss`
    # (i, p), what each lacks until it is sure to work, infinite for one that does not count
    robustness_gap: Array


class Criteria(NamedTuple):
    """What candidates are chosen by, beside the pick."""

    within: float  # how many times as far as the closest a typical candidate may be
    reach: Floats  # (f,), how far apart two entries of a feature can be
    is_sparse: bool = True  # whether candidates that do more than another for nothing are left out
    is_typical: bool = False  # whether it is a benefit to look like the target
    only_firm: bool = False  # whether those that are less sure than the surest are left out


def choose(pool: Pool, pick: Pick, n: int, criteria: Criteria) -> Ints:
    """Return the positions ``(i, n)`` of the candidates to show, the recommended one first.

    The positions behind a row's last candidate are -1.
    """
    # What is recommended. closest: the lowest distance. balanced: the knee, nearest to the best of
    # all three losses. typical: the lowest prototype loss, or what takes its place, of those that
    # are not too far beyond the closest. first: the candidate that the search lists first
    # (Algorithm 1, line 27).
    code, n_rows, n_candidates = _PICKS[pick], *pool.robustness_gap.shape
    order = np.empty((n_rows, min(n, n_candidates)), np.int64)
    among = first_of_each(rounded(pool.rows), np.isfinite(pool.robustness_gap))
    rows, by_hand, losses, robustness_gap = map(np.ascontiguousarray, pool)
    write_choice(rows, by_hand, losses, robustness_gap, among, code, criteria, order)
    return order


def near_limit(closest: Any, within: float) -> Any:
    """Return how far a candidate may be that is at most ``within`` times as far as the closest.

    What is beyond it by rounding is not. Kernels ask it of one row.
    """
    return within * closest + 1e-12


_near_limit = part(near_limit)


def find_fronts(rows: Array, losses: Array, is_feasible: Array) -> Flags:
    """Return flags ``(i, p)`` for the feasible rows that no other dominates, each row once.

    Shapes: rows ``(i, p, f)``, losses ``(i, p, 3)``.
    """
    counts = first_of_each(rounded(rows), is_feasible)
    n_rows, n_candidates = counts.shape
    positions = expand(np.arange(float(n_candidates))[:, None], n_rows, n_candidates, 1)
    candidates = Candidates(positions, losses, np.where(counts, 0.0, np.inf))
    ranked = survive([candidates], n_candidates, "deb")
    return scatter(counts, 1, ranked.genes[..., 0].astype(np.int64), ranked.front)


class _Work(NamedTuple):
    """What is worked in for one row after the other."""

    sets: Words  # (p, w), the features that each candidate acts on or holds, as bits
    # among, dropped: (p,), the candidates that count so far, and those that a rule drops
    among: Flags
    dropped: Flags
    members: Ints  # (p,), the candidates that are ranked, as positions
    # scaled, difference: (p, 3) and (p,): the losses on the range of the members, by candidate, and
    # how far each member is from what was chosen
    scaled: Floats
    difference: Floats


# In loops and work arrays: numba takes several times as long to compile array expressions.
@kernel
def write_choice(
    rows: Floats,  # (i, p, f)
    by_hand: Flags,  # (i, p, f)
    losses: Floats,  # (i, p, 3)
    robustness_gap: Floats,  # (i, p)
    counts: Flags,  # (i, p), which candidates can be shown
    pick: int,
    criteria: Criteria,
    order: Ints,  # (i, n); written
) -> None:
    """Write for each row the positions ``(i, n)`` of the candidates to show; -1 behind its last.

    Those that do more than others for nothing are dropped, the rest are ranked, the surest first.
    """
    only_firm = criteria.only_firm
    n_rows, p, f = rows.shape
    n_words = (f + 63) // 64
    work = _Work(
        np.empty((p, n_words), np.uint64),
        np.empty(p, np.bool_),
        np.empty(p, np.bool_),
        np.empty(p, np.int64),
        np.empty((p, 3)),
        np.empty(p),
    )
    sets, among, members = work.sets, work.among, work.members
    for i in range(n_rows):
        own, gaps = losses[i], robustness_gap[i]
        for c in range(p):
            among[c] = counts[i, c]
            for w in range(n_words):
                sets[c, w] = _NONE
            for a in range(f):
                if by_hand[i, c, a]:
                    sets[c, a // 64] |= _ONE << np.uint64(a % 64)
        if criteria.is_sparse:
            if criteria.is_typical:
                _keep_near(own, gaps, criteria.within, among)
            _drop_supersets(own, gaps, criteria, work)
            _drop_alike(rows[i], own, gaps, criteria, work)
        _drop_less_sure(gaps, work)
        least = _least(gaps, among)
        n_chosen, all_at_once = ZERO, pick == FIRST and not only_firm
        for group in range(1 if only_firm or all_at_once else 2):
            size = ZERO
            for c in range(p):
                if among[c] and (all_at_once or _is_as_sure(gaps[c], least) == (group == 0)):
                    members[size] = c
                    size += 1
            n_chosen = rank(own, size, pick, criteria.within, work, order[i], n_chosen)
        for s in range(n_chosen, order.shape[1]):
            order[i, s] = -1


@part
def _least(gaps: Floats, among: Flags) -> float:
    """Return the least that a candidate of a row that counts lacks, of ``(p,)`` each."""
    least = np.inf
    for c in range(len(gaps)):
        if among[c] and gaps[c] < least:
            least = gaps[c]
    return least


@part
def _keep_near(losses: Floats, gaps: Floats, within: float, among: Flags) -> None:
    """Let candidates of a row ``(p,)`` no longer count that are too far beyond the closest one.

    That is the closest of the surest, by the losses ``(p, 3)``.
    """
    least, closest = _least(gaps, among), np.inf
    for c in range(len(gaps)):
        if among[c] and _is_as_sure(gaps[c], least):
            closest = min(closest, losses[c, DISTANCE])
    limit = _near_limit(closest, within)
    for c in range(len(gaps)):
        among[c] = among[c] and losses[c, DISTANCE] <= limit


@part
def _compare_sets(sets: Words, d: int, c: int) -> int:
    """Return how the features of two candidates of a row compare, from bits ``(p, w)``.

    2 where ``d`` and ``c`` act on the same, 1 where ``d`` acts on some of those alone, else 0.
    """
    is_same = True
    for w in range(sets.shape[1]):
        if sets[d, w] & ~sets[c, w]:
            return 0
        is_same = is_same and sets[d, w] == sets[c, w]
    return 2 if is_same else 1


@part
def _drop_supersets(losses: Floats, gaps: Floats, criteria: Criteria, work: _Work) -> None:
    """Drop candidates ``(p,)`` of a row that do more than another one for no benefit.

    That one acts on some of their features alone, is as sure, and no loss ``(p, 3)`` is higher.
    """
    sets, among, dropped, p = work.sets, work.among, work.dropped, len(gaps)
    for c in range(p):
        dropped[c] = False
        if not among[c]:
            continue
        for d in range(p):
            if not among[d] or gaps[d] > gaps[c] or _compare_sets(sets, d, c) != 1:
                continue
            as_good = losses[d, PREDICTION] <= losses[c, PREDICTION]
            as_good = as_good and losses[d, DISTANCE] <= losses[c, DISTANCE]
            if criteria.is_typical:
                as_good = as_good and losses[d, PROTOTYPE] <= losses[c, PROTOTYPE]
            if as_good:
                dropped[c] = True
                break
    _leave_out(dropped, among)


@part
def _drop_alike(
    rows: Floats, losses: Floats, gaps: Floats, criteria: Criteria, work: _Work
) -> None:
    """Drop candidates of a row ``(p, f)`` that are no other way than a better one.

    That one acts on the same, is as sure, costs less by the losses ``(p, 3)``, and all that is
    acted on ends nearly alike.
    """
    sets, among, dropped = work.sets, work.among, work.dropped
    preferred = PROTOTYPE if criteria.is_typical else DISTANCE
    p, f = rows.shape
    for c in range(p):
        dropped[c] = False
        if not among[c]:
            continue
        for d in range(p):
            if d == c or not among[d] or gaps[d] > gaps[c]:
                continue
            cost, other = losses[c, preferred], losses[d, preferred]
            if not (other < cost or (other == cost and d < c)):
                continue
            if _compare_sets(sets, d, c) != 2:
                continue
            is_near = True
            for a in range(f):
                if (sets[c, a // 64] >> np.uint64(a % 64)) & _ONE:
                    apart = unit_gap(rows[d, a], rows[c, a], criteria.reach[a])
                    if apart > _ALIKE:  # what is missing in both is not apart
                        is_near = False
                        break
            if is_near:
                dropped[c] = True
                break
    _leave_out(dropped, among)


@part
def _drop_less_sure(gaps: Floats, work: _Work) -> None:
    """Drop candidates ``(p,)`` of a row that act on the same as a sure one, and are not sure.

    They are that one with weaker numbers.
    """
    sets, among, dropped, p = work.sets, work.among, work.dropped, len(gaps)
    for c in range(p):
        dropped[c] = False
        if not among[c] or gaps[c] <= 0:
            continue
        for d in range(p):
            if among[d] and gaps[d] <= 0 and _compare_sets(sets, d, c) == 2:
                dropped[c] = True
                break
    _leave_out(dropped, among)


@part
def _leave_out(dropped: Flags, among: Flags) -> None:
    """Let candidates ``(p,)`` no longer count that are dropped."""
    for c in range(len(among)):
        among[c] = among[c] and not dropped[c]


@part
def _count(word: np.uint64) -> int:
    """Return how many bits are set."""
    count = 0
    while word:
        word = word & (word - _ONE)
        count += 1
    return count


@part
def _differ(scaled: Floats, sets: Words, one: int, other: int) -> float:
    """Return how far two candidates of a row are from each other.

    It is the share of features acted on by one alone, and half the root mean square of how far
    their scaled losses ``(p, 3)`` are.
    """
    shared, together = 0, 0
    for w in range(sets.shape[1]):
        shared += _count(sets[one, w] & sets[other, w])
        together += _count(sets[one, w] | sets[other, w])
    actions = 1 - shared / max(together, 1)
    total = 0.0
    for k in range(scaled.shape[1]):
        offset = scaled[one, k] - scaled[other, k]
        total += offset * offset
    return float(actions + 0.5 * np.sqrt(total / scaled.shape[1]))


@part
def _recommended(losses: Floats, size: int, pick: int, within: float, work: _Work) -> int:
    """Return which of the ``size`` first members is recommended, by the losses ``(p, 3)``.

    It has the least of what the pick goes by; of equals it is the first.
    """
    members, scaled = work.members, work.scaled
    if pick == FIRST:
        return 0
    closest = np.inf
    for s in range(size):
        closest = min(closest, losses[members[s], DISTANCE])
    limit = _near_limit(closest, within)
    best, least = 0, np.inf
    for s in range(size):
        c = members[s]
        if pick == CLOSEST:
            key = losses[c, DISTANCE]
        elif pick == BALANCED:
            key = 0.0
            for k in range(scaled.shape[1]):
                key += scaled[c, k] * scaled[c, k]
        else:
            key = losses[c, PROTOTYPE] if losses[c, DISTANCE] <= limit else np.inf
        if key < least:
            best, least = s, key
    return best


@part
def rank(
    losses: Floats, size: int, pick: int, within: float, work: _Work, order: Ints, n_chosen: int
) -> int:
    """Write the ``size`` first members of a row behind those chosen; return how many are chosen.

    The recommended one comes first, then always the one that is farthest from all chosen, less what
    it costs; ``losses`` are ``(p, 3)`` and ``order (n,)``.
    """
    if size == 0:
        return n_chosen
    sets, members, scaled, difference = work.sets, work.members, work.scaled, work.difference
    for k in range(losses.shape[1]):
        low, high = np.inf, -np.inf
        for s in range(size):
            low, high = min(low, losses[members[s], k]), max(high, losses[members[s], k])
        for s in range(size):
            c = members[s]
            scaled[c, k] = on_range(losses[c, k], low, low, max(high, low + 1e-12))
    for s in range(size):
        difference[s] = np.inf
    best, n_left = _recommended(losses, size, pick, within, work), size
    while n_chosen < len(order):
        order[n_chosen] = members[best]
        n_chosen, n_left = n_chosen + 1, n_left - 1
        difference[best] = -np.inf
        if n_left == 0:
            break
        last, highest = members[best], -np.inf
        for s in range(size):
            if difference[s] == -np.inf:
                continue
            c = members[s]
            difference[s] = min(difference[s], _differ(scaled, sets, c, last))
            worth = difference[s] - DISTANCE_WEIGHT * scaled[c, DISTANCE]
            if worth > highest:
                best, highest = s, worth
    return n_chosen
