"""The values of fronts for numba, as :mod:`proce.search.convergence` defines them."""

import numpy as np

from proce.compiled.kernel import kernel
from proce.search.kernels.pareto import Floats

_TINY = np.finfo(np.float64).tiny


@kernel
def front_values(then: Floats, now: Floats, weights: Floats, before: Floats, after: Floats) -> None:
    """Write the mean Tchebycheff values ``(i,)`` of two fronts ``(i, n, k)``."""
    k = then.shape[2]
    ideal, span = np.empty(k), np.empty(k)
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
            span[o] = max(high - low, _TINY)
        before[i] = _mean_value(then, i, ideal, span, weights)
        after[i] = _mean_value(now, i, ideal, span, weights)


@kernel
def _mean_value(front: Floats, i: int, ideal: Floats, span: Floats, weights: Floats) -> float:
    """Return the mean over the weights of the lowest weighted maximum of a front."""
    total = 0.0
    for w in range(len(weights)):
        best = np.inf
        for c in range(front.shape[1]):
            if front[i, c, 0] < np.inf:
                worst = -np.inf
                for o in range(front.shape[2]):
                    worst = max(worst, (front[i, c, o] - ideal[o]) / span[o] * weights[w, o])
                best = min(best, worst)
        total += best
    return total / len(weights)
