"""Where each feature may end: by action, and as a consequence."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from proce.arrays import Array, Floats
from proce.errors import SchemaError, did_you_mean
from proce.schema import Action, Categorical, Codec, Continuous, Level
from proce.schema.features.levels import shown

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

    def take(self, instances: Array) -> "Limits":
        """Return the limits of some of the rows, given by position."""
        return Limits(
            *(getattr(self, name).take(instances, axis=0) for name in self.__dataclass_fields__)
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
                f" {shown(schema.names)}." + did_you_mean(name, schema.names)
            )
        if name not in actionable:
            reason = "protected" if schema[name].protected else schema[name].action.value
            raise SchemaError(
                f"vary names {name!r}, which is {reason}; these can be acted"
                f" on: {shown(actionable)}. Leave it out, or edit the schema."
            )
    if not names:
        raise SchemaError(f"vary is empty; name some of {shown(actionable)}, or leave it out.")
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
