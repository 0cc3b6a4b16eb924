"""What counts as reaching the target: the decision, the margin and the probability asked for."""

import math
from dataclasses import dataclass, replace

import numpy as np

from proce.arrays import Array, Flags, Floats, Ints
from proce.classifier.decision import (
    EVEN,
    class_said,
    decide,
    deciding_chance,
    likeliest,
)
from proce.compiled.elementary import log
from proce.compiled.kernel import kernel, part
from proce.objective.limits import SHOWN_ROUNDING

SHORTFALL_ROUNDING = 1e-12  # of a probability
_MIN_PROBABILITY = 1e-6  # nearer to 0 or 1, log-odds are not told apart
# What is required, as the kernels read it.
_THRESHOLD, _PAST_UPPER, _PAST_LOWER, _LEAD, _LEAST = range(5)


@dataclass(frozen=True, slots=True)
class Requirement:
    """What a counterfactual's probabilities must be for the target to count as reached.

    Attributes
    ----------
    threshold
        The decision threshold of a binary model; ``None`` for the likeliest class.
    margin
        How far beyond the decision the target must be: ``p >= threshold + margin`` for two
        classes, ``p - best other >= 2 * margin`` for more.
    min_probability
        A probability of the target that must be reached as well, or ``None``.
    """

    threshold: float | None
    margin: float
    min_probability: float | None = None

    @property
    def numbers(self) -> Floats:
        """The requirement as the kernels read it, ``(5,)``; what is not asked for is NaN."""
        line = EVEN if self.threshold is None else self.threshold
        numbers = np.empty(5)
        numbers[_THRESHOLD] = math.nan if self.threshold is None else line
        numbers[_PAST_UPPER] = min(1.0, line + self.margin)
        numbers[_PAST_LOWER] = max(0.0, line - self.margin)
        numbers[_LEAD] = 2 * self.margin
        numbers[_LEAST] = math.nan if self.min_probability is None else self.min_probability
        return numbers

    def without_margin(self) -> "Requirement":
        """Return the requirement for which the decision itself is enough."""
        return replace(self, margin=0.0)

    def shortfall(self, probabilities: Array, target: Array) -> Floats:
        """Return how much probabilities ``(i, c, k)`` lack, ``(i, c)``.

        It is zero exactly where the target ``(i,)`` is reached.
        """
        lacking = np.zeros(probabilities.shape[:2])
        given = np.ascontiguousarray(probabilities, np.float64)
        required = np.tile(self.numbers, (len(given), 1))
        add_shortfall(given, target.astype(np.int64), required, lacking)
        return lacking

    def is_reached(self, probabilities: Array, target: Array) -> Flags:
        """Return whether probabilities ``(i, c, k)`` of shown rows reach the target, ``(i, c)``.

        The target ``(i,)`` must be decided for. What is asked for beyond the decision may be missed
        by what a value changes on the way to a frame and back.
        """
        is_decided: Flags = decide(probabilities, self.threshold) == target[:, None]
        return is_decided & (self.shortfall(probabilities, target) <= SHOWN_ROUNDING)

    def odds_beyond(self, probabilities: Array, target: Array) -> Floats:
        """Return by how many log-odds the decision is passed, ``(i, c)``; below 0 it is not.

        The margin does not count: it is there for doubts like those that are measured with these
        log-odds. A least probability does.
        """
        odds = np.empty(probabilities.shape[:2])
        given = np.ascontiguousarray(probabilities, np.float64)
        write_odds(given, target.astype(np.int64), self.without_margin().numbers, odds)
        return odds

    def probabilities(self, n_classes: int) -> tuple[float, ...]:
        """Return the probability that is enough for each class as the target, for a person.

        Of more than two classes no probability is enough by itself: what counts is the lead, and
        the result is what was asked for beside it, or 0.
        """
        least = self.min_probability or 0.0
        if n_classes > 2:
            return (least,) * n_classes
        lower, upper = self.numbers[[_PAST_LOWER, _PAST_UPPER]].tolist()
        return max(deciding_chance(0, lower), least), max(deciding_chance(1, upper), least)

    def lead(self, n_classes: int) -> float | None:
        """Return by how much the target must lead the likeliest other class.

        The lead is ``None`` for two classes, where the probability of the target says it all.
        """
        return float(self.numbers[_LEAD]) if n_classes > 2 else None


@kernel
def add_shortfall(
    chances: Floats,  # (i, c, k)
    target: Ints,  # (i,)
    required: Floats,  # (i, 5)
    violation: Floats,  # (i, c); added to
) -> None:
    """Add what probabilities lack to reach the target to the violation ``(i, c)`` of candidates."""
    for i in range(len(chances)):
        for c in range(chances.shape[1]):
            violation[i, c] += _shortfall(chances[i, c], target[i], required[i])


@kernel
def write_odds(
    chances: Floats,  # (i, c, k)
    target: Ints,  # (i,)
    numbers: Floats,  # (5,)
    odds: Floats,  # (i, c); written
) -> None:
    """Write by how many log-odds candidates pass the decision, ``(i, c)``; below 0 they do not."""
    threshold, least = numbers[_THRESHOLD], numbers[_LEAST]
    for i in range(len(chances)):
        wanted = target[i]
        for c in range(chances.shape[1]):
            own = chances[i, c, wanted]
            if np.isnan(threshold):
                past = _log(own) - _log(chances[i, c, likeliest(chances[i, c], wanted)])
            else:
                past = _log_odds(chances[i, c, 1]) - _log_odds(threshold)
                past = past if wanted == 1 else -past
            if least == least:
                past = min(past, _log_odds(own) - _log_odds(least))
            is_reached = _shortfall(chances[i, c], wanted, numbers) <= 0
            odds[i, c] = max(past, 0.0) if is_reached else min(past, -SHORTFALL_ROUNDING)


@part
def _shortfall(chances: Floats, wanted: int, numbers: Floats) -> float:
    """Return what the probabilities ``(k,)`` of a candidate lack.

    The target must be decided for, by the threshold or as the first of the likeliest classes, and
    lie beyond the decision by the margin.
    """
    own, second = chances[wanted], chances[1]
    threshold, least = numbers[_THRESHOLD], numbers[_LEAST]
    if np.isnan(threshold) and len(chances) == 2:
        lacking = numbers[_PAST_UPPER] - own  # what is told, also where the two sum to 1.001
    elif np.isnan(threshold):
        lacking = chances[likeliest(chances, wanted)] + numbers[_LEAD] - own
    else:
        lacking = numbers[_PAST_UPPER] - second if wanted == 1 else second - numbers[_PAST_LOWER]
    is_decided = class_said(chances, threshold) == wanted
    is_enough = is_decided and lacking <= SHORTFALL_ROUNDING  # 0.4 + 0.2 is more than 0.6
    lacking = 0.0 if is_enough else max(lacking, SHORTFALL_ROUNDING)
    if least == least:
        missing = least - own
        lacking = missing if missing > lacking or np.isnan(missing) else lacking
    return max(lacking, 0.0)


@part
def _log(probability: float) -> float:
    """Return the logarithm of a probability, which counts as at least a millionth."""
    return log(max(probability, _MIN_PROBABILITY))


@part
def _log_odds(probability: float) -> float:
    """Return the log-odds of a probability, which counts as a millionth or more from 0 and 1."""
    share = min(max(probability, _MIN_PROBABILITY), 1 - _MIN_PROBABILITY)
    return log(share / (1 - share))
