"""How the cells of a column, or their text in a file, become numbers or levels.

Columns are Arrow arrays here; :mod:`proce.schema.frames.frame` reads frames of any library by it,
and :mod:`proce.batch.reading.typed` reads files. Whoever calls words the error for a cell that does
not fit.
"""

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from proce.arrays import Ints
from proce.schema.features.levels import Level, level_key, level_type

MISSING_LEVEL = -1  # instead of a position among the levels
UNKNOWN_LEVEL = -2  # found while a column is read; such a column is refused
MISSING_TEXTS = ("", "NA", "N/A", "#N/A", "n/a", "NaN", "nan", "null", "NULL", "None")
_FLAG_TEXTS = {"true": True, "false": False, "1": True, "0": False}


def is_missing(value: Any) -> bool:
    """Whether a value of a cell stands for nothing: a null of any library, or NaN of any type."""
    if isinstance(value, (str, float, int)):  # to ask pandas takes several times as long
        return bool(value != value)  # NaN alone differs from itself
    return value is None or bool(pd.api.types.is_scalar(value) and pd.isna(value))


def is_missing_text(text: str) -> bool:
    """Whether the text of a cell stands for nothing."""
    return text.strip() in MISSING_TEXTS


def is_number_text(text: str) -> bool:
    """Whether the text of a cell is a number, written with a point and without separators."""
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


def one_array(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return a column in one piece."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
        column = column.chunk(0) if isinstance(column, pa.ChunkedArray) else column
    return column


def to_numbers(column: pa.Array) -> pa.Array | None:
    """Return numbers or flags as float64, or ``None`` for a column of another type."""
    kind = column.type
    if pa.types.is_boolean(kind):
        return column.cast(pa.int8()).cast(pa.float64())
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return column.cast(pa.float64(), safe=False)
    return column.cast(pa.float64()) if pa.types.is_null(kind) else None


def strip_texts(column: pa.Array) -> pa.Array:
    """Return cells of text without blanks around them; null where they stand for nothing."""
    text = pc.utf8_trim_whitespace(column)
    return pc.if_else(pc.is_in(text, pa.array(MISSING_TEXTS)), pa.scalar(None, pa.string()), text)


def nan_to_null(numbers: pa.Array) -> pa.Array:
    """Return float64 numbers with null instead of NaN."""
    return pc.if_else(pc.is_nan(numbers), pa.scalar(None, pa.float64()), numbers)


def distinct_values(column: pa.Array) -> tuple[Ints, list[Any]]:
    """Return each cell's position among the distinct values, -1 where missing, and these values.

    The values stand in the order of their first cells, or in that of the column's own dictionary.
    """
    if pa.types.is_floating(column.type) or pa.types.is_decimal(column.type):
        column = nan_to_null(column.cast(pa.float64()))
    if not pa.types.is_dictionary(column.type):
        column = pc.dictionary_encode(column)
    return codes_of(column), column.dictionary.to_pylist()


def codes_of(values: pa.DictionaryArray) -> Ints:
    """Return a dictionary column's positions among its values, -1 where missing."""
    indices = values.indices.cast(pa.int64())
    codes: Ints = (indices.fill_null(MISSING_LEVEL) if indices.null_count else indices).to_numpy()
    return codes


def level_codes(values: Sequence[Any], levels: Sequence[Level]) -> Ints:
    """Return the position of each value among the levels, or -2 where it is none of them."""
    positions = {level_key(level): code for code, level in enumerate(levels)}
    plain = [isinstance(value, str | bool | int | float) for value in values]
    codes = [
        positions.get(level_key(value), UNKNOWN_LEVEL) if is_plain else UNKNOWN_LEVEL
        for value, is_plain in zip(values, plain, strict=True)
    ]
    return np.array(codes, dtype=np.int64)


def text_level_codes(texts: Sequence[str], levels: Sequence[Level]) -> Ints:
    """Return the position among the levels that each text means.

    A text that is no level is missing (-1) where it stands for nothing, and else unknown (-2):
    ``NA`` is a level where the schema names it.
    """
    kind = level_type(levels[0])
    codes = level_codes([_parse_level(text, kind) for text in texts], levels)
    nothing = np.array([is_missing_text(text) for text in texts], dtype=bool)
    codes[nothing & (codes == UNKNOWN_LEVEL)] = MISSING_LEVEL
    return codes


def _parse_level(text: str, kind: str) -> Level:
    """Return the value that a text means among levels of one type; the text where it means none."""
    if kind == "flag":
        return _FLAG_TEXTS.get(text.strip().lower(), text)
    return float(text) if kind == "number" and is_number_text(text) else text


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
