"""When an instance has stopped improving.

How good a front is, is measured by one number: the mean over 16 fixed weights of the smallest
weighted Tchebycheff value ``max_k w_k (f_k - ideal_k) / range_k`` of its feasible candidates. The
front now and the front a window ago are measured with the same ideal and range, those of both
together, so that an ideal that moved cannot pass for progress or hide it.

Only an instance that was feasible a window ago can converge. Before that, a violation that stands
still proves nothing (a tree model is flat between its splits), and stopping early would turn a
late find into 'not found', which is the worst mistake; such an instance runs for all generations.
"""

from collections import deque
from functools import cache
from typing import Self

import numpy as np

from proce.arrays import Array, Floats
from proce.compiled.elementary import logarithms
from proce.compiled.kernel import kernel, part
from proce.search.survival import Population, on_range

N_WEIGHTS = 16
_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53)


class Convergence:
    """Watches the fronts of instances."""

    def __init__(self, improvement: float, window: int) -> None:
        self.improvement = improvement
        self._window = window
        self._fronts: deque[Array] = deque(maxlen=window)

    def check(self, population: Population) -> Array:
        """Return which instances ``(i,)`` have converged, and remember their fronts."""
        now = np.where(population.front[..., None], population.losses, np.inf)  # (i, n, k)
        then = self._fronts[0] if len(self._fronts) == self._window else None
        self._fronts.append(now)
        if then is None:
            return np.zeros(len(now), dtype=np.bool_)
        before, after = front_values(then, now)
        with np.errstate(invalid="ignore"):  # both are infinite where nothing was ever feasible
            return np.isfinite(before) & (before - after <= self.improvement * before)

    def take(self, instances: Array) -> Self:
        """Return the watch of some of the instances, given by position."""
        kept = type(self)(self.improvement, self._window)
        kept._fronts.extend(front[instances] for front in self._fronts)
        return kept


def front_values(then: Array, now: Array) -> tuple[Array, Array]:
    """Return the mean Tchebycheff values ``(i,)`` of two fronts ``(i, n, k)``.

    A candidate outside of a front has losses of +inf; an empty front has the value +inf.
    """
    before, after = np.empty((2, len(now)), dtype=np.float64)
    weights = tchebycheff_weights(now.shape[-1])
    measure_fronts(then, now, weights, before, after)
    return before, after


@cache
def tchebycheff_weights(k: int) -> Array:
    """Return 16 weights ``(w, k)`` that sum to 1: the corners first, then points spread inside."""
    corners = np.eye(k)[:N_WEIGHTS]
    n_inside = N_WEIGHTS - len(corners)
    spread = [
        [_halton(n, _PRIMES[o % len(_PRIMES)]) for o in range(k)] for n in range(1, n_inside + 1)
    ]
    inside = -logarithms(np.array(spread).reshape(n_inside, k))
    return np.concatenate([corners, inside / inside.sum(-1, keepdims=True)])


def _halton(n: int, prime: int) -> float:
    value, share = 0.0, 1.0
    while n:
        share /= prime
        n, digit = divmod(n, prime)
        value += digit * share
    return value


@kernel
def measure_fronts(
    then: Floats, now: Floats, weights: Floats, before: Floats, after: Floats
) -> None:
    """Write the mean Tchebycheff values ``(i,)`` of two fronts ``(i, n, k)``."""
    k = then.shape[2]
    ideal, worst = np.empty(k), np.empty(k)
    for i in range(len(then)):
        for o in range(k):
            low, high = np.inf, -np.inf
            for c in range(then.shape[1]):
                low = min(low, then[i, c, o])
                high = max(high, then[i, c, o]) if then[i, c, o] < np.inf else high
            for c in range(now.shape[1]):
                low = min(low, now[i, c, o])
                high = max(high, now[i, c, o]) if now[i, c, o] < np.inf else high
            ideal[o] = low
            worst[o] = high
        before[i] = _mean_value(then, i, ideal, worst, weights)
        after[i] = _mean_value(now, i, ideal, worst, weights)


@part
def _mean_value(front: Floats, i: int, ideal: Floats, worst: Floats, weights: Floats) -> float:
    """Return the mean over the weights ``(w, k)`` of the lowest weighted maximum of a front.

    ``front`` are the losses ``(i, c, k)``, of which those of instance ``i`` are told on the range
    from ``ideal`` to ``worst``, both ``(k,)``.
    """
    total = 0.0
    for w in range(len(weights)):
        best = np.inf
        for c in range(front.shape[1]):
            if front[i, c, 0] < np.inf:
                most = -np.inf
                for o in range(front.shape[2]):
                    place = on_range(front[i, c, o], ideal[o], ideal[o], worst[o])
                    most = max(most, place * weights[w, o])
                best = min(best, most)
        total += best
    return total / len(weights)
