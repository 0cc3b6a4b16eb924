"""The order of chosen candidates: the recommended one, then others that differ from it.

The others are chosen one by one. Each time it is the candidate that differs most from those already
chosen, in the features that it acts on and in its losses, less what it costs more than the closest.
"""

import numpy as np
from numpy.typing import NDArray

from proce.compiled.kernel import kernel
from proce.losses import Loss

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]

FIRST, CLOSEST, BALANCED, TYPICAL = 0, 1, 2, 3  # what is recommended
PROTOTYPE, DISTANCE = int(Loss.PROTOTYPE), int(Loss.DISTANCE)
_ONE = np.uint64(1)


@kernel
def _count(word: np.uint64) -> int:
    """Return how many bits are set."""
    count = 0
    while word:
        word = word & (word - _ONE)
        count += 1
    return count


@kernel
def _differ(scaled: Floats, sets: Words, one: int, other: int) -> float:
    """Return how far two candidates are in the features that they act on and in their losses."""
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


@kernel
def _recommended(
    losses: Floats, scaled: Floats, members: Ints, size: int, pick: int, within: float
) -> int:
    """Return which member is recommended."""
    if pick == FIRST:
        return 0
    closest = np.inf
    for s in range(size):
        closest = min(closest, losses[members[s], DISTANCE])
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
            is_near = losses[c, DISTANCE] <= within * closest + 1e-12
            key = losses[c, PROTOTYPE] if is_near else np.inf
        if key < least:
            best, least = s, key
    return best


@kernel
def rank(
    losses: Floats,
    sets: Words,
    members: Ints,
    size: int,
    pick: int,
    within: float,
    distance_weight: float,
    scaled: Floats,
    difference: Floats,
    order: Ints,
    n_chosen: int,
) -> int:
    """Write the members of a group behind those chosen already; return how many are chosen."""
    if size == 0:
        return n_chosen
    for k in range(losses.shape[1]):
        low, high = np.inf, -np.inf
        for s in range(size):
            low, high = min(low, losses[members[s], k]), max(high, losses[members[s], k])
        for s in range(size):
            c = members[s]
            scaled[c, k] = (losses[c, k] - low) / max(high - low, 1e-12)
    for s in range(size):
        difference[s] = np.inf
    best, n_left = _recommended(losses, scaled, members, size, pick, within), size
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
            worth = difference[s] - distance_weight * scaled[c, DISTANCE]
            if worth > highest:
                best, highest = s, worth
    return n_chosen
