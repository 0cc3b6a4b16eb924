"""How the cells of a column, or their text in a file, become numbers or levels.

Columns are Arrow arrays here; :mod:`proce.schema.frames.frame` reads frames of any library by it,
and :mod:`proce.batch.reading.typed` reads files. Columns of pandas are read and made without that
detour: a frame of a few rows is read and made many times while a person waits, so what depends on a
dtype alone is worked out once for each dtype. Whoever calls words the error for a cell that does
not fit.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from proce.arrays import Floats, Ints
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
    try:  # as Arrow reads it: Python would take digits of any script
        pa.scalar(text.strip()).cast(pa.float64())
    except pa.ArrowInvalid:
        return False
    return True


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


def level_named(
    text: str, levels: Sequence[Level], labels: Mapping[Level, str] | None = None
) -> int | None:
    """Return the position of the level that a text means, by its words or as files have it."""
    for position, level in enumerate(levels):
        if labels and labels.get(level) == text:
            return position
    code = int(text_level_codes([text], levels)[0]) if levels else MISSING_LEVEL
    return code if code >= 0 else None


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


Integers = NDArray[np.integer[Any]]

MAX_EXACT_INTEGER = 2**50  # beyond, the unit range in float64 cannot give every integer back
_MAX_CELLS = 256  # of a column that are looked up one by one
_CODES = Remembered[Ints]()
_POSITIONS = Remembered[dict[tuple[str, Level], int]]()
_CATEGORIES = Remembered[tuple[pd.CategoricalDtype, Ints]]()
_VALUES = Remembered[list[Level]]()
_NUMERIC = tuple(
    np.dtype(code) for code in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8")
)
_CELL_TYPES = (str, bool, int, float)


class LevelColumn(NamedTuple):
    """A column of levels in the making: the code of each cell, -1 where missing, and the levels."""

    codes: Integers
    levels: tuple[Level, ...]

    def to_arrow(self) -> pa.DictionaryArray:
        """Return the column as an Arrow array."""
        missing = self.codes < 0
        mask = missing if missing.any() else None
        indices = pa.array(self.codes.astype(np.int32), mask=mask)
        return pa.DictionaryArray.from_arrays(indices, pa.array(list(self.levels)))


def read_pandas_numbers(column: "pd.Series[Any]") -> Floats | None:
    """Return a column of plain, finite numbers as float64, NaN where missing; else ``None``."""
    dtype = column.dtype
    if dtype not in _NUMERIC:
        return None
    numbers = column.to_numpy().astype(np.float64, copy=False)
    limit = np.finfo(np.float64).max if dtype.kind == "f" else float(MAX_EXACT_INTEGER)
    is_sound = np.abs(numbers) <= limit
    return numbers if bool((is_sound | np.isnan(numbers)).all()) else None


def read_pandas_flags(column: "pd.Series[Any]") -> Floats | None:
    """Return a column of true and false, or of plain numbers, as float64; else ``None``."""
    if column.dtype == np.dtype(np.bool):
        return column.to_numpy().astype(np.float64)
    return read_pandas_numbers(column)


def read_pandas_levels(column: "pd.Series[Any]", levels: tuple[Level, ...]) -> Ints | None:
    """Return the positions among the levels of categories, or of a few cells; else ``None``."""
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        codes = _CODES.get(_codes_of_categories, dtype.categories, levels)[column.array.codes]
    elif len(column) <= _MAX_CELLS and isinstance(dtype, np.dtype | pd.StringDtype):
        positions = _POSITIONS.get(_positions_of, levels)
        codes = np.array([_code_of(cell, positions) for cell in column.tolist()], dtype=np.int64)
    else:
        return None
    return None if bool((codes == UNKNOWN_LEVEL).any()) else codes


def _code_of(cell: Any, positions: dict[tuple[str, Level], int]) -> int:
    if is_missing(cell):
        return MISSING_LEVEL
    return (
        positions.get(level_key(cell), UNKNOWN_LEVEL)
        if type(cell) in _CELL_TYPES
        else UNKNOWN_LEVEL
    )


def _codes_of_categories(categories: Any, levels: tuple[Level, ...]) -> Ints:
    """Return the position among the levels of each category, and at last that of a missing cell."""
    values = categories.tolist()
    is_plain = all(isinstance(value, str | bool | int | float) for value in values)
    if not is_plain or len({level_type(value) for value in values}) > 1:
        return np.full(len(values) + 1, UNKNOWN_LEVEL)  # whoever reads it says what is wrong
    return np.append(level_codes(values, levels), MISSING_LEVEL)


def _positions_of(levels: tuple[Level, ...]) -> dict[tuple[str, Level], int]:
    return {level_key(level): code for code, level in enumerate(levels)}


def pandas_column(
    values: LevelColumn | Floats,  # the values, NaN or -1 where missing
    dtype: Any,  # the wanted dtype
    missing: Any,  # how a column of objects marks a missing cell
) -> Any:
    """Return values as a column of a dtype, or of one that can hold missing cells."""
    if isinstance(values, LevelColumn):
        return _pandas_levels(values, dtype, missing)
    if isinstance(dtype, np.dtype) and dtype.kind in "iu":
        if np.isnan(values).any():
            return values  # whole numbers cannot be missing; floats can
        return to_integers(values, dtype)
    if isinstance(dtype, np.dtype):
        return values.astype(dtype, copy=False)
    return pd.array(values, dtype=dtype)


def to_integers(values: Floats, dtype: "np.dtype[Any]") -> Integers:
    """Return numbers as integers of a dtype; what it cannot hold becomes its nearest end."""
    integers: Integers = whole_numbers(values, *integer_ends(dtype)).astype(dtype)
    return integers


def whole_numbers(values: Any, low: Any, high: Any) -> Any:
    """Return the nearest whole numbers between two ends; kernels ask it of one number."""
    return np.minimum(np.maximum(np.rint(values), low), high)


def integer_ends(dtype: "np.dtype[Any]") -> tuple[float, float]:
    """Return the lowest and the highest double that an integer dtype can hold."""
    ends = np.iinfo(dtype)
    high = np.nextafter(float(ends.max), 0) if ends.bits == 64 else float(ends.max)
    return float(ends.min), float(high)


def _pandas_levels(values: LevelColumn, dtype: Any, missing: Any) -> Any:
    codes, levels = values
    if isinstance(dtype, pd.StringDtype) and dtype.storage == "pyarrow":
        return pd.array(values.to_arrow().cast(pa.large_string()), dtype=dtype)
    if isinstance(dtype, pd.CategoricalDtype):
        dtype, positions = _CATEGORIES.get(_categories_with, dtype, levels)
        return pd.Categorical.from_codes(positions[codes], dtype=dtype, validate=False)
    known = _VALUES.get(_values_of, levels)
    any_missing = bool((codes < 0).any())
    if isinstance(dtype, np.dtype) and dtype.kind in "biu" and not any_missing:
        return np.asarray(known)[codes].astype(dtype)
    if isinstance(dtype, np.dtype) and dtype.kind in "iuf":
        return np.append(np.asarray(known, dtype=np.float64), np.nan)[codes]
    plain = np.empty(len(known) + 1, dtype=object)
    plain[:-1], plain[-1] = known, missing
    if isinstance(dtype, np.dtype):
        return pd.Index(plain[codes], dtype=object)  # or flags with a cell missing
    plain[-1] = pd.NA
    return pd.array(plain[codes], dtype=dtype)


def _values_of(levels: tuple[Level, ...]) -> list[Level]:
    """Return levels as values of one type: whole numbers beside others are floats."""
    values: list[Level] = pa.array(list(levels)).to_pylist()
    return values


def _categories_with(
    dtype: pd.CategoricalDtype, levels: tuple[Level, ...]
) -> tuple[pd.CategoricalDtype, Ints]:
    """Return a dtype that has all levels, and the position of each there, at last -1."""
    values = _values_of(levels)
    if absent := [level for level in values if level not in dtype.categories]:
        dtype = pd.CategoricalDtype([*dtype.categories, *absent], ordered=dtype.ordered)
    return dtype, np.append(dtype.categories.get_indexer(pd.Index(values)), -1)
