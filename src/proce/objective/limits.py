"""Where each feature may end: by action, and as a consequence."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from proce.arrays import Array, Flags, Floats
from proce.compiled.cells import is_level, is_missing
from proce.compiled.kernel import kernel, part
from proce.errors import SchemaError, did_you_mean
from proce.objective.terms import FACTUAL, add_beyond_limits, most_changes
from proce.schema import Action, Categorical, Codec, Continuous, Level
from proce.schema.features.levels import shown

SHOWN_ROUNDING = 1e-6  # by how much a value may change on the way to a frame and back


@dataclass(frozen=True, eq=False)
class Limits:
    """Bounds for some rows, all ``(i, f)`` in the entries of a row.

    Attributes
    ----------
    movable
        Whether a feature may be acted on.
    lower, upper
        The values that a feature may have in the end without following from others: the range of
        this call or the permitted range or, without them, the unit range, where most people are,
        widened to the row's own value; one-way for ``increase`` and ``decrease``.
    consequence_lower, consequence_upper
        The values at which a feature may end that follows from others: within these ranges and
        that from the lowest to the highest value of the training rows.
    action_lower, action_upper
        The values to which an action may lead. They are not widened where the row's own value lies
        outside of the permitted range: that value may stay, and what leaves it must end inside.
    """

    movable: Array
    lower: Array
    upper: Array
    consequence_lower: Array
    consequence_upper: Array
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
    """What a call lets a person act on, and how far; read and checked once.

    Attributes
    ----------
    varied
        The names of the features that may be acted on, where the schema lets them.
    ranges
        By name, the limits of the final value in raw units, or levels of an ordinal feature.
    bounds
        The ranges in the entries of a row.
    anywhere
        Whether a number without a range may be brought to any value between the lowest and the
        highest of the training rows, rather than to where most of them are.
    both_ways
        Whether a feature may fall that may only rise, or the other way round.
    """

    varied: frozenset[str]
    ranges: Mapping[str, tuple[Level, Level]]
    bounds: Mapping[str, tuple[float, float]]
    anywhere: bool = False
    both_ways: bool = False

    @classmethod
    def read(
        cls,
        codec: Codec,
        vary: Iterable[str] | None = None,
        ranges: Mapping[str, Any] | None = None,
    ) -> "CallLimits":
        """Read the limits of a call, and refuse those that make no sense.

        Parameters
        ----------
        codec
            The schema and the scale of the features.
        vary
            The names that may be acted on; ``None`` for all that the schema lets move.
        ranges
            ``{name: (low, high)}`` for this call, in raw units or levels of an ordinal feature.
        """
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

        Parameters
        ----------
        codec
            The schema, which says which actions there are, and the scale of the features.
        factual
            The rows as they are.
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


class Bounds(NamedTuple):
    """What binds rows, as arrays.

    Attributes
    ----------
    movable
        ``(i, f)``, whether a feature may be acted on.
    known
        ``(i, 7, f)``, the rows as they are, and their limits: :meth:`Limits.table`.
    reach, is_number, avoided
        ``(f,)``, ``(f,)`` and ``(f, l)``, as the codec has them.
    max_changes
        The most actions and holds of a row; infinite without such a limit.
    """

    movable: Flags
    known: Floats
    reach: Floats
    is_number: Flags
    avoided: Flags
    max_changes: float


def obey_limits(
    limits: Limits,
    codec: Codec,
    factual: Array,
    rows: Array,
    moved: Array,
    by_hand: Array,
    max_changes: int | None = None,
) -> Flags:
    """Return which rows ``(i, c, f)`` of people ``(i, f)`` obey every limit, ``(i, c)``.

    ``moved`` and ``by_hand (i, c, f)`` say which cells are told to have moved, and are acted on or
    held.
    """
    obeys, _ = _asked(limits, codec, factual, rows, moved, by_hand, max_changes)
    return obeys


def find_beyond(limits: Limits, codec: Codec, factual: Array, rows: Array, by_hand: Array) -> Flags:
    """Return which cells of rows ``(i, c, f)`` are beyond their limits by more than rounding.

    So is an action that leads to an avoided level. ``by_hand (i, c, f)`` says what is acted on.
    """
    _, beyond = _asked(limits, codec, factual, rows, by_hand, by_hand, None)
    return np.moveaxis(beyond, 1, 2) > SHOWN_ROUNDING


def _asked(
    limits: Limits,
    codec: Codec,
    factual: Array,
    rows: Array,
    moved: Array,
    by_hand: Array,
    max_changes: int | None,
) -> tuple[Flags, Floats]:
    n_rows, n_candidates, n_features = rows.shape
    obeys = np.empty((n_rows, n_candidates), np.bool_)
    beyond = np.empty((n_rows, n_features, n_candidates))
    bounds = Bounds(
        np.ascontiguousarray(limits.movable),
        limits.table(factual),
        codec.reach,
        codec.is_number,
        codec.avoided,
        most_changes(max_changes),
    )
    values, moves, acts = map(np.ascontiguousarray, (rows, moved, by_hand))
    write_obeying(values, moves, acts, bounds, beyond, obeys)
    return obeys, beyond


@kernel
def write_obeying(
    rows: Floats,  # (i, c, f)
    moved: Flags,  # (i, c, f)
    by_hand: Flags,  # (i, c, f)
    bounds: Bounds,
    beyond: Floats,  # (i, f, c); written
    obeys: Flags,  # (i, c); written
) -> None:
    """Write which rows obey every limit, and how far each of their cells is beyond its own.

    A row must also do with each cell what is said of it: move it, act on it or leave it. A cell may
    be off by rounding; an action that leads to an avoided level is infinitely far beyond.
    """
    n_candidates, n_features = rows.shape[1], rows.shape[2]
    acts, count = np.empty(n_candidates, np.bool_), np.empty(n_candidates, np.int64)
    for i in range(len(rows)):
        cells, own, excess = rows[i], bounds.known[i], beyond[i]
        obeys[i], count[:] = True, 0
        for f in range(n_features):
            before, is_number = own[FACTUAL, f], bounds.is_number[f]
            for c in range(n_candidates):
                value, moves, acts[c] = cells[c, f], moved[i, c, f], by_hand[i, c, f]
                is_same = value == before or is_missing(value, is_number)
                obeys[i, c] &= bounds.movable[i, f] or not acts[c]
                obeys[i, c] &= is_same or moves or acts[c]
                obeys[i, c] &= not (is_same and moves and acts[c])
                leads = acts[c] and not is_same and is_avoided(value, bounds.avoided[f])
                excess[f, c] = np.inf if leads else 0.0
                count[c] += acts[c]
            add_beyond_limits(cells, f, acts, own, bounds.reach[f], excess, f)
            for c in range(n_candidates):
                obeys[i, c] &= excess[f, c] <= SHOWN_ROUNDING
        for c in range(n_candidates):
            obeys[i, c] &= count[c] <= bounds.max_changes


@part
def is_avoided(value: float, avoided: Flags) -> bool:
    """Return whether no action may lead to a value of a feature, by its levels ``(l,)``."""
    return is_level(value, len(avoided)) and avoided[np.int64(value)]
