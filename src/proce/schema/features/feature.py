"""The features of a row, and how a person may act on each."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from enum import StrEnum
from typing import Any

from proce.arguments import MAX_EFFORT, MIN_EFFORT, brief, is_listed
from proce.errors import SchemaError, did_you_mean
from proce.schema.features.levels import Level, checked_avoid, checked_labels, checked_levels
from proce.schema.features.naming import checked_unit, checked_words
from proce.schema.features.reprs import short_repr


class Action(StrEnum):
    """How a feature may move.

    ``free``, ``increase`` and ``decrease`` can be acted on. ``indirect`` is never acted on
    or held: it moves only as a consequence of something else. ``waits`` is time: it rises by
    waiting, together with all other such features, and is not something one does. ``fixed`` never
    moves. Edges into what waits or is fixed are cut for that person, and the result says so.
    """

    FREE = "free"
    INCREASE = "increase"
    DECREASE = "decrease"
    WAITS = "waits"
    INDIRECT = "indirect"
    FIXED = "fixed"

    @property
    def is_possible(self) -> bool:
        """Whether a person can act on a feature, or hold it."""
        return self in (Action.FREE, Action.INCREASE, Action.DECREASE)

    @property
    def has_no_causes(self) -> bool:
        """Whether edges into a feature are cut: nothing moves it, or time alone."""
        return self in (Action.FIXED, Action.WAITS)

    @classmethod
    def _missing_(cls, value: object) -> "Action":
        known = [action.value for action in cls]
        raise SchemaError(
            f"unknown action {value!r}; expected one of {', '.join(known)}."
            + did_you_mean(value, known)
        )


_DAYS_PER_YEAR = 365.25
YEARS_PER_UNIT = {
    "year": 1.0,
    "month": 1 / 12,
    "week": 7 / _DAYS_PER_YEAR,
    "day": 1 / _DAYS_PER_YEAR,
}
_SPELLINGS = {
    **dict.fromkeys(("year", "years", "yr", "yrs", "y"), "year"),
    **dict.fromkeys(("month", "months", "mo", "mos"), "month"),
    **dict.fromkeys(("week", "weeks", "wk", "wks"), "week"),
    **dict.fromkeys(("day", "days", "d"), "day"),
}


def time_unit(unit: str | None) -> str | None:
    """Return ``year``, the default, ``month``, ``week`` or ``day``; ``None`` for other units."""
    return "year" if unit is None else _SPELLINGS.get(unit.strip().rstrip(".").lower())


def check_name(name: object) -> None:
    """Refuse what cannot name a feature."""
    if not isinstance(name, str) or not name:
        raise SchemaError(
            f"feature name {name!r} is not a non-empty string; rename the column,"
            " for example with frame.columns = [str(c) for c in frame.columns]."
        )


def finite_number(name: str, what: str, value: Any) -> float:
    """Return a finite number, or say which field of a feature is none."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if isinstance(value, (str, bool)) or not math.isfinite(number):
        raise SchemaError(f"feature {name!r}: {what} is {value!r}; expected a finite number.")
    return number


def checked_range(name: str, limits: Any) -> tuple[float, float]:
    """Return the two ends of a permitted range, the lower first."""
    if not isinstance(limits, Sequence) or isinstance(limits, str) or len(limits) != 2:
        raise SchemaError(f"feature {name!r}: range is {limits!r}; expected (low, high).")
    low, high = (finite_number(name, "a limit of the range", limit) for limit in limits)
    if low > high:
        raise SchemaError(
            f"feature {name!r}: range ({low:g}, {high:g}) is empty; write the lower limit first."
        )
    return low, high


def checked_action(name: str, action: Any) -> Action:
    """Return how a feature may move, or say why it cannot."""
    if not isinstance(action, str):
        raise SchemaError(
            f"feature {name!r}: action is {brief(action)}; expected one of"
            f" {', '.join(known.value for known in Action)}."
        )
    return Action(action)


