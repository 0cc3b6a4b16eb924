"""Choosing, row by row; what is asked for is said in `choosing`.

Features that a candidate acts on or holds are kept as bits. The code is written with loops and work
arrays, because numba takes several times as long to compile array expressions.
"""

import numpy as np
from numpy.typing import NDArray

from proce.compiled.kernel import kernel
from proce.losses import Loss
from proce.methods.searching.kernels.ranking import FIRST, Floats, Ints, Words, rank

Flags = NDArray[np.bool_]

PREDICTION, PROTOTYPE, DISTANCE = int(Loss.PREDICTION), int(Loss.PROTOTYPE), int(Loss.DISTANCE)
_MISSING_KEY = -9e9
_NONE, _ONE = np.uint64(0), np.uint64(1)


@kernel
def choose(
    rows: Floats,
    by_hand: Flags,
    losses: Floats,
    missing: Floats,
    reach: Floats,
    is_sparse: bool,
    is_typical: bool,
    only_firm: bool,
    pick: int,
    within: float,
    alike: float,
    slack: float,
    distance_weight: float,
    order: Ints,
) -> None:
    """Write the positions ``(i, n)`` of the candidates to show; -1 behind the last of a row."""
    n_rows, p, f = rows.shape
    n_words = (f + 63) // 64
    keys, sets = np.empty((p, f)), np.empty((p, n_words), np.uint64)
    lacks, scaled, difference = np.empty(p), np.empty((p, 3)), np.empty(p)
    among, dropped = np.empty(p, np.bool_), np.empty(p, np.bool_)
    members = np.empty(p, np.int64)
    for i in range(n_rows):
        own = losses[i]
        for c in range(p):
            lacks[c] = missing[i, c]
            among[c] = np.isfinite(lacks[c])
            for w in range(n_words):
                sets[c, w] = _NONE
            for a in range(f):
                if by_hand[i, c, a]:
                    sets[c, a // 64] |= _ONE << np.uint64(a % 64)
        _keep_first_of_each(rows[i], among, keys)
        if is_sparse:
            if is_typical:
                _keep_near(own, lacks, among, within, slack)
            _drop_needless(own, lacks, sets, is_typical, among, dropped)
            preferred = PROTOTYPE if is_typical else DISTANCE
            _drop_alike(rows[i], reach, own, lacks, sets, preferred, alike, among, dropped)
        _drop_outdone(lacks, sets, among, dropped)
        limit = _surest_limit(lacks, among, slack)
        n_chosen, all_at_once = 0, pick == FIRST and not only_firm
        for group in range(1 if only_firm or all_at_once else 2):
            size = 0
            for c in range(p):
                if among[c] and (all_at_once or (lacks[c] <= limit) == (group == 0)):
                    members[size] = c
                    size += 1
            n_chosen = rank(
                own,
                sets,
                members,
                size,
                pick,
                within,
                distance_weight,
                scaled,
                difference,
                order[i],
                n_chosen,
            )
        for s in range(n_chosen, order.shape[1]):
            order[i, s] = -1


@kernel
def find_fronts(rows: Floats, losses: Floats, is_feasible: Flags, flags: Flags) -> None:
    """Write flags ``(i, p)`` for the feasible members that no other dominates, each once."""
    n_rows, p, f = rows.shape
    keys, among = np.empty((p, f)), np.empty(p, np.bool_)
    for i in range(n_rows):
        for c in range(p):
            among[c] = is_feasible[i, c]
        _keep_first_of_each(rows[i], among, keys)
        for c in range(p):
            flags[i, c] = among[c]
            for d in range(p):
                if flags[i, c] and among[d] and _dominates(losses[i], d, c):
                    flags[i, c] = False


@kernel
def _dominates(losses: Floats, d: int, c: int) -> bool:
    """Whether a candidate is at most another in every loss, and below it in one."""
    is_below = False
    for k in range(losses.shape[1]):
        if losses[d, k] > losses[c, k]:
            return False
        is_below = is_below or losses[d, k] < losses[c, k]
    return is_below


@kernel
def _keep_first_of_each(rows: Floats, among: Flags, keys: Floats) -> None:
    """Leave of equal rows only the first."""
    p, f = rows.shape
    for c in range(p):
        if not among[c]:
            continue
        for a in range(f):
            value = rows[c, a]
            keys[c, a] = _MISSING_KEY if np.isnan(value) else np.rint(value * 1e9)
        for d in range(c):
            if not among[d]:
                continue
            is_same = True
            for a in range(f):
                if keys[c, a] != keys[d, a]:
                    is_same = False
                    break
            if is_same:
                among[c] = False
                break


@kernel
def _surest_limit(lacks: Floats, among: Flags, slack: float) -> float:
    """Return what a candidate may lack at most to be one of the surest."""
    least = np.inf
    for c in range(len(lacks)):
        if among[c] and lacks[c] < least:
            least = lacks[c]
    return least + slack if least > 0 else least


@kernel
def _keep_near(losses: Floats, lacks: Floats, among: Flags, within: float, slack: float) -> None:
    """Leave candidates that are not too far beyond the closest of the surest."""
    limit, closest = _surest_limit(lacks, among, slack), np.inf
    for c in range(len(lacks)):
        if among[c] and lacks[c] <= limit:
            closest = min(closest, losses[c, DISTANCE])
    for c in range(len(lacks)):
        among[c] = among[c] and losses[c, DISTANCE] <= within * closest + 1e-12


@kernel
def _compare_sets(sets: Words, d: int, c: int) -> int:
    """Return 2 where two candidates act on the same, 1 where ``d`` acts on less, else 0."""
    is_same = True
    for w in range(sets.shape[1]):
        if sets[d, w] & ~sets[c, w]:
            return 0
        is_same = is_same and sets[d, w] == sets[c, w]
    return 2 if is_same else 1


@kernel
def _drop_needless(
    losses: Floats, lacks: Floats, sets: Words, is_typical: bool, among: Flags, dropped: Flags
) -> None:
    """Drop candidates that do more than another one for no benefit."""
    p = len(lacks)
    for c in range(p):
        dropped[c] = False
        if not among[c]:
            continue
        for d in range(p):
            if not among[d] or lacks[d] > lacks[c] or _compare_sets(sets, d, c) != 1:
                continue
            as_good = losses[d, PREDICTION] <= losses[c, PREDICTION]
            as_good = as_good and losses[d, DISTANCE] <= losses[c, DISTANCE]
            if is_typical:
                as_good = as_good and losses[d, PROTOTYPE] <= losses[c, PROTOTYPE]
            if as_good:
                dropped[c] = True
                break
    for c in range(p):
        among[c] = among[c] and not dropped[c]


@kernel
def _drop_alike(
    rows: Floats,
    reach: Floats,
    losses: Floats,
    lacks: Floats,
    sets: Words,
    preferred: int,
    alike: float,
    among: Flags,
    dropped: Flags,
) -> None:
    """Drop candidates that are no other way than a better one."""
    p, f = rows.shape
    for c in range(p):
        dropped[c] = False
        if not among[c]:
            continue
        for d in range(p):
            if d == c or not among[d] or lacks[d] > lacks[c]:
                continue
            cost, other = losses[c, preferred], losses[d, preferred]
            if not (other < cost or (other == cost and d < c)):
                continue
            if _compare_sets(sets, d, c) != 2:
                continue
            is_near = True
            for a in range(f):
                if (sets[c, a // 64] >> np.uint64(a % 64)) & _ONE:
                    apart = abs(rows[d, a] / reach[a] - rows[c, a] / reach[a])
                    if apart > alike:  # what is missing in both is not apart
                        is_near = False
                        break
            if is_near:
                dropped[c] = True
                break
    for c in range(p):
        among[c] = among[c] and not dropped[c]


@kernel
def _drop_outdone(lacks: Floats, sets: Words, among: Flags, dropped: Flags) -> None:
    """Drop candidates that are a sure one with weaker numbers."""
    p = len(lacks)
    for c in range(p):
        dropped[c] = False
        if not among[c] or lacks[c] <= 0:
            continue
        for d in range(p):
            if among[d] and lacks[d] <= 0 and _compare_sets(sets, d, c) == 2:
                dropped[c] = True
                break
    for c in range(p):
        among[c] = among[c] and not dropped[c]
