"""The levels of a feature: plain values that survive JSON, told apart by value and type."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from proce.arguments import brief, is_listed
from proce.errors import SchemaError, did_you_mean
from proce.schema.features.naming import checked_words

Level = str | bool | int | float


def checked_levels(name: str, levels: Any) -> tuple[Level, ...]:
    """Return the levels of a feature as plain values, or say what is wrong with them."""
    if not is_listed(levels) or not isinstance(levels, (Sequence, np.ndarray)):
        raise SchemaError(
            f"feature {name!r}: levels is {brief(levels)}; expected a list of values."
        )
    plain = tuple(plain_level(name, level) for level in levels)
    if not plain:
        raise SchemaError(f"feature {name!r} has no levels; expected at least one.")
    if len({level_type(level) for level in plain}) > 1:
        raise SchemaError(
            f"feature {name!r}: levels {quoted(plain)} are of more than one type; expected all"
            " text, all numbers or all true/false. Convert the column to one type."
        )
    if len(set(plain)) != len(plain):
        twice = next(level for level in plain if plain.count(level) > 1)
        raise SchemaError(f"feature {name!r}: level {twice!r} is listed twice; list each once.")
    return plain


def checked_labels(name: str, levels: Sequence[Level], labels: Any) -> dict[Level, str]:
    """Return the words for some of the levels, in the order of the levels."""
    if not isinstance(labels, Mapping):
        raise SchemaError(
            f"feature {name!r}: labels is {labels!r}; expected words by level, such as"
            f" {{{levels[0]!r}: 'words'}}."
        )
    words = {
        _known_position(name, "labels", levels, level): checked_words(
            f"feature {name!r}: the label of level {level!r}", text
        )
        for level, text in labels.items()
    }
    return {levels[position]: words[position] for position in sorted(words)}


def checked_avoid(name: str, levels: Sequence[Level], avoid: Any) -> tuple[Level, ...]:
    """Return the levels that are never advised, in the order of the levels."""
    if not is_listed(avoid):
        raise SchemaError(
            f"feature {name!r}: avoid is {brief(avoid)}; expected a list of levels, such as"
            f" [{brief(avoid)}]."
        )
    positions = {_known_position(name, "avoid", levels, level) for level in avoid}
    if len(positions) == len(levels):
        raise SchemaError(
            f"feature {name!r}: avoid names every level, so nothing could be advised; leave some"
            " out, or use action='fixed' or 'indirect'."
        )
    return tuple(levels[position] for position in sorted(positions))


def plain_level(name: str, level: Any) -> Level:
    """Return a level as a plain Python value, so that it survives JSON."""
    value = level.item() if isinstance(level, np.generic) else level
    if isinstance(value, float) and not math.isfinite(value):
        raise SchemaError(
            f"feature {name!r}: {value!r} is not a level; a missing value needs none of its own."
        )
    if not isinstance(value, (str, bool, int, float)):
        kind = " missing" if value is None else f" of type {type(value).__name__}"
        raise SchemaError(
            f"feature {name!r}: level {value!r} is{kind}; expected text,"
            " a number or true/false. Convert the column, for example with .astype(str)."
        )
    return value


def level_type(level: object) -> str:
    """Return ``text``, ``flag`` or ``number``: 1, True and "1" are not the same level."""
    if isinstance(level, bool):
        return "flag"
    return "text" if isinstance(level, str) else "number"


def level_key(level: Level) -> tuple[str, Level]:
    """Return what tells a level apart from all others."""
    return level_type(level), level


def find_level(levels: Sequence[Level], value: Any) -> int | None:
    """Return the position of a value among levels, or ``None`` where it is none of them."""
    if not isinstance(value, str | bool | int | float | np.generic):
        return None
    for position, level in enumerate(levels):
        if level == value and level_type(level) == level_type(value):
            return position
    return None


def rank_span(n_levels: int) -> int:
    """Return what ranks are divided by to lie between 0 and 1."""
    return max(1, n_levels - 1)


def quoted(levels: Sequence[object], max_levels: int = 8) -> str:
    """Return levels as text for a message, the first few of them where they are many."""
    few = ", ".join(repr(level) for level in levels[:max_levels])
    return few if len(levels) <= max_levels else f"{few}, … ({len(levels)} in all)"


def _known_position(name: str, field: str, levels: Sequence[Level], level: Any) -> int:
    value = level.item() if isinstance(level, np.generic) else level
    position = find_level(levels, value)
    if position is None:
        raise SchemaError(
            f"feature {name!r}: {field} names {value!r}, which is not a level; the levels are"
            f" {quoted(levels)}." + did_you_mean(value, levels)
        )
    return position
