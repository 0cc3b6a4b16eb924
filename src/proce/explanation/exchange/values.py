"""Reads the values of rows in a text as arrays, in raw units and in the entries of a codec."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from proce.arrays import Array, Floats
from proce.losses import Loss
from proce.schema import MISSING_LEVEL, Codec, Continuous, Feature
from proce.schema.features.levels import level_type
from proce.schema.records import RecordError
from proce.schema.shown import exact_entries

_MISSING_KEY, _NO_LEVEL = ("missing", None), ("list or object", None)


class ValueReader:
    """Reads values by feature: numbers in raw units, and levels as their codes.

    Parameters
    ----------
    codec
        The features and their scale.
    """

    def __init__(self, codec: Codec) -> None:
        self.codec = codec
        self.names = codec.schema.names
        self._features = codec.schema.features
        self._codes = [_codes(feature) for feature in self._features]
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
        return self._stacked([[row[name] for row in rows] for name in self.names], places)

    def lists(self, rows: Sequence[Sequence[Any]], places: Sequence[str]) -> Array:
        """Return rows that are lists in the order of the features ``(n, f)``, in raw units."""
        n_features = len(self.names)
        for row, place in zip(rows, places, strict=True):
            if len(row) != n_features:
                raise RecordError(place, row, f"a list of {n_features} values")
        columns = [[row[position] for row in rows] for position in range(n_features)]
        return self._stacked(columns, places)

    def column(
        self, position: int, values: Sequence[Any], places: Sequence[str], field: str
    ) -> Floats:
        """Return values of one feature in raw units.

        Parameters
        ----------
        position
            The position of the feature.
        values
            The values as they stand in the text.
        places, field
            Where each value stands in the text, for errors: the place of its object, and the field.
        """
        feature = self._features[position]
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
        """Return raw values ``(n, f)`` as entries that give exactly these values back.

        Parameters
        ----------
        wanted
            The values in raw units.
        raw
            ``(n, f)``, the explained rows in raw units; a value that equals that of its explained
            row gets the same entry.
        """
        return np.where(wanted == raw, self.codec.to_unit(raw), exact_entries(self.codec, wanted))

    def _stacked(self, columns: Sequence[Sequence[Any]], places: Sequence[str]) -> Array:
        raw = np.empty((len(places), len(self.names)))
        for position, (name, values) in enumerate(zip(self.names, columns, strict=True)):
            raw[:, position] = self.column(position, values, places, name)
        return raw


def loss_column(losses: Sequence[Sequence[float | None]]) -> Array:
    """Return losses ``(n, 3)``; null is NaN."""
    finite = [[number_or_nan(loss) for loss in own] for own in losses]
    return np.array(finite, dtype=np.float64).reshape(len(losses), len(Loss))


def number_or_nan(number: float | None) -> float:
    """Return a number, or NaN for null."""
    return math.nan if number is None else number


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
