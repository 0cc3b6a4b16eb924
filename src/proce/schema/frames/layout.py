"""How a caller's frame looked, so that rows can be given back in a frame like it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import pyarrow as pa
from pandas.api.types import is_object_dtype

from proce.arrays import Floats
from proce.schema.features.feature import Categorical, Ordinal
from proce.schema.frames.cells import MISSING_LEVEL
from proce.schema.frames.frame import open_frame, refuse_odd_names
from proce.schema.frames.pandas_columns import Integers, LevelColumn, pandas_column, to_integers


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
