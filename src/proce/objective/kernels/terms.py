"""The terms of a score that need no model, for numba, one candidate at a time.

They are those of :mod:`proce.objective.distance`, :mod:`proce.objective.limits`,
:mod:`proce.objective.requirement` and :mod:`proce.objective.prediction`; only the order in which
a sum is added up differs.
"""

import numpy as np
from numpy.typing import NDArray

from proce.compiled.kernel import kernel
from proce.objective.limits import LIMIT_ROUNDING
from proce.objective.prediction import MIN_PROBABILITY
from proce.objective.requirement import SHORTFALL_ROUNDING

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

# What the distance of a candidate is.
NO_DISTANCE, BY_ACTIONS, ABSOLUTE, SQUARED = range(4)
# The rows of what is known of an instance.
FACTUAL, WEIGHT, LOWER, UPPER = range(4)
CONSEQUENCE_LOWER, CONSEQUENCE_UPPER, ACTION_LOWER, ACTION_UPPER = range(4, 8)
# What is required of the probabilities.
THRESHOLD, PAST_UPPER, PAST_LOWER, LEAD, LEAST = range(5)
_LARGEST = np.finfo(np.float64).max
_PREDICTION, _DISTANCE = 0, 2  # as Loss


@kernel
def score_candidates(
    point: Floats,  # (i, c, f)
    expected: Floats,  # (i, c, f)
    acted_on: Flags,  # (i, c, f)
    held: Flags,  # (i, c, f)
    chances: Floats,  # (i, c, k)
    target: Ints,  # (i,)
    instances: Floats,  # (i, 8, f)
    reach: Floats,  # (f,)
    tables: Floats,  # (t,)
    table_of: Ints,  # (f, 2): where a table begins, and how many levels it has
    measure: int,
    charge: float,
    max_changes: float,
    requirement: Floats,  # (5,)
    losses: Floats,  # (i, c, 3); written, but for the prototype loss
    violation: Floats,  # (i, c); added to
) -> None:
    """Write the prediction loss and the distance of candidates, and add to their violation.

    A feature is looked at in all candidates of an instance before the next one.
    """
    n_candidates, n_features = point.shape[1], point.shape[2]
    by_hand = np.empty((n_features, n_candidates), np.bool_)
    distance, excess = np.empty(n_candidates), np.empty(n_candidates)
    for i in range(len(point)):
        for c in range(n_candidates):
            distance[c] = excess[c] = 0.0
        for f in range(n_features):
            for c in range(n_candidates):
                by_hand[f, c] = acted_on[i, c, f] or held[i, c, f]
            _add_excess(point, i, f, by_hand, instances, reach, excess)
            if measure == BY_ACTIONS:
                for c in range(n_candidates):
                    if by_hand[f, c]:
                        gap = _gap(point[i, c, f], expected[i, c, f], f, reach, tables, table_of)
                        distance[c] += gap * instances[i, WEIGHT, f]
            elif measure != NO_DISTANCE:
                is_squared = measure == SQUARED and table_of[f, 1] == 0  # tables hold squares
                for c in range(n_candidates):
                    gap = _gap(point[i, c, f], instances[i, FACTUAL, f], f, reach, tables, table_of)
                    distance[c] += (gap * gap if is_squared else gap) * instances[i, WEIGHT, f]
        _conclude(i, by_hand, distance, excess, measure, charge, max_changes, losses, violation)
    add_shortfall(chances, target, requirement, losses, violation)


@kernel
def _add_excess(
    point: Floats,
    i: int,
    f: int,
    by_hand: Flags,
    instances: Floats,
    reach: Floats,
    excess: Floats,
) -> None:
    """Add how far the values of a feature lie outside of their limits, on the unit range."""
    lower, upper = instances[i, LOWER, f], instances[i, UPPER, f]
    least, most = instances[i, CONSEQUENCE_LOWER, f], instances[i, CONSEQUENCE_UPPER, f]
    lowest, highest = instances[i, ACTION_LOWER, f], instances[i, ACTION_UPPER, f]
    for c in range(len(excess)):
        value, acts = point[i, c, f], by_hand[f, c]
        below, above = (lowest if acts else least) - value, value - (highest if acts else most)
        beyond = (below if below > above else above) / reach[f]
        if beyond > LIMIT_ROUNDING and below == below and above == above:
            at_end = (value == lower and lower < lowest) or (value == upper and upper > highest)
            excess[c] += 0.0 if acts and at_end else min(beyond, _LARGEST)


@kernel
def _gap(
    value: float, other: float, f: int, reach: Floats, tables: Floats, table_of: Ints
) -> float:
    """Return how far apart two entries of a feature are, on the unit range or by its table."""
    n_levels = table_of[f, 1]
    if n_levels == 0:
        gap = abs((value - other) / reach[f])
        return 0.0 if np.isnan(gap) else min(gap, _LARGEST)
    ours = min(np.int64(value), n_levels - 1) if value > 0 else 0
    theirs = min(np.int64(other), n_levels - 1) if other > 0 else 0
    return float(tables[table_of[f, 0] + theirs * n_levels + ours])


@kernel
def _conclude(
    i: int,
    by_hand: Flags,
    distance: Floats,
    excess: Floats,
    measure: int,
    charge: float,
    max_changes: float,
    losses: Floats,
    violation: Floats,
) -> None:
    """Write the distance with the charge of each action, and add what is beyond the limits."""
    for c in range(len(distance)):
        count = 0
        for f in range(len(by_hand)):
            count += by_hand[f, c]
        if measure != NO_DISTANCE:
            losses[i, c, _DISTANCE] = distance[c] + charge * count
        violation[i, c] += excess[c] + max(count - max_changes, 0.0)


@kernel
def add_shortfall(
    chances: Floats, target: Ints, requirement: Floats, losses: Floats, violation: Floats
) -> None:
    """Write the prediction loss, and add what the probabilities lack to reach the target."""
    n_classes = chances.shape[2]
    threshold, lead, least = requirement[THRESHOLD], requirement[LEAD], requirement[LEAST]
    past_upper, past_lower = requirement[PAST_UPPER], requirement[PAST_LOWER]
    for i in range(len(chances)):
        wanted = target[i]
        for c in range(chances.shape[1]):
            own, second = chances[i, c, wanted], chances[i, c, 1]
            losses[i, c, _PREDICTION] = -np.log(max(own, MIN_PROBABILITY))
            if np.isnan(threshold):
                rival, is_first = -1.0, True
                for k in range(n_classes):
                    other = chances[i, c, k]
                    if k != wanted:
                        rival = other if other > rival or np.isnan(other) else rival
                        is_first &= other < own or (other == own and k > wanted)
                lacking = rival + lead - own
                lacking = lacking / 2 if n_classes == 2 else lacking
            else:
                is_first = (second >= threshold) == (wanted == 1)
                lacking = past_upper - second if wanted == 1 else second - past_lower
            enough = is_first and lacking <= SHORTFALL_ROUNDING
            lacking = 0.0 if enough else max(lacking, SHORTFALL_ROUNDING)
            missing = least - own
            lacking = missing if missing > lacking or np.isnan(missing) else lacking
            violation[i, c] += max(lacking, 0.0)
