"""Where each feature may end, by action and as a consequence, and what counts as the target."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from proce.arrays import Array, Flags, Floats, Ints
from proce.classifier.classifier import (
    EVEN,
    decide,
    deciding_chance,
    likeliest,
    predicted_class,
)
from proce.compiled.elementary import log
from proce.compiled.kernel import kernel, part
from proce.errors import SchemaError, did_you_mean
from proce.schema import Action, Categorical, Codec, Continuous, Level
from proce.schema.features.levels import quoted

SHOWN_ROUNDING = 1e-6  # by how much a value may change on the way to a frame and back


@dataclass(frozen=True, eq=False)
class Limits:
    """Bounds for some rows, all ``(i, f)`` in the entries of a row."""

    movable: Array  # whether a feature may be acted on
    # lower, upper: the values that a feature may have in the end without following from others: the
    # range of this call or the permitted range or, without them, the unit range, where most people
    # are, widened to the row's own value; one-way for increase and decrease
    lower: Array
    upper: Array
    # consequence_lower, consequence_upper: the values at which a feature may end that follows from
    # others: within these ranges and that from the lowest to the highest value of the training rows
    consequence_lower: Array
    consequence_upper: Array
    # action_lower, action_upper: The values to which an action may lead. They are not widened where
    # the row's own value lies outside of the permitted range: that value may stay, and what leaves
    # it must end inside.
    action_lower: Array
    action_upper: Array

    def take(self, rows: Array) -> "Limits":
        """Return the limits of some of the rows, given by position."""
        return Limits(
            *(getattr(self, name).take(rows, axis=0) for name in self.__dataclass_fields__)
        )

    def table(self, factual: Array) -> Floats:
        """Return rows ``(i, f)`` and their bounds as kernels read them, ``(i, 7, f)``."""
        _, *bounds = vars(self).values()
        return np.stack((factual, *bounds), axis=1)


@dataclass(frozen=True, eq=False)
class CallLimits:
    """What a call lets a person act on, and how far; read and checked once."""

    # the names of the features that may be acted on, where the schema lets them
    varied: frozenset[str]
    # by name, the limits of the final value in raw units, or levels of an ordinal feature
    ranges: Mapping[str, tuple[Level, Level]]
    bounds: Mapping[str, tuple[float, float]]  # the ranges in the entries of a row
    # whether a number without a range may be brought to any value between the lowest and the
    # highest of the training rows, rather than to where most of them are
    anywhere: bool = False
    both_ways: bool = False  # whether a feature may fall that may only rise, or the other way round

    @classmethod
    def read(
        cls,
        codec: Codec,
        vary: Iterable[str] | None = None,
        ranges: Mapping[str, Any] | None = None,
    ) -> "CallLimits":
        """Read the limits of a call, and refuse those that make no sense."""
        names = _checked_vary(codec, vary)
        bounds = {name: _entries(codec, name, limits) for name, limits in (ranges or {}).items()}
        pairs = {name: (limits[0], limits[1]) for name, limits in (ranges or {}).items()}
        return cls(frozenset(names), pairs, bounds)

    def widened(self) -> "CallLimits":
        """Return the limits under which a number may go as far as any training row."""
        return replace(self, anywhere=True)

    def of_rows(self, codec: Codec, factual: Array) -> Limits:
        """Return what rows ``(i, f)`` may become.

        A factual value outside a permitted range may stay; outside a range of this call it may
        not, since that range binds the final value. A missing cell never moves.
        """
        ends = np.array(
            [self._of_feature(codec, position) for position in range(len(codec.schema))],
            dtype=np.float64,
        )
        low, high, least, most, first, last, lowest, highest, rises, falls, can_move = ends.T
        lower, consequence_lower = (np.minimum(factual, end) for end in (low, least))
        upper, consequence_upper = (np.maximum(factual, end) for end in (high, most))
        lower, consequence_lower = (
            np.maximum(np.where(rises > 0, factual, end), first)
            for end in (lower, consequence_lower)
        )
        upper, consequence_upper = (
            np.minimum(np.where(falls > 0, factual, end), last)
            for end in (upper, consequence_upper)
        )
        action_lower, action_upper = np.maximum(lower, lowest), np.minimum(upper, highest)
        missing = codec.missing(factual)  # no range binds a value that nobody knows
        columns = (
            lower,
            upper,
            consequence_lower,
            consequence_upper,
            action_lower,
            action_upper,
        )
        known = (np.where(missing, factual, column) for column in columns)
        return Limits((can_move > 0) & ~missing, *known)

    def _of_feature(self, codec: Codec, position: int) -> tuple[float, ...]:
        """Return what binds a feature of any row.

        They are the ends to which it may be brought, those at which it may end as a consequence,
        those that the call says, those that an action must obey where the range is permitted, and
        flags: whether it may only rise or only fall, and whether it may be acted on.
        """
        feature = codec.schema.features[position]
        lowest, highest = codec.lowest[position].item(), codec.highest[position].item()
        low, high = least, most = lowest, highest
        first, last = self.bounds.get(feature.name, (-math.inf, math.inf))
        permitted = -math.inf, math.inf
        if isinstance(feature, Continuous) and feature.range is not None:
            low, high = (float(codec.encode_value(feature.name, limit)) for limit in feature.range)
            least, most = max(low, lowest), min(high, highest)
            permitted = low, high
        elif isinstance(feature, Continuous) and feature.name in self.bounds:
            low, high = max(first, lowest), min(last, highest)
        elif isinstance(feature, Continuous) and not self.anywhere:
            low, high = 0.0, 1.0
        rises = feature.action in (Action.INCREASE, Action.WAITS) and not self.both_ways
        falls = feature.action is Action.DECREASE and not self.both_ways
        can_move = feature.name in self.varied and feature.can_be_acted_on
        return low, high, least, most, first, last, *permitted, rises, falls, can_move


def _checked_vary(codec: Codec, vary: Iterable[str] | None) -> set[str]:
    schema = codec.schema
    if vary is None:
        return set(schema.names)
    if isinstance(vary, str):
        raise SchemaError(f"vary is {vary!r}; expected a list of names, such as [{vary!r}].")
    names = list(vary)
    actionable = [
        feature.name
        for feature in schema
        if feature.can_be_acted_on or (feature.action is Action.WAITS and not feature.protected)
    ]
    for name in names:
        if name not in schema:
            raise SchemaError(
                f"vary names {name!r}, which is not a feature; the features are"
                f" {quoted(schema.names)}." + did_you_mean(name, schema.names)
            )
        if name not in actionable:
            reason = "protected" if schema[name].protected else schema[name].action.value
            raise SchemaError(
                f"vary names {name!r}, which is {reason}; these can be acted"
                f" on: {quoted(actionable)}. Leave it out, or edit the schema."
            )
    if not names:
        raise SchemaError(f"vary is empty; name some of {quoted(actionable)}, or leave it out.")
    return set(names)


def _entries(codec: Codec, name: str, limits: Any) -> tuple[float, float]:
    feature = codec.schema[name]
    if isinstance(feature, Categorical):
        raise SchemaError(
            f"ranges names {name!r}, which has no order; use a rule instead, such as"
            f' \'cf["{name}"] == "{feature.levels[0]}"\'.'
        )
    pair = hasattr(limits, "__len__") and not isinstance(limits, str) and len(limits) == 2
    if not pair or any(limit is None for limit in limits):
        raise SchemaError(f"the range of {name!r} is {limits!r}; expected (low, high).")
    low, high = (float(codec.encode_value(name, limit)) for limit in limits)
    if not low <= high:
        raise SchemaError(
            f"the range of {name!r} is {tuple(limits)!r}, which is empty; write the lower limit"
            " first."
        )
    return low, high


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

        The margin does not count: it is there for uncertainty, which these log-odds measure. A
        least probability does.
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
    probabilities: Floats,  # (i, c, k)
    target: Ints,  # (i,)
    required: Floats,  # (i, 5)
    violation: Floats,  # (i, c); added to
) -> None:
    """Add what probabilities lack to reach the target to the violation ``(i, c)`` of candidates."""
    for i in range(len(probabilities)):
        told, wanted, own = probabilities[i], target[i], required[i]
        line = Line(own[0], own[1], own[2], own[3], own[4])
        for c in range(probabilities.shape[1]):
            violation[i, c] += _shortfall(told, c, wanted, line)


@kernel
def write_odds(
    probabilities: Floats,  # (i, c, k)
    target: Ints,  # (i,)
    line: Line,
    odds: Floats,  # (i, c); written
) -> None:
    """Write by how many log-odds candidates pass the decision, ``(i, c)``; below 0 they do not."""
    threshold, least = line.threshold, line.least
    for i in range(len(probabilities)):
        told, wanted = probabilities[i], target[i]
        for c in range(probabilities.shape[1]):
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
    is_decided = predicted_class(told, c, threshold) == wanted
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
