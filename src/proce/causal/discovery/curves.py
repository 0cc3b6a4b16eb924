"""Causes that only a curve shows: what is known to come before is asked once more.

The algorithms look for straight lines. A cause that acts both ways around its middle has none, and
advice that does not know it is wrong and sure of itself. Where tiers say what comes before what,
the direction is known, and a curved fit can tell whether something is a cause.
"""

import numpy as np

from proce.arrays import Flags, Floats, Ints
from proce.causal.discovery.knowledge import Knowledge
from proce.causal.moments import Moments, least_squares, predicted

MAX_ERROR_RATIO = 0.95  # a fit is clearly better where it leaves less of the error
_MAX_PRODUCTS = 8  # columns whose products enter a curved fit
_N_FOLDS = 5
_MAX_ROWS = 2_000


def add_curved_causes(
    rows: Floats,  # (i, f), complete
    # what is known; without anything that comes before something else, nothing is added
    knowledge: Knowledge,
    arrows: Flags,  # what an algorithm found, `[cause, effect]`
    lines: Flags,
) -> Flags:
    """Return arrows, with those from features that are known to come before and clearly matter."""
    # A feature is added where a curved fit on it and the causes so far leaves clearly less error on
    # held-out rows than one without it; the best first, until none does.
    arrows = arrows.copy()
    possible = knowledge.before & ~knowledge.impossible & ~lines
    rows = rows[:: max(1, len(rows) // _MAX_ROWS)]
    for effect in np.flatnonzero((possible & ~arrows).any(0)):
        values = scaled(rows[:, effect])
        error = _error(rows, np.flatnonzero(arrows[:, effect]), values)
        while len(others := np.flatnonzero(possible[:, effect] & ~arrows[:, effect])):
            causes = np.flatnonzero(arrows[:, effect])
            errors = [_error(rows, np.append(causes, other), values) for other in others]
            if min(errors) >= MAX_ERROR_RATIO * error:
                break
            error = min(errors)
            arrows[others[int(np.argmin(errors))], effect] = True
    return arrows


def _error(rows: Floats, causes: Ints, values: Floats) -> float:
    numbers = scaled(rows[:, causes])
    return held_out(np.hstack([numbers, *curves(numbers)]), values)


def curves(numbers: Floats) -> list[Floats]:
    """Return the columns that a curved fit has besides the numbers: bends and products."""
    bends = [np.maximum(0.0, numbers - q) for q in np.quantile(numbers, [0.33, 0.67], axis=0)]
    mixed = numbers[:, :_MAX_PRODUCTS]
    return [*bends, *(mixed[:, [column]] * mixed[:, column:] for column in range(mixed.shape[1]))]


def held_out(columns: Floats, values: Floats) -> float:
    """Return the mean squared error of a linear fit on folds that it has not seen."""
    folds = [slice(first, None, _N_FOLDS) for first in range(_N_FOLDS)]
    counts = np.ones(len(values))
    whole = Moments.of(columns, values, counts)
    total = 0.0
    for fold in folds:
        unseen = Moments.of(columns[fold], values[fold], counts[fold], whole.middle)
        weights = least_squares(whole - unseen)
        total += float(((values[fold] - predicted(weights, columns[fold])) ** 2).sum())
    return total / len(values)


def varying(rows: Floats) -> Ints:
    """Return the positions of the columns that have more than one value."""
    return np.flatnonzero(rows.max(0) > rows.min(0))


def scaled(values: Floats) -> Floats:
    """Return columns with mean 0 and standard deviation 1."""
    standard: Floats = (values - values.mean(0)) / np.maximum(values.std(0), 1e-12)
    return standard
