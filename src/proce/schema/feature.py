"""The features of a row, and how a person may act on each."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from proce.errors import SchemaError, did_you_mean

Level = str | bool | int | float


MIN_CHANGE = 1e-3  # of the range: a smaller difference of a number without a step is none


class Action(StrEnum):
    """How a feature may move.

    ``free``, ``increase`` and ``decrease`` can be acted on. ``indirect`` is never acted on
    or held: it moves only as a consequence of something else. ``fixed`` never moves; edges
    into it are cut for that person, and the result says so.
    """

    FREE = "free"
    INCREASE = "increase"
    DECREASE = "decrease"
    INDIRECT = "indirect"
    FIXED = "fixed"

    @property
    def is_possible(self) -> bool:
        """Whether a person can act on a feature, or hold it."""
        return self not in (Action.INDIRECT, Action.FIXED)

    @classmethod
    def _missing_(cls, value: object) -> "Action":
        known = [action.value for action in cls]
        raise SchemaError(
            f"unknown action {value!r}; expected one of {', '.join(known)}."
            + did_you_mean(value, known)
        )


@dataclass(frozen=True, slots=True)
class Continuous:
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
    """

    name: str
    range: tuple[float, float] | None = None
    step: float | None = None
    action: Action = Action.FREE

    def __post_init__(self) -> None:
        _check_name(self.name)
        object.__setattr__(self, "action", Action(self.action))
        if self.range is not None:
            object.__setattr__(self, "range", _checked_range(self.name, self.range))
        if self.step is not None:
            step = _finite_number(self.name, "step", self.step)
            if step <= 0:
                raise SchemaError(
                    f"feature {self.name!r}: step is {step:g}; expected a positive number,"
                    " such as 1 for whole numbers. Use step=None for any value."
                )
            object.__setattr__(self, "step", step)

    @property
    def integer(self) -> bool:
        """Whether all values are whole numbers."""
        return self.step is not None and float(self.step).is_integer()

    @property
    def columns(self) -> tuple[str, ...]:
        """The frame columns that hold this feature."""
        return (self.name,)

    @property
    def kind(self) -> str:
        """The word for this type in tables and JSON."""
        return "continuous"


@dataclass(frozen=True, slots=True)
class Ordinal:
    """Levels with an order, the lowest first; ``action="increase"`` means towards the last."""

    name: str
    levels: tuple[Level, ...]
    action: Action = Action.FREE

    def __post_init__(self) -> None:
        _check_name(self.name)
        object.__setattr__(self, "action", Action(self.action))
        object.__setattr__(self, "levels", _checked_levels(self.name, self.levels))

    @property
    def columns(self) -> tuple[str, ...]:
        """The frame columns that hold this feature."""
        return (self.name,)

    @property
    def kind(self) -> str:
        """The word for this type in tables and JSON."""
        return "ordinal"


@dataclass(frozen=True, slots=True)
class Categorical:
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
    """

    name: str
    levels: tuple[Level, ...]
    action: Action = Action.FREE
    one_hot: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _check_name(self.name)
        object.__setattr__(self, "action", Action(self.action))
        object.__setattr__(self, "levels", _checked_levels(self.name, self.levels))
        object.__setattr__(self, "one_hot", tuple(self.one_hot))
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

    @property
    def kind(self) -> str:
        """The word for this type in tables and JSON."""
        return "categorical"


Feature = Continuous | Ordinal | Categorical


def _check_name(name: object) -> None:
    if not isinstance(name, str) or not name:
        raise SchemaError(
            f"feature name {name!r} is not a non-empty string; rename the column,"
            " for example with frame.columns = [str(c) for c in frame.columns]."
        )


def _finite_number(name: str, what: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if isinstance(value, (str, bool)) or not math.isfinite(number):
        raise SchemaError(f"feature {name!r}: {what} is {value!r}; expected a finite number.")
    return number


def _checked_range(name: str, limits: Any) -> tuple[float, float]:
    if not isinstance(limits, Sequence) or isinstance(limits, str) or len(limits) != 2:
        raise SchemaError(f"feature {name!r}: range is {limits!r}; expected (low, high).")
    low, high = (_finite_number(name, "a limit of the range", limit) for limit in limits)
    if low > high:
        raise SchemaError(
            f"feature {name!r}: range ({low:g}, {high:g}) is empty; write the lower limit first."
        )
    return low, high


def _checked_levels(name: str, levels: Any) -> tuple[Level, ...]:
    if isinstance(levels, str) or not isinstance(levels, (Sequence, np.ndarray)):
        raise SchemaError(f"feature {name!r}: levels is {levels!r}; expected a list of values.")
    plain = tuple(plain_level(name, level) for level in levels)
    if not plain:
        raise SchemaError(f"feature {name!r} has no levels; expected at least one.")
    if len({level_type(level) for level in plain}) > 1:
        raise SchemaError(
            f"feature {name!r}: levels {shown(plain)} are of more than one type; expected all"
            " text, all numbers or all true/false. Convert the column to one type."
        )
    if len(set(plain)) != len(plain):
        twice = next(level for level in plain if plain.count(level) > 1)
        raise SchemaError(f"feature {name!r}: level {twice!r} is listed twice; list each once.")
    return plain


def plain_level(name: str, level: Any) -> Level:
    """Return a level as a plain Python value, so that it survives JSON."""
    value = level.item() if isinstance(level, np.generic) else level
    if isinstance(value, float) and not math.isfinite(value):
        raise SchemaError(
            f"feature {name!r}: {value!r} is not a level; a missing value needs none of its own."
        )
    if not isinstance(value, (str, bool, int, float)):
        raise SchemaError(
            f"feature {name!r}: level {value!r} is of type {type(value).__name__}; expected text,"
            " a number or true/false. Convert the column, for example with .astype(str)."
        )
    return value


def level_type(level: Level) -> str:
    """Return ``text``, ``flag`` or ``number``: 1, True and "1" are not the same level."""
    if isinstance(level, bool):
        return "flag"
    return "text" if isinstance(level, str) else "number"


def level_key(level: Level) -> tuple[str, Level]:
    """Return what tells a level apart from all others."""
    return level_type(level), level


def find_level(levels: Sequence[Level], value: Any) -> int | None:
    """Return the position of a value among levels, or ``None`` where it is none of them."""
    for position, level in enumerate(levels):
        if level == value and level_type(level) == level_type(value):
            return position
    return None


def shown(levels: Sequence[object], max_levels: int = 8) -> str:
    """Return levels as text for a message, the first few of them where they are many."""
    few = ", ".join(repr(level) for level in levels[:max_levels])
    return few if len(levels) <= max_levels else f"{few}, … ({len(levels)} in all)"
