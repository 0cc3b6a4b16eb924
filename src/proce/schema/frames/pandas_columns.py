"""Columns of pandas frames: read without a detour over another library, and made.

A frame of a few rows is read and made many times while a person waits, so what depends on a dtype
alone is worked out once for each dtype.
"""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from proce.arrays import Floats, Ints
from proce.schema.features.levels import Level, level_key, level_type
from proce.schema.frames.cells import (
    MISSING_LEVEL,
    UNKNOWN_LEVEL,
    Remembered,
    is_missing,
    level_codes,
)

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
    """Return the positions among the levels of categories, or of a few cells; else ``None``.

    The result is ``None`` as well where a cell is none of the levels.
    """
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