def checked_columns(name: str, columns: Any) -> tuple[str, ...]:
    """Return the columns of a one-hot feature, or say what is wrong with them."""
    names = tuple(columns) if is_listed(columns) else None
    if names is None or not all(isinstance(column, str) for column in names):
        raise SchemaError(
            f"feature {name!r}: one_hot is {brief(columns)}; expected a list of column names, one"
            " for each level."
        )
    return names


MIN_CHANGE = 1e-3  # of the range: what a number without a step is told to; half of it is none


@dataclass(frozen=True, slots=True, repr=False)
class _Declared:
    """What is declared of every feature, and checked in the same way; see :data:`Feature`."""

    name: str
    _: KW_ONLY
    label: str | None = None
    unit: str | None = None
    effort: float = 1.0
    protected: bool = False

    @property
    def action(self) -> Action:
        """How the feature may move; each kind has it where its arguments have it."""
        raise NotImplementedError

    @property
    def columns(self) -> tuple[str, ...]:
        """The frame columns that hold this feature."""
        return (self.name,)

    @property
    def can_be_acted_on(self) -> bool:
        """Whether a person can act on the feature, or hold it."""
        return self.action.is_possible and not self.protected

    @property
    def kind(self) -> str:
        """The word for this type in tables and JSON."""
        return type(self).__name__.lower()

    def __repr__(self) -> str:
        return short_repr(self)

    def _keep(self, **plain: Any) -> None:
        """Keep fields in their plain form."""
        for field_name, value in plain.items():
            object.__setattr__(self, field_name, value)

    def _check(self) -> None:
        """Check what every type of feature has."""
        check_name(self.name)
        name, label, unit = self.name, self.label, self.unit
        effort = finite_number(name, "effort", self.effort)
        if not MIN_EFFORT <= effort <= MAX_EFFORT:
            raise SchemaError(
                f"feature {name!r}: effort is {effort:g}; expected {MIN_EFFORT:g} (easy) to"
                f" {MAX_EFFORT:g} (hard), 1 being usual."
            )
        if not isinstance(self.protected, bool):
            raise SchemaError(
                f"feature {name!r}: protected is {self.protected!r}; expected true or false."
            )
        self._keep(
            action=checked_action(name, self.action),
            label=None if label is None else checked_words(f"feature {name!r}: label", label),
            unit=None if unit is None else checked_unit(name, unit),
            effort=effort,
        )


@dataclass(frozen=True, slots=True, repr=False)
class Continuous(_Declared):
    """A number.

    Parameters
    ----------
    name
        The column's name.
    range
        The permitted values ``(low, high)`` in raw units, ends included; ``None`` leaves
        the limits to the training rows.
    step
        Values are shown as multiples of it: 1 for whole numbers, 100 for round dollars.
        ``None`` for any value.
    action
        How the feature may move.
    label
        The feature's name for people; ``None`` splits the column's name into words.
    unit
        What stands beside a number: ``$`` before it, ``months`` behind it; see
        :func:`proce.schema.features.naming.with_unit`.
    effort
        How hard a change usually is, from 0.1 (easy) to 10 (hard); a call may say otherwise.
    protected
        Whether nobody is advised about it: it is never acted on or held, and only an auditor's
        view shows it.
    """

    range: tuple[float, float] | None = None
    step: float | None = None
    action: Action = Action.FREE

    def __post_init__(self) -> None:
        self._check()
        if self.range is not None:
            self._keep(range=checked_range(self.name, self.range))
        if self.step is not None:
            step = finite_number(self.name, "step", self.step)
            if step <= 0:
                raise SchemaError(
                    f"feature {self.name!r}: step is {step:g}; expected a positive number,"
                    " such as 1 for whole numbers. Use step=None for any value."
                )
            self._keep(step=step)
        if self.action is Action.WAITS and time_unit(self.unit) is None:
            raise SchemaError(
                f"feature {self.name!r} waits, and its unit is {self.unit!r}; expected a unit of"
                " time: years, months, weeks or days. Without a unit it is counted in years."
            )

    @property
    def integer(self) -> bool:
        """Whether all values are whole numbers."""
        return self.step is not None and float(self.step).is_integer()


