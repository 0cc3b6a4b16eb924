"""How a caller's frame looked, so that rows can be given back in a frame like it."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray
from pandas.api.types import is_object_dtype

from proce.schema.features.feature import Categorical, Ordinal
from proce.schema.features.levels import Level
from proce.schema.frames.cells import MISSING_LEVEL, Numbers, codes_of
from proce.schema.frames.frame import open_frame

Integers = NDArray[np.integer[Any]]


@dataclass(frozen=True)
class Layout:
    """How a frame looked.

    Attributes
    ----------
    library, columns, dtypes
        The library that made the frame, and its columns with their dtypes.
    missing
        How a column marks a missing cell, for columns of objects or floats.
    index, header
        The row index and the column index of a pandas frame; ``None`` for other libraries.
    """

    library: nw.Implementation
    columns: tuple[str, ...]
    dtypes: dict[str, Any]
    missing: dict[str, Any] = field(default_factory=dict)
    index: Any = None
    header: Any = None

    @classmethod
    def of(cls, frame: Any) -> "Layout":
        """Read the layout of a frame."""
        opened = open_frame(frame)
        library, columns = opened.implementation, tuple(opened.columns)
        if isinstance(frame, pd.DataFrame):
            dtypes = {name: frame[name].dtype for name in columns}
            missing = {
                name: _first_missing(frame[name])
                for name in columns
                if is_object_dtype(dtypes[name])
            }
            return cls(library, columns, dtypes, missing, frame.index, frame.columns)
        schema = opened.schema
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

    def build(self, columns: dict[str, pa.Array | Numbers]) -> Any:
        """Make a frame of this layout from columns of plain values."""
        if self.library is nw.Implementation.PANDAS:
            built = {name: _pandas_column(columns[name], self, name) for name in self.columns}
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


def _pandas_column(values: pa.Array | Numbers, layout: Layout, name: str) -> Any:
    dtype = layout.dtypes[name]
    if isinstance(values, pa.Array):
        return _pandas_levels(values, dtype, layout.missing.get(name))
    if isinstance(dtype, np.dtype) and dtype.kind in "iu":
        if np.isnan(values).any():
            return values  # whole numbers cannot be missing; floats can
        return _to_integers(values, dtype)
    if isinstance(dtype, np.dtype):
        return values.astype(dtype, copy=False)
    return pd.array(values, dtype=dtype)


def _to_integers(values: Numbers, dtype: "np.dtype[Any]") -> Integers:
    """Return numbers as integers of a dtype; what it cannot hold becomes its nearest end."""
    ends = np.iinfo(dtype)
    high = np.nextafter(float(ends.max), 0) if ends.bits == 64 else float(ends.max)
    return np.clip(np.rint(values), float(ends.min), high).astype(dtype)


def _pandas_levels(values: pa.DictionaryArray, dtype: Any, missing: Any) -> Any:
    if isinstance(dtype, pd.StringDtype) and dtype.storage == "pyarrow":
        return pd.array(values.cast(pa.large_string()), dtype=dtype)
    levels, codes = values.dictionary.to_pylist(), codes_of(values)
    if isinstance(dtype, pd.CategoricalDtype):
        if absent := [level for level in levels if level not in dtype.categories]:
            dtype = pd.CategoricalDtype([*dtype.categories, *absent], ordered=dtype.ordered)
        positions = np.append(dtype.categories.get_indexer(levels), -1)
        return pd.Categorical.from_codes(positions[codes], dtype=dtype)
    any_missing = bool((codes < 0).any())
    if isinstance(dtype, np.dtype) and dtype.kind in "biu" and not any_missing:
        return np.asarray(levels)[codes].astype(dtype)
    if isinstance(dtype, np.dtype) and dtype.kind in "iuf":
        return np.append(np.asarray(levels, dtype=np.float64), np.nan)[codes]
    plain = np.empty(len(levels) + 1, dtype=object)
    plain[:-1], plain[-1] = levels, missing
    if isinstance(dtype, np.dtype):
        return pd.Index(plain[codes], dtype=object)  # or flags with a cell missing
    plain[-1] = pd.NA
    return pd.array(plain[codes], dtype=dtype)


def _arrow_column(values: pa.Array | Numbers, layout: Layout, name: str) -> pa.Array:
    if isinstance(values, pa.Array):
        return values.dictionary_decode()
    missing = np.isnan(values)
    if layout.dtypes[name].is_integer():
        return pa.array(
            _to_integers(np.where(missing, 0, values), np.dtype(np.int64)), mask=missing
        )
    null = layout.missing.get(name, np.nan) is None
    return pa.array(values, mask=missing if null else None)


def level_column(codes: Integers, levels: Sequence[Level]) -> pa.DictionaryArray:
    """Return level codes as a column that :meth:`Layout.build` takes; -1 is missing."""
    indices = codes.astype(np.int32)
    missing = indices < 0
    mask = missing if missing.any() else None
    return pa.DictionaryArray.from_arrays(pa.array(indices, mask=mask), pa.array(list(levels)))


def level_columns(feature: Categorical | Ordinal, codes: Integers) -> dict[str, Any]:
    """Return the codes of a feature with levels as the columns that :meth:`Layout.build` takes."""
    if isinstance(feature, Categorical) and feature.one_hot:
        missing = codes == MISSING_LEVEL
        return {
            column: np.where(missing, np.nan, codes == code)
            for code, column in enumerate(feature.one_hot)
        }
    return {feature.name: level_column(codes, feature.levels)}
