"""What an object shows of itself at a prompt: one line of at most a hundred characters."""

from dataclasses import MISSING, Field, fields
from enum import Enum
from typing import Any

MAX_WIDTH = 100  # characters of a line


def short_repr(record: Any) -> str:
    """Return how a dataclass was made: its type, and the fields that are not as by default."""
    parts = []
    for field in ordered_fields(record):
        value, default = getattr(record, field.name), _default(field)
        if not field.repr or value == default:
            continue
        text = repr(value.value if isinstance(value, Enum) else value)
        parts.append(text if default is MISSING else f"{field.name}={text}")
    return one_line(f"{type(record).__name__}({', '.join(parts)})")


def ordered_fields(record: Any) -> list[Field[Any]]:
    """Return the fields of a dataclass in the order of its arguments."""
    return sorted(fields(record), key=lambda field: field.kw_only is True)


def quoted_names(names: Any, max_width: int) -> str:
    """Return names in quotes, as many of them as fit, and an ellipsis where some do not."""
    texts = [repr(name) for name in names]
    kept: list[str] = []
    for text in texts:
        if sum(len(part) + 2 for part in kept) + len(text) + 3 > max_width:
            return ", ".join([*kept, "…"])
        kept.append(text)
    return ", ".join(kept)


def one_line(text: str) -> str:
    """Return text that fits a line, its end left out where it is too long."""
    line = " ".join(text.split())
    return line if len(line) <= MAX_WIDTH else f"{line[: MAX_WIDTH - 2].rstrip()}…{line[-1]}"


def _default(field: Field[Any]) -> Any:
    return field.default_factory() if field.default_factory is not MISSING else field.default
