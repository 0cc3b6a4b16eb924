"""What was worked out for objects that do not change, such as the categories of a dtype."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

Value = TypeVar("Value")

_MAX_KNOWN = 512


class Remembered(Generic[Value]):
    """Values that belong to some objects, which are told apart by identity.

    The objects are kept too, so that no other object can take the identity of one of them. Their
    number is limited: at the limit everything is forgotten.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[int, ...], tuple[tuple[Any, ...], Value]] = {}

    def get(self, make: Callable[..., Value], *objects: Any) -> Value:
        """Return what belongs to some objects, made from them when they are first seen."""
        key = tuple(map(id, objects))
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= _MAX_KNOWN:
                self._known.clear()
            known = self._known[key] = objects, make(*objects)
        return known[1]
