"""What was made a moment ago and may be asked for again."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class LruCache(Generic[Key, Value]):
    """The last few values by key; the one that was not asked for the longest goes first."""

    def __init__(self, max_values: int, max_size: int | None = None) -> None:
        self._max_values, self._max_size = max_values, max_size
        self._values: OrderedDict[Key, tuple[Value, int]] = OrderedDict()

    def get(self, key: Key, make: Callable[[], Value], size: int = 0) -> Value:
        """Return the value of a key, which is made where it is not kept."""
        if key not in self._values:
            self._values[key] = make(), size
            while len(self._values) > 1 and self._is_full:
                self._values.popitem(last=False)
        self._values.move_to_end(key)
        return self._values[key][0]

    def __len__(self) -> int:
        return len(self._values)

    @property
    def _is_full(self) -> bool:
        size = sum(own for _, own in self._values.values())
        too_large = self._max_size is not None and size > self._max_size
        return len(self._values) > self._max_values or too_large
