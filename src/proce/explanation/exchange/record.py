"""Checked access to values read from JSON: a wrong one is named by its place."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

from proce.errors import SchemaError


@dataclass(frozen=True, slots=True)
class Record:
    """A value, and where in the text it stands."""

    value: Any
    place: str

    def refuse(self, expected: str) -> NoReturn:
        """Say what was wrong and what was expected."""
        shown = repr(self.value)
        shown = shown if len(shown) <= 60 else f"{shown[:59]}…"
        place = self.place or "the text"
        raise SchemaError(
            f"the explanations cannot be read: {place} is {shown}; expected {expected}."
            " The text was changed or is damaged; write it again with to_json()."
        )

    def __getitem__(self, name: str) -> "Record":
        self._require(dict, "an object")
        if name not in self.value:
            self.refuse(f"an object with {name!r}")
        return Record(self.value[name], f"{self.place}.{name}" if self.place else name)

    def get(self, name: str) -> "Record | None":
        """Return a field, or None where it is absent or null."""
        self._require(dict, "an object")
        return self[name] if self.value.get(name) is not None else None

    def fields(self) -> Iterator[tuple[str, "Record"]]:
        """Yield the fields of an object."""
        self._require(dict, "an object")
        return ((name, self[name]) for name in self.value)

    def items(self) -> "list[Record]":
        """Return the items of a list."""
        self._require(list, "a list")
        return [Record(each, f"{self.place}[{at}]") for at, each in enumerate(self.value)]

    def text(self) -> str:
        """Return a text."""
        self._require(str, "a text")
        return str(self.value)

    def texts(self) -> tuple[str, ...]:
        """Return a list of texts."""
        return tuple(each.text() for each in self.items())

    def flag(self) -> bool:
        """Return true or false."""
        self._require(bool, "true or false")
        return bool(self.value)

    def number(self) -> float:
        """Return a finite number."""
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            self.refuse("a number")
        try:
            number = float(self.value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            self.refuse("a finite number")
        return number

    def number_or_missing(self) -> float:
        """Return a finite number, or NaN for null."""
        return math.nan if self.value is None else self.number()

    def count(self, most: int = 2**53) -> int:
        """Return a whole number from 0 on."""
        if isinstance(self.value, bool) or not isinstance(self.value, int):
            self.refuse("a whole number")
        if not 0 <= self.value <= most:
            self.refuse(f"a whole number from 0 to {most}")
        return self.value

    def integer(self) -> int:
        """Return a whole number."""
        if isinstance(self.value, bool) or not isinstance(self.value, int):
            self.refuse("a whole number")
        return self.value

    def level(self) -> str | bool | int | float:
        """Return a text, a number or true or false."""
        if isinstance(self.value, str | bool):
            return self.value
        number = self.number()
        return self.value if isinstance(self.value, int) else number

    def plain(self) -> dict[str, Any]:
        """Return an object as it is."""
        self._require(dict, "an object")
        return dict(self.value)

    def _require(self, kind: type, words: str) -> None:
        if not isinstance(self.value, kind):
            self.refuse(words)
