"""The values of rows both ways: plain values of JSON, raw units, and the entries of a codec."""

import math
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from proce.arrays import Array, Floats
from proce.explanation.exchange.plain_json import finite_or_none
from proce.explanation.record.rows import ExplainedRows
from proce.explanation.words.cells import plain_column
from proce.losses import Loss
from proce.schema import MISSING_LEVEL, Codec, Continuous, Feature
from proce.schema.features.levels import level_type
from proce.schema.records import RecordError
from proce.schema.round_trip import exact_entries

_MISSING_KEY, _NO_LEVEL = ("missing", None), ("list or object", None)


class ValueReader:
    """Reads values by feature: numbers in raw units, and levels as their codes."""

    def __init__(self, codec: Codec) -> None:
        self.codec = codec
        self.names = codec.schema.names
        self._codes = [_codes(feature) for feature in codec.schema]
        self._positions = {name: position for position, name in enumerate(self.names)}

    def position(self, name: str, place: str) -> int:
        """Return the position of a feature."""
        position = self._positions.get(name)
        if position is None:
            raise RecordError(place, name, "the name of a feature")
        return position

    def objects(self, rows: Sequence[Mapping[str, Any]], places: Sequence[str]) -> Array:
        """Return rows that are given by feature ``(n, f)``, in raw units."""
        for row, place in zip(rows, places, strict=True):
            if row.keys() != self._positions.keys():
                raise RecordError(place, row, f"a value for each of {', '.join(self.names)}")
        return self.lists([[row[name] for name in self.names] for row in rows], places)

    def lists(self, rows: Sequence[Sequence[Any]], places: Sequence[str]) -> Array:
        """Return rows that are lists in the order of the features ``(n, f)``, in raw units."""
        for row, place in zip(rows, places, strict=True):
            if len(row) != len(self.names):
                raise RecordError(place, row, f"a list of {len(self.names)} values")
        raw = np.empty((len(rows), len(self.names)))
        for position, values in enumerate(zip(*rows, strict=True)):
            raw[:, position] = self.column(position, values, places, self.names[position])
        return raw

    def column(
        self, position: int, values: Sequence[Any], places: Sequence[str], field: str
    ) -> Floats:
        """Return values of the feature at a position in raw units; they stand at place.field."""
        feature = self.codec.schema.features[position]
        numbers: Sequence[float | None]
        if isinstance(feature, Continuous):
            numbers, expected = _numbers(values), "a number, or null where it is missing"
        else:
            numbers = [self._codes[position].get(_key(value)) for value in values]
            expected = f"a level of {feature.name!r}, or null where it is missing"
        if None in numbers:
            wrong = numbers.index(None)
            raise RecordError(f"{places[wrong]}.{field}", values[wrong], expected)
        return np.array(numbers, dtype=np.float64)

    def entries(self, wanted: Array, raw: Array) -> Array:
        """Return raw values ``(n, f)`` as entries that give exactly these values back."""
        # A value that equals that of its explained row in ``raw (n, f)`` gets the same entry.
        return np.where(wanted == raw, self.codec.to_unit(raw), exact_entries(self.codec, wanted))


def plain_rows(rows: ExplainedRows, variants: Array, owner: Array) -> list[list[Any]]:
    """Return variants ``(n, f)`` of the explained rows at ``owner (n,)`` as plain values."""
    codec = rows.context.codec
    return plain_raw(codec, codec.raw_of_changes(variants, rows.factual[owner], rows.raw[owner]))


def plain_raw(codec: Codec, raw: Array) -> list[list[Any]]:
    """Return rows ``(n, f)`` in raw units as lists of plain values."""
    columns = [
        plain_column(feature, values)
        for feature, values in zip(codec.schema, raw.T.tolist(), strict=True)
    ]
    return [list(values) for values in zip(*columns, strict=True)]


def plain_losses(losses: Array) -> list[list[float | None]]:
    """Return losses ``(n, 3)`` as plain values."""
    if np.isfinite(losses).all():
        return losses.tolist()
    return [[finite_or_none(loss) for loss in own] for own in losses.tolist()]


def read_losses(losses: Sequence[Sequence[float | None]]) -> Array:
    """Return losses ``(n, 3)``; null is NaN."""
    return float_column([loss for own in losses for loss in own]).reshape(len(losses), len(Loss))


def float_column(numbers: Sequence[float | None]) -> Array:
    """Return numbers ``(n,)``; null is NaN."""
    return np.array([math.nan if number is None else number for number in numbers], np.float64)


def split(items: list[Any], sizes: Sequence[int]) -> list[list[Any]]:
    """Return a list in parts of some sizes."""
    remaining = iter(items)
    return [list(islice(remaining, size)) for size in sizes]


def _numbers(values: Sequence[Any]) -> list[float | None]:
    """Return numbers as floats, null as NaN, and ``None`` for what is no finite number."""
    return [
        value if type(value) is float and math.isfinite(value) else _number(value)
        for value in values
    ]


def _number(value: Any) -> float | None:
    if value is None:
        return math.nan
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def _codes(feature: Feature) -> dict[tuple[str, Any], float]:
    if isinstance(feature, Continuous):
        return {}
    codes = {(level_type(level), level): float(code) for code, level in enumerate(feature.levels)}
    return codes | {_MISSING_KEY: float(MISSING_LEVEL)}


def _key(value: Any) -> tuple[str, Any]:
    """Return the key of a value among the levels of a feature: its type and the value."""
    if value is None:
        return _MISSING_KEY
    if isinstance(value, str | bool | int | float):
        return level_type(value), value
    return _NO_LEVEL
