"""Variants of candidates for numba; what they are is said in `scan` and `polishing`."""

import numpy as np
from numpy.typing import NDArray

from proce.compiled.kernel import kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


@kernel
def draw_in(
    rows: Floats,  # (n, 1, f)
    by_hand: Flags,  # (n, 1, f)
    expected: Floats,  # (n, 1, f)
    is_number: Flags,  # (f,)
    own: Floats,  # (p,)
    others: Floats,  # (p,)
    alike: Floats,  # (a,)
    n_turns: int,
    drawn: Floats,  # (n, n_turns * p + a, f); written
    acts: Flags,  # (n, n_turns * p + a, f); written
) -> None:
    """Write candidates with one number after the other nearer, or all of them alike."""
    n_features, n_pairs = len(is_number), len(own)
    for n in range(len(rows)):
        for v in range(drawn.shape[1]):
            turn, number = v // n_pairs, 0  # the numbers that are moved have their turns in order
            for f in range(n_features):
                value, acts[n, v, f] = rows[n, 0, f], by_hand[n, 0, f]
                if by_hand[n, 0, f] and is_number[f]:
                    if turn >= n_turns:
                        share = alike[v - n_turns * n_pairs]
                    else:
                        share = own[v % n_pairs] if number == turn else others[v % n_pairs]
                    number += 1
                    home = expected[n, 0, f]
                    value = home + share * (value - home)
                drawn[n, v, f] = value


@kernel
def move_beside(
    rows: Floats,  # (n, b, f)
    by_hand: Flags,  # (n, b, f)
    values: Floats,  # (n, m)
    moved: Ints,  # (n, m)
    can_move: Flags,  # (n, m)
    beside: Floats,  # (n, b * m, f); written
    acts: Flags,  # (n, b * m, f); written
) -> None:
    """Write every base with each move besides."""
    n_bases, n_moves, n_features = rows.shape[1], values.shape[1], rows.shape[2]
    for n in range(len(rows)):
        for b in range(n_bases):
            for m in range(n_moves):
                v = b * n_moves + m
                for f in range(n_features):
                    beside[n, v, f] = rows[n, b, f]
                    acts[n, v, f] = by_hand[n, b, f]
                if can_move[n, m]:
                    beside[n, v, moved[n, m]] = values[n, m]
                    acts[n, v, moved[n, m]] = True


@kernel
def adopt_closest(
    rows: Floats,  # (n, v, f)
    by_hand: Flags,  # (n, v, f)
    expected: Floats,  # (n, v, f)
    prediction: Floats,  # (n, v)
    distance: Floats,  # (n, v)
    violation: Floats,  # (n, v)
    places: Ints,  # (n,)
    least_gain: float,
    is_shorter: bool,
    best_rows: Floats,  # (all, 1, f); written
    best_by_hand: Flags,  # (all, 1, f); written
    best_expected: Floats,  # (all, 1, f); written
    best_prediction: Floats,  # (all, 1); written
    best_distance: Floats,  # (all, 1); written
    best_violation: Floats,  # (all, 1); written
    better: Flags,  # (n,); written
) -> None:
    """Replace the candidates at some places by their closest feasible variants.

    A variant is closer by at least the gain, and where ``is_shorter`` has fewer actions.
    """
    n_features = rows.shape[2]
    for n in range(len(rows)):
        place, chosen, most = places[n], -1, n_features
        closest = best_distance[place, 0] - least_gain
        if is_shorter:
            most = -1
            for f in range(n_features):
                most += best_by_hand[place, 0, f]
        for v in range(rows.shape[1]):
            is_sound = violation[n, v] <= 0 and np.isfinite(prediction[n, v])
            if is_sound and distance[n, v] < closest:
                count = 0
                for f in range(n_features):
                    count += by_hand[n, v, f]
                if 0 < count <= most:
                    chosen, closest = v, distance[n, v]
        better[n] = chosen >= 0
        if chosen >= 0:
            best_prediction[place, 0] = prediction[n, chosen]
            best_distance[place, 0] = distance[n, chosen]
            best_violation[place, 0] = violation[n, chosen]
            for f in range(n_features):
                best_rows[place, 0, f] = rows[n, chosen, f]
                best_by_hand[place, 0, f] = by_hand[n, chosen, f]
                best_expected[place, 0, f] = expected[n, chosen, f]
