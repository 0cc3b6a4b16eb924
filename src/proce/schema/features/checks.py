"""Checks of a feature's name, numbers and range."""

import math
from collections.abc import Sequence
from typing import Any

from proce.arguments import brief, is_listed
from proce.errors import SchemaError
from proce.schema.features.action import Action


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
