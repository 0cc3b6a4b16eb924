"""Read frames of any library, column by column: numbers, and positions among levels."""

from collections.abc import Sequence, Sized
from typing import Any, TypeVar

import narwhals as nw
import numpy as np
import pandas as pd
import pyarrow as pa

from proce.arguments import kind_name
from proce.arrays import Floats, Ints
from proce.errors import SchemaError
from proce.schema.features.levels import Level, level_type, shown
from proce.schema.frames.cells import (
    MISSING_LEVEL,
    UNKNOWN_LEVEL,
    distinct_values,
    is_missing,
    level_codes,
    one_array,
    to_numbers,
)
from proce.schema.frames.pandas_columns import MAX_EXACT_INTEGER

Frame = TypeVar("Frame", bound=Sized)


def open_frame(frame: Any) -> "nw.DataFrame[Any]":
    """Return a frame of any library behind the interface of narwhals, or say why it cannot be."""
    if isinstance(frame, pd.DataFrame):
        refuse_odd_names(list(frame.columns))
    try:
        opened: Any = nw.from_native(frame)
    except TypeError:
        raise SchemaError(
            f"got {kind_name(frame)}; expected a data frame with one named column per"
            " feature (pandas, polars or pyarrow)."
        ) from None
    if isinstance(opened, nw.LazyFrame):
        raise SchemaError("got a lazy frame, whose rows are not there yet; call .collect() first.")
    refuse_odd_names(opened.columns)
    eager: nw.DataFrame[Any] = opened
    return eager


def count_rows(frame: Any) -> int:
    """Return how many rows a frame of any library has."""
    if isinstance(frame, pd.DataFrame):
        return len(frame)
    return len(nw.from_native(frame, eager_only=True))


def require_rows(frame: Frame) -> Frame:
    """Return a frame from which something can be learned, or say that it is empty."""
    if len(frame) == 0:
        raise SchemaError("the frame has no rows; expected at least one.")
    return frame


def refuse_odd_names(names: Sequence[Any]) -> None:
    """Refuse columns that are not named by texts, each by its own."""
    seen: set[Any] = set()
    for name in names:
        if not isinstance(name, str):
            raise SchemaError(
                f"column {name!r} is not named by a string; rename it, for example with"
                " frame.columns = [str(c) for c in frame.columns]."
            )
        if name in seen:
            raise SchemaError(f"column {name!r} stands twice in the frame; keep one of them.")
        seen.add(name)


def read_numbers(column: "nw.Series[Any]") -> Floats:
    """Return a column of numbers as float64, NaN where missing."""
    name, dtype = column.name, column.dtype
    if len(column) == 0:
        return np.empty(0)  # an empty column may have any dtype
    if not dtype.is_numeric():
        raise SchemaError(
            f"feature {name!r}: the column holds {_describe_dtype(dtype)}; expected numbers."
            " Convert the column, or declare the feature Categorical or Ordinal."
        )
    native = column.to_native()
    if isinstance(native, pd.Series) and isinstance(native.dtype, np.dtype):
        numbers = native.to_numpy().astype(np.float64, copy=False)
    else:
        array = to_numbers(one_array(column.to_arrow()))
        assert array is not None, f"narwhals calls {dtype} numeric, and Arrow does not"
        numbers = array.to_numpy(zero_copy_only=False)
    largest = np.nanmax(np.abs(numbers), initial=0.0)
    if np.isinf(largest):
        row = int(np.isinf(numbers).argmax())
        raise SchemaError(
            f"feature {name!r}: row {row} is {numbers[row]}; expected finite numbers. Replace"
            " infinite values, or mark them as missing."
        )
    if dtype.is_integer() and largest > MAX_EXACT_INTEGER:
        raise SchemaError(
            f"feature {name!r}: {largest:.0f} is a whole number beyond 2**50, which looks like an"
            " identifier; drop the column, or convert it to text or to floats."
        )
    return numbers


def read_levels(column: "nw.Series[Any]", levels: Sequence[Level]) -> Ints:
    """Return a column as positions among the levels, -1 where missing."""
    if len(column) == 0:
        return np.empty(0, dtype=np.int64)
    positions, values = distinct(column)
    codes = np.append(level_codes(values, levels), MISSING_LEVEL)[positions]
    unknown = codes == UNKNOWN_LEVEL
    if unknown.any():
        row = int(unknown.argmax())
        _refuse_level(column.name, values[int(positions[row])], row, levels)
    return codes


def _refuse_level(name: str, value: Level, row: int, levels: Sequence[Level]) -> None:
    start = f"feature {name!r}: row {row} has "
    if level_type(value) != level_type(levels[0]):
        raise SchemaError(
            f"{start}{value!r}, a {level_type(value)}, but the levels are"
            f" {level_type(levels[0])}: {shown(levels)}. Convert the column to that type."
        )
    raise SchemaError(
        f"{start}the unknown level {value!r}; known levels are {shown(levels)}."
        " Add it to the schema or drop those rows."
    )


def distinct(column: "nw.Series[Any]") -> tuple[Ints, list[Level]]:
    """Return each row's position among the column's distinct values, and these values.

    A categorical column gives all its categories, in their order, used or not.
    """
    native = column.to_native()
    if isinstance(native, pd.Series) and isinstance(native.dtype, pd.CategoricalDtype):
        values = native.cat.categories.tolist()
        _refuse_mixture(column.name, values)
        return native.cat.codes.to_numpy().astype(np.int64), values
    positions, values = distinct_values(_as_arrow(column))
    _refuse_mixture(column.name, values)
    return positions, values


def _as_arrow(column: "nw.Series[Any]") -> pa.Array:
    try:
        array = one_array(column.to_arrow())  # pandas.concat leaves text in several pieces
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
        array = None
    if array is None or pa.types.is_nested(array.type):
        _refuse_mixture(column.name, column.to_list())
        raise SchemaError(
            f"feature {column.name!r}: the column's values cannot be read as text, numbers or"
            " true/false. Convert it, for example with .astype(str)."
        )
    return array


def _refuse_mixture(name: str, values: Sequence[Any]) -> None:
    types = {type(value) for value in values if not is_missing(value)}
    if odd := [kind for kind in types if not issubclass(kind, (str, bool, int, float))]:
        raise SchemaError(
            f"feature {name!r}: the column holds values of type {odd[0].__name__}; expected text,"
            " numbers or true/false. Convert it, for example with .astype(str)."
        )
    kinds = sorted({level_type(value) for value in values if not is_missing(value)})
    if len(kinds) > 1:
        raise SchemaError(
            f"feature {name!r}: the column mixes {' and '.join(kinds)} values; expected one type."
            " Convert it, for example with .astype(str)."
        )


def _describe_dtype(dtype: Any) -> str:
    for words, kinds in (
        ("dates or times", (nw.Date, nw.Datetime, nw.Duration, nw.Time)),
        ("text", (nw.String,)),
        ("true/false", (nw.Boolean,)),
        ("categories", (nw.Categorical, nw.Enum)),
    ):
        if any(dtype == kind for kind in kinds):
            return words
    return f"values of type {dtype}"
