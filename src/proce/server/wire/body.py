"""JSON bodies, read strictly: UTF-8, bounded depth, no lone surrogates."""

import json
import re
from typing import Any

MAX_DEPTH = 32

_ODD_ESCAPES = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")


class BodyError(ValueError):
    """A body that is no JSON of the kind that the service takes."""


def parse_body(body: bytes) -> Any:
    """Return the value that a body holds."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BodyError(f"The body is not UTF-8 (byte {error.start}).") from None
    try:
        value = json.loads(text, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        raise BodyError(
            f"The body is not JSON: {error.msg} (line {error.lineno}, column {error.colno})."
        ) from None
    except BodyError:
        raise
    except RecursionError:
        raise BodyError(f"The body is nested more than {MAX_DEPTH} levels deep.") from None
    except ValueError:
        raise BodyError("The body holds a number with too many digits.") from None
    _refuse_depth(value)
    if _ODD_ESCAPES.search(body):
        _refuse_odd_text(value)
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for name, part in pairs:
        if name in value:
            raise BodyError(f"The body has the name {name[:80]!r} twice in one object.")
        value[name] = part
    return value


def _refuse_depth(value: Any) -> None:
    level = [value] if isinstance(value, dict | list) else []
    depth = 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise BodyError(f"The body is nested more than {MAX_DEPTH} levels deep.")
        level = [
            part
            for whole in level
            for part in (whole.values() if isinstance(whole, dict) else whole)
            if isinstance(part, dict | list)
        ]


def _refuse_odd_text(value: Any) -> None:
    """Refuse half of a surrogate pair, which UTF-8 cannot hold, and NUL, which databases refuse."""
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise BodyError("The body holds half of a surrogate pair, which is no text.") from None
    if "\\u0000" in text:
        raise BodyError("The body holds the character U+0000, which no text may hold.")
