"""The error of a wrong request, and how it writes names and values: short, whatever they are."""

from collections.abc import Sequence
from typing import Any

from proce.errors import ProceError, did_you_mean

_MAX_CHARACTERS = 60  # of a name or a value in a message
_MAX_LISTED = 8


class RequestError(ProceError, ValueError):
    """A field that cannot be honoured, such as ``rows[0].savings`` or ``rules[2]``."""

    def __init__(self, field: str, message: str, position: int | None = None) -> None:
        super().__init__(field, message, position)  # and survives the way between processes
        self.field, self.message = field, message
        self.position = position  # how many characters of a text stand before the mistake

    def __str__(self) -> str:
        return f"{self.field}: {self.message}"


def brief(value: Any) -> str:
    """Return a name in quotes, or a value as it is written, cut where it is too long to read."""
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "an object"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    text = value if isinstance(value, str) else f"{value}"
    cut = text if len(text) <= _MAX_CHARACTERS else f"{text[: _MAX_CHARACTERS - 1]}…"
    return repr(cut) if isinstance(value, str) else cut


def listed(values: Sequence[Any]) -> str:
    """Return the first few of some names or values, and how many there are in all."""
    few = ", ".join(brief(value) for value in values[:_MAX_LISTED])
    return few if len(values) <= _MAX_LISTED else f"{few}, … ({len(values)} in all)"


def near(value: Any, known: Sequence[Any]) -> str:
    """Return ``" Did you mean 'x'?"`` for a near name; long names are compared with nothing."""
    text = str(value)
    if len(text) > _MAX_CHARACTERS:
        return ""
    return did_you_mean(text, [name for name in known if len(str(name)) <= _MAX_CHARACTERS])
