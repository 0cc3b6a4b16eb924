"""JSON and text as every database takes them."""

import json
from collections.abc import Mapping
from typing import Any

_MAX_BRIEF_FIELD = 1_000  # characters of JSON
_MAX_WORDS = 10_000


def to_text(value: Any) -> str:
    """Return a JSON value as text in ASCII: lone surrogates and NUL are escapes there."""
    return json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def brief(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return a request without its long fields, such as thousands of rows."""
    return {
        name: value for name, value in request.items() if len(to_text(value)) <= _MAX_BRIEF_FIELD
    }


def plain(words: str) -> str:
    """Return words without what a database refuses: NUL, and halves of a character."""
    return words[:_MAX_WORDS].replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")


def plain_json(text: str) -> str:
    """Return JSON text whose lone surrogates are escaped; the same value in valid Unicode."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
