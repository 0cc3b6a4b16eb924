"""Candidates without some of their actions, for numba; what they are is said in `pruning`."""

import numpy as np
from numpy.typing import NDArray

from proce.compiled.kernel import kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


@kernel
def leave_out_each(
    rows: Floats,  # (n, 1, f)
    by_hand: Flags,  # (n, 1, f)
    shorter: Floats,  # (n, m, f); written
    acts: Flags,  # (n, m, f); written
) -> None:
    """Write candidates without each of their actions, as many as they have."""
    n_features = rows.shape[2]
    for n in range(len(rows)):
        for v in range(shorter.shape[1]):
            number = 0
            for f in range(n_features):
                shorter[n, v, f] = rows[n, 0, f]
                acts[n, v, f] = by_hand[n, 0, f] and number != v
                number += by_hand[n, 0, f]


@kernel
def leave_out_more(
    rows: Floats,  # (n, 1, f)
    by_hand: Flags,  # (n, 1, f)
    prediction: Floats,  # (n, 1)
    distance: Floats,  # (n, 1)
    each_prediction: Floats,  # (n, m), without each action
    each_distance: Floats,  # (n, m)
    least_saved: float,
    shorter: Floats,  # (n, m - 1, f); written
    acts: Flags,  # (n, m - 1, f); written
) -> None:
    """Write candidates without the two actions that are worth least, the three, and so on."""
    n_features, n_actions = rows.shape[2], each_prediction.shape[1]
    worth, place = np.empty(n_actions), np.empty(n_actions, np.int64)
    for n in range(len(rows)):
        count = 0
        for f in range(n_features):
            count += by_hand[n, 0, f]
        for v in range(n_actions):
            lost = max(each_prediction[n, v] - prediction[n, 0], 0.0)
            own = lost / max(distance[n, 0] - each_distance[n, v], least_saved)
            worth[v] = own if v < count and own == own else np.inf
        for v in range(n_actions):  # how many come before, of equal ones the earlier
            place[v] = 0
            for w in range(n_actions):
                place[v] += worth[w] < worth[v] or (worth[w] == worth[v] and w < v)
        for v in range(n_actions - 1):
            number = 0
            for f in range(n_features):
                shorter[n, v, f] = rows[n, 0, f]
                acts[n, v, f] = by_hand[n, 0, f] and place[number] > v + 1
                number += by_hand[n, 0, f]


@kernel
def first_of_each_set(key: Floats, by_hand: Flags, chosen: Ints) -> None:
    """Write the positions ``(i, n)`` with the lowest keys ``(i, c)``, each set of actions once.

    Where there are fewer, the first of all is written again.
    """
    n_candidates, n_features = by_hand.shape[1], by_hand.shape[2]
    for i in range(len(key)):
        for k in range(chosen.shape[1]):
            best = -1
            for c in range(n_candidates):
                if key[i, c] < np.inf and (best < 0 or key[i, c] < key[i, best]):
                    is_new = True
                    for earlier in range(k):
                        d, same = chosen[i, earlier], True
                        for f in range(n_features):
                            same = same and by_hand[i, c, f] == by_hand[i, d, f]
                        is_new = is_new and not same
                    best = c if is_new else best
            if best < 0:
                best = 0
                for c in range(n_candidates):
                    best = c if key[i, c] < key[i, best] else best
            chosen[i, k] = best
