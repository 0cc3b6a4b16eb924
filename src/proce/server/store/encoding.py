"""JSON and text as every database takes them."""

import json
from typing import Any


def to_text(value: Any) -> str:
    """Return a JSON value as text in ASCII: lone surrogates and NUL are escapes there."""
    return json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def plain(words: str) -> str:
    """Return words without what a database refuses: NUL, and halves of a character."""
    return words.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")


def plain_json(text: str) -> str:
    """Return JSON text whose lone surrogates are escaped; the same value in valid Unicode."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
