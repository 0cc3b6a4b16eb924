"""Records in which one value after the other is replaced."""

from collections.abc import Iterator
from typing import Any


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the way to every value inside a record."""
    keys: Any = ()
    if isinstance(value, dict | list):
        keys = list(value) if isinstance(value, dict) else range(len(value))
    for key in keys:
        yield (*path, key)
        yield from places(value[key], (*path, key))
