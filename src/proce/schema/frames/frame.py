"""Frames of any library: how they look, and their columns as numbers or positions among levels."""

from collections.abc import Collection, Mapping, Sequence, Sized
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import narwhals as nw
import numpy as np
import pandas as pd
import pyarrow as pa
from pandas.api.types import is_object_dtype

from proce.arguments import kind_name
from proce.arrays import Floats, Ints
from proce.errors import SchemaError
from proce.schema.features.feature import Categorical, Ordinal
from proce.schema.features.levels import Level, level_type, quoted
from proce.schema.frames.cells import (
    MAX_EXACT_INTEGER,
    MISSING_LEVEL,
    UNKNOWN_LEVEL,
    Integers,
    LevelColumn,
    distinct_values,
    is_missing,
    level_codes,
    one_array,
    pandas_column,
    to_integers,
    to_numbers,
)

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
            f" {level_type(levels[0])}: {quoted(levels)}. Convert the column to that type."
        )
    raise SchemaError(
        f"{start}the unknown level {value!r}; known levels are {quoted(levels)}."
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


@dataclass(frozen=True)
class Layout:
    """How a frame looked."""

    library: nw.Implementation  # the library that made the frame, and its columns with their dtypes
    columns: tuple[str, ...]
    dtypes: dict[str, Any]
    # how a column marks a missing cell, for columns of objects or floats
    missing: dict[str, Any] = field(default_factory=dict)
    # the row index and the column index of a pandas frame; `None` for other libraries
    index: Any = None
    header: Any = None

    @classmethod
    def of(cls, frame: Any) -> "Layout":
        """Read the layout of a frame."""
        if isinstance(frame, pd.DataFrame):
            columns = tuple(frame.columns)
            refuse_odd_names(columns)
            dtypes = dict(zip(columns, frame.dtypes, strict=True))
            missing = {
                name: _first_missing(frame[name])
                for name, dtype in dtypes.items()
                if is_object_dtype(dtype)
            }
            library = nw.Implementation.PANDAS
            return cls(library, columns, dtypes, missing, frame.index, frame.columns)
        opened = open_frame(frame)
        library, columns, schema = opened.implementation, tuple(opened.columns), opened.schema
        nulls = {
            name: None if opened[name].null_count() else np.nan
            for name in columns
            if schema[name].is_float()
        }
        return cls(library, columns, dict(schema), nulls)

    def without_index(self) -> "Layout":
        """Return the layout for rows that are not the frame's own."""
        return replace(self, index=None)

    def without(self, columns: Collection[str]) -> "Layout":
        """Return the layout of a frame that lacks some columns."""
        kept = [position for position, name in enumerate(self.columns) if name not in columns]
        names = tuple(self.columns[position] for position in kept)
        return replace(
            self,
            columns=names,
            dtypes={name: self.dtypes[name] for name in names},
            missing={name: mark for name, mark in self.missing.items() if name in names},
            header=None if self.header is None else self.header[kept],
        )

    def take(self, positions: Sequence[int]) -> "Layout":
        """Return the layout for a selection of the frame's rows, which may repeat."""
        if self.index is None:
            return self
        return replace(self, index=self.index.take(positions))

    def build(self, columns: Mapping[str, LevelColumn | Floats]) -> Any:
        """Make a frame of this layout from columns of plain values."""
        if self.library is nw.Implementation.PANDAS:
            built = {
                name: pandas_column(columns[name], self.dtypes[name], self.missing.get(name))
                for name in self.columns
            }
            frame = pd.DataFrame(built, index=self.index, copy=False)
            frame.columns = self.header.copy()  # or a caller's rename would reach us
            return frame
        arrays = {name: _arrow_column(columns[name], self, name) for name in self.columns}
        library: Any = self.library  # any eager one; narwhals' type lists them by name
        opened = nw.from_arrow(pa.table(arrays), backend=library)
        casts = [nw.col(name).cast(self.dtypes[name]) for name in self.columns]
        return opened.select(casts).to_native()


def _first_missing(column: "pd.Series[Any]") -> Any:
    missing = column.isna().to_numpy()
    return column.iloc[int(missing.argmax())] if missing.any() else None


def _arrow_column(values: LevelColumn | Floats, layout: Layout, name: str) -> pa.Array:
    if isinstance(values, LevelColumn):
        return values.to_arrow().dictionary_decode()
    missing = np.isnan(values)
    if layout.dtypes[name].is_integer():
        return pa.array(to_integers(np.where(missing, 0, values), np.dtype(np.int64)), mask=missing)
    null = layout.missing.get(name, np.nan) is None
    return pa.array(values, mask=missing if null else None)


def level_columns(feature: Categorical | Ordinal, codes: Integers) -> dict[str, Any]:
    """Return the codes of a feature with levels as the columns that :meth:`Layout.build` takes."""
    if isinstance(feature, Categorical) and feature.one_hot:
        missing = codes == MISSING_LEVEL
        return {
            column: np.where(missing, np.nan, codes == code)
            for code, column in enumerate(feature.one_hot)
        }
    return {feature.name: LevelColumn(codes, feature.levels)}