@dataclass(frozen=True, slots=True, repr=False)
class _Levelled(_Declared):
    """What is declared of a feature with levels."""

    levels: tuple[Level, ...]
    action: Action = Action.FREE
    _: KW_ONLY
    labels: Mapping[Any, str] = field(default_factory=dict, hash=False)
    avoid: tuple[Level, ...] = ()

    def __post_init__(self) -> None:
        self._check()
        name, levels = self.name, checked_levels(self.name, self.levels)
        labels = checked_labels(name, levels, self.labels)
        self._keep(levels=levels, labels=labels, avoid=checked_avoid(name, levels, self.avoid))
        if self.action is Action.WAITS:
            raise SchemaError(
                f"feature {name!r}: only a number can wait, and this feature has levels."
                " Declare it Continuous, or choose another action."
            )


@dataclass(frozen=True, slots=True, repr=False)
class Ordinal(_Levelled):
    """Levels with an order, the lowest first; ``action="increase"`` means towards the last.

    Parameters
    ----------
    name
        The column's name.
    levels
        All permitted values.
    action
        How the feature may move.
    label
        The feature's name for people; ``None`` splits the column's name into words.
    unit
        What stands beside a number: ``$`` before it, ``months`` behind it; see
        :func:`proce.schema.features.naming.with_unit`.
    effort
        How hard a change usually is, from 0.1 (easy) to 10 (hard); a call may say otherwise.
    protected
        Whether nobody is advised about it: it is never acted on or held, and only an auditor's
        view shows it.
    labels
        Words for some of the levels, by level.
    avoid
        Levels that are never advised, such as ``"unemployed"``; who has one may keep it.
    """


@dataclass(frozen=True, slots=True, repr=False)
class Categorical(_Levelled):
    """Levels without an order, in one column or one-hot over several that move together.

    Parameters
    ----------
    name
        The feature's name; the column's too, unless it is one-hot.
    levels
        All permitted values.
    action
        ``free``, ``indirect`` or ``fixed``: without an order nothing can increase.
    one_hot
        For a one-hot feature, the column of each level, in the order of ``levels``.
    label
        The feature's name for people; ``None`` splits the column's name into words.
    unit
        What stands beside a number: ``$`` before it, ``months`` behind it; see
        :func:`proce.schema.features.naming.with_unit`.
    effort
        How hard a change usually is, from 0.1 (easy) to 10 (hard); a call may say otherwise.
    protected
        Whether nobody is advised about it: it is never acted on or held, and only an auditor's
        view shows it.
    labels
        Words for some of the levels, by level.
    avoid
        Levels that are never advised, such as ``"unemployed"``; who has one may keep it.
    """

    one_hot: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _Levelled.__post_init__(self)  # super() does not know a class with slots
        self._keep(one_hot=checked_columns(self.name, self.one_hot))
        if self.action in (Action.INCREASE, Action.DECREASE):
            raise SchemaError(
                f"feature {self.name!r}: {self.action.value!r} needs an order, and a categorical"
                " feature has none. Declare it Ordinal, or choose free, indirect or fixed."
            )
        if self.one_hot and len(self.one_hot) != len(self.levels):
            raise SchemaError(
                f"feature {self.name!r}: {len(self.one_hot)} one-hot columns for"
                f" {len(self.levels)} levels; expected one column per level, in the same order."
            )
        if len(set(self.one_hot)) != len(self.one_hot):
            raise SchemaError(
                f"feature {self.name!r}: a one-hot column is named twice; name each once."
            )

    @property
    def columns(self) -> tuple[str, ...]:
        """The frame columns that hold this feature."""
        return self.one_hot or (self.name,)


Feature = Continuous | Ordinal | Categorical
