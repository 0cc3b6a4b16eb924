"""What counts as reaching the target: the decision, the margin and the probability asked for."""

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from proce.arrays import Array, Flags, Floats, Ints
from proce.classifier.classifier import (
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


class Line(NamedTuple):
    """The line that the probabilities of a target must pass, as the kernels read it."""

    threshold: float  # the decision threshold of the second class; NaN for the likeliest class
    # upper, lower: what the probability of the second of two classes must reach, or stay below
    upper: float
    lower: float
    lead: float  # by how much the target must lead the likeliest other of more classes
    least: float  # what the probability of the target must reach as well, or NaN


@dataclass(frozen=True, slots=True)
class Requirement:
    """What a counterfactual's probabilities must be for the target to count as reached."""

    # the decision threshold of a binary model; None for the likeliest class
    threshold: float | None
    # how far beyond the decision the target must be: p >= threshold + margin for two classes, p -
    # best other >= 2 * margin for more
    margin: float
    # a probability of the target that must be reached as well, or None
    min_probability: float | None = None

    @property
    def line(self) -> Line:
        """The requirement as the kernels read it."""
        middle = EVEN if self.threshold is None else float(self.threshold)
        return Line(
            math.nan if self.threshold is None else middle,
            min(1.0, middle + self.margin),
            max(0.0, middle - self.margin),
            2.0 * self.margin,
            math.nan if self.min_probability is None else float(self.min_probability),
        )

    def without_margin(self) -> "Requirement":
        """Return the requirement for which the decision itself is enough."""
        return replace(self, margin=0.0)

    def shortfall(self, probabilities: Array, target: Array) -> Floats:
        """Return how much probabilities ``(i, c, k)`` lack, ``(i, c)``.

        It is zero exactly where the target ``(i,)`` is reached.
        """
        lacking = np.zeros(probabilities.shape[:2])
        given = np.ascontiguousarray(probabilities, np.float64)
        required = np.tile(self.line, (len(given), 1))
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
        write_odds(given, target.astype(np.int64), self.without_margin().line, odds)
        return odds

    def probabilities(self, n_classes: int) -> tuple[float, ...]:
        """Return the probability that is enough for each class as the target, for a person.

        Of more than two classes no probability is enough by itself: what counts is the lead, and
        the result is what was asked for beside it, or 0.
        """
        least = self.min_probability or 0.0
        if n_classes > 2:
            return (least,) * n_classes
        line = self.line
        enough = deciding_chance(0, line.lower), deciding_chance(1, line.upper)
        return tuple(max(chance, least) for chance in enough)

    def lead(self, n_classes: int) -> float | None:
        """Return by how much the target must lead the likeliest other class.

        The lead is ``None`` for two classes, where the probability of the target says it all.
        """
        return self.line.lead if n_classes > 2 else None


@kernel
def add_shortfall(
    chances: Floats,  # (i, c, k)
    target: Ints,  # (i,)
    required: Floats,  # (i, 5)
    violation: Floats,  # (i, c); added to
) -> None:
    """Add what probabilities lack to reach the target to the violation ``(i, c)`` of candidates."""
    for i in range(len(chances)):
        told, wanted, own = chances[i], target[i], required[i]
        line = Line(own[0], own[1], own[2], own[3], own[4])
        for c in range(chances.shape[1]):
            violation[i, c] += _shortfall(told, c, wanted, line)


@kernel
def write_odds(
    chances: Floats,  # (i, c, k)
    target: Ints,  # (i,)
    line: Line,
    odds: Floats,  # (i, c); written
) -> None:
    """Write by how many log-odds candidates pass the decision, ``(i, c)``; below 0 they do not."""
    threshold, least = line.threshold, line.least
    for i in range(len(chances)):
        told, wanted = chances[i], target[i]
        for c in range(chances.shape[1]):
            own = told[c, wanted]
            if np.isnan(threshold):
                past = _log(own) - _log(told[c, likeliest(told, c, wanted)])
            else:
                past = _log_odds(told[c, 1]) - _log_odds(threshold)
                past = past if wanted == 1 else -past
            if least == least:
                past = min(past, _log_odds(own) - _log_odds(least))
            is_reached = _shortfall(told, c, wanted, line) <= 0
            odds[i, c] = max(past, 0.0) if is_reached else min(past, -SHORTFALL_ROUNDING)


@part
def _shortfall(told: Floats, c: int, wanted: int, line: Line) -> float:
    """Return what one of the candidates lacks, to which the probabilities ``(c, k)`` are told.

    The target must be decided for, by the threshold or as the first of the likeliest classes, and
    lie beyond the decision by the margin; without a margin the decision is enough.
    """
    own, second = told[c, wanted], told[c, 1]
    threshold, least = line.threshold, line.least
    if np.isnan(threshold) and told.shape[1] == 2:
        lacking = line.upper - own  # what is told, also where the two sum to 1.001
    elif np.isnan(threshold):
        lacking = told[c, likeliest(told, c, wanted)] + line.lead - own
    else:
        lacking = line.upper - second if wanted == 1 else second - line.lower
    is_decided = class_said(told, c, threshold) == wanted
    is_beyond = (line.lead == 0) | (lacking <= SHORTFALL_ROUNDING)  # 0.4 + 0.2 is more than 0.6
    is_enough = is_decided & is_beyond
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
