"""Which class a model says."""

import math

import numpy as np

from proce.arrays import Array, Floats, Ints
from proce.compiled.kernel import NOBODY, kernel, part

EVEN = 0.5  # where a model of two classes decides that has no threshold of its own


def deciding_chance(target: int, threshold: float | None) -> float:
    """Return from which probability of its target on a model of two classes decides for it.

    Rounded where it is what a threshold leaves: of 0.7 that is 0.3, not 0.30000000000000004.
    """
    line = EVEN if threshold is None else threshold
    return line if target == 1 else round(1 - line, 12)


def decide(probabilities: Array, threshold: float | None) -> Ints:
    """Return the predicted class of probabilities ``(…, k)``, as a position.

    Without a threshold the likeliest class, the first of equals; with one, the second of
    two classes where its probability reaches the threshold.
    """
    *shape, n_classes = probabilities.shape
    said = np.empty(math.prod(shape), np.int64)
    chances = np.ascontiguousarray(probabilities, np.float64).reshape(-1, n_classes)
    write_said(chances, math.nan if threshold is None else threshold, said)
    return said.reshape(shape)


def likeliest_other(probabilities: Array, target: Array) -> Ints:
    """Return the likeliest class but the target ``(n,)``, or one for all, of chances ``(n, k)``."""
    other = np.empty(len(probabilities), np.int64)
    chances = np.ascontiguousarray(probabilities, np.float64)
    targets = np.broadcast_to(target, other.shape).astype(np.int64)
    write_likeliest(chances, targets, other)
    return other


@kernel
def write_likeliest(chances: Floats, other_than: Ints, likely: Ints) -> None:
    """Write the likeliest class but one ``(n,)`` of probabilities ``(n, k)``."""
    for n in range(len(chances)):
        likely[n] = likeliest(chances, n, other_than[n])


@kernel
def write_said(chances: Floats, threshold: float, said: Ints) -> None:
    """Write the class that is said of probabilities ``(n, k)``; see :func:`class_said`."""
    for n in range(len(chances)):
        said[n] = class_said(chances, n, threshold)


# A row is named by its position: a slice of each would be counted by its owner, which takes longer.
@part
def class_said(chances: Floats, n: int, threshold: float) -> int:
    """Return the class of a row of probabilities ``(n, k)``: the likeliest without a threshold."""
    if np.isnan(threshold):
        return likeliest(chances, n, NOBODY)
    return 1 if chances[n, 1] >= threshold else 0


@part
def likeliest(chances: Floats, n: int, other_than: int) -> int:
    """Return the first of the likeliest classes but one in row ``n`` of probabilities ``(n, k)``.

    A chance that is NaN counts as most.
    """
    best = -1
    for k in range(chances.shape[1]):
        chance = chances[n, k]
        if k != other_than and (best < 0 or chance > chances[n, best] or np.isnan(chance)):
            best = k
    return best
