"""What an object shows of itself at a prompt: one line of at most a hundred characters."""

from dataclasses import MISSING, fields
from enum import Enum
from typing import Any

MAX_WIDTH = 100  # characters of a line


def brief_repr(record: Any, *positional: str) -> str:
    """Return how a dataclass was made: its type, and the fields that are not as by default."""
    parts = []
    for field in fields(record):
        value, is_first = getattr(record, field.name), field.name in positional
        if not field.repr or (not is_first and value == _default(field)):
            continue
        shown = repr(value.value if isinstance(value, Enum) else value)
        parts.append(shown if is_first else f"{field.name}={shown}")
    return cut(f"{type(record).__name__}({', '.join(parts)})")


def named(names: Any, max_width: int) -> str:
    """Return names in quotes, as many of them as fit, and an ellipsis where some do not."""
    texts = [repr(name) for name in names]
    shown: list[str] = []
    for text in texts:
        if sum(len(part) + 2 for part in shown) + len(text) + 3 > max_width:
            return ", ".join([*shown, "…"])
        shown.append(text)
    return ", ".join(shown)


def cut(text: str) -> str:
    """Return text that fits a line, its end left out where it is too long."""
    line = " ".join(text.split())
    return line if len(line) <= MAX_WIDTH else f"{line[: MAX_WIDTH - 2].rstrip()}…{line[-1]}"


def _default(field: Any) -> Any:
    return field.default_factory() if field.default_factory is not MISSING else field.default
