"""How sure draws are, for numba: a part of :func:`proce.objective.doubts.doubt.chance_of`."""

import math

import numpy as np
from numpy.typing import NDArray

from proce.compiled.kernel import kernel

Floats = NDArray[np.float64]


@kernel
def weigh_draws(odds: Floats, ratio: Floats, most: Floats) -> None:
    """Write the mean of draws ``(m, n)`` over the spread of one more, and the most likely chance.

    The latter is the share of draws that are not below 0, if one more were not.
    """
    n_draws, n_columns = odds.shape
    widening = math.sqrt(1 + 1 / n_draws)
    for column in range(n_columns):
        total, n_held = 0.0, 0
        for draw in range(n_draws):
            total += odds[draw, column]
            n_held += odds[draw, column] >= 0
        mean, squares = total / n_draws, 0.0
        for draw in range(n_draws):
            off = odds[draw, column] - mean
            squares += off * off
        spread = math.sqrt(squares / max(1, n_draws - 1)) * widening
        if spread > 0:
            ratio[column] = mean / spread
        else:
            ratio[column] = np.inf if mean >= 0 else -np.inf
        most[column] = (n_held + 1) / (n_draws + 1)
