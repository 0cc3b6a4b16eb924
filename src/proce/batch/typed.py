"""Columns of a file as the features of a schema, whatever the file takes them for."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from proce.batch.source import NOTHING
from proce.errors import SchemaError, did_you_mean
from proce.schema import Codec, Continuous, Feature, Level, Schema
from proce.schema.feature import level_type, shown

_FLAGS = {"true": True, "false": False, "1": True, "0": False}


@dataclass(frozen=True)
class TypedColumns:
    """What the columns of a file must become.

    Attributes
    ----------
    schema
        The features.
    whole
        Columns that hold whole numbers.
    """

    schema: Schema
    whole: frozenset[str] = frozenset()

    @classmethod
    def of(cls, codec: Codec) -> "TypedColumns":
        """Return the types of the frame that a codec was fitted on."""
        whole = {name for name, dtype in codec.layout.dtypes.items() if _is_whole(dtype)}
        return cls(codec.schema, frozenset(whole))

    def table(
        self, batch: pa.RecordBatch | pa.Table, *, from_text: bool, first_row: int = 0
    ) -> pa.Table:
        """Return rows with the types of the schema, or say which cell does not fit.

        Parameters
        ----------
        batch
            Some rows of the file.
        from_text
            Whether cells are text that has to be read, as in a csv file.
        first_row
            The place of these rows in the file, for messages.
        """
        columns: dict[str, pa.Array] = {}
        for feature in self.schema:
            for name in feature.columns:
                column = _whole_array(batch.column(name))
                cells = _Cells(name, column, from_text, first_row)
                if isinstance(feature, Continuous) or len(feature.columns) > 1:
                    columns[name] = cells.numbers(name in self.whole)
                else:
                    columns[name] = cells.levels(feature)
        return pa.table(columns)


@dataclass(frozen=True)
class _Cells:
    """A column of a file."""

    name: str
    column: pa.Array
    from_text: bool
    first_row: int

    def numbers(self, whole: bool) -> pa.Array:
        """Return numbers, missing where nothing stands."""
        kind = self.column.type
        if self.from_text:
            numbers = self._parsed()
        elif pa.types.is_boolean(kind):
            numbers = self.column.cast(pa.int8()).cast(pa.float64())
        elif pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
            numbers = self.column.cast(pa.float64(), safe=False)
        elif pa.types.is_null(kind):
            numbers = self.column.cast(pa.float64())
        else:
            raise SchemaError(
                f"feature {self.name!r}: the file holds values of type {kind} there; expected"
                " numbers, as at fit. Convert the column."
            )
        numbers = pc.if_else(pc.is_nan(numbers), pa.scalar(None, pa.float64()), numbers)
        self._refuse(pc.is_inf(numbers), "expected a finite number")
        if not whole:
            return numbers
        self._refuse(
            pc.not_equal(pc.round(numbers), numbers),
            "expected a whole number, as in all rows at fit",
        )
        return numbers.cast(pa.int64())

    def levels(self, feature: Any) -> pa.Array:
        """Return levels, missing where nothing stands."""
        encoded = self.column
        if not pa.types.is_dictionary(encoded.type):
            encoded = pc.dictionary_encode(encoded)
        values = encoded.dictionary.to_pylist()
        read = _reader(feature.levels, self.from_text)
        levels = [None if _is_gone(value) else read(value) for value in values]
        for position, (value, level) in enumerate(zip(values, levels, strict=True)):
            if level is None and not _is_gone(value) and not self._is_nothing(value):
                self._refuse_level(value, pc.equal(encoded.indices, position), feature)
        return pa.array(levels, _level_type(feature.levels)).take(encoded.indices)

    def _is_nothing(self, value: Any) -> bool:
        return self.from_text and value.strip() in NOTHING

    def _parsed(self) -> pa.Array:
        text = pc.utf8_trim_whitespace(self.column)
        text = pc.if_else(pc.is_in(text, pa.array(NOTHING)), pa.scalar(None, pa.string()), text)
        try:
            return text.cast(pa.float64())
        except pa.ArrowInvalid:
            distinct = pc.unique(text.drop_null()).to_pylist()
            odd = next(each for each in distinct if not _is_number(each))
            hint = " Write numbers with a point and without thousands separators."
            advice = hint if any(sign.isdigit() for sign in odd) else ""
            self._refuse(pc.equal(text, odd), f"expected a number.{advice}", repr(odd))
            raise

    def _refuse(self, wrong: pa.Array, expected: str, value: str | None = None) -> None:
        found = np.flatnonzero(pc.fill_null(wrong, False).to_numpy(zero_copy_only=False))
        if not len(found):
            return
        row = int(found[0])
        shown_value = value or f"{self.column[row].as_py()}"
        more = f" (as are {len(found) - 1:,} more of these rows)" if len(found) > 1 else ""
        raise SchemaError(
            f"feature {self.name!r}: row {self.first_row + row} (the first is 0) is"
            f" {shown_value}{more}; {expected.rstrip('.')}."
        )

    def _refuse_level(self, value: Any, where: pa.Array, feature: Feature) -> None:
        levels: Sequence[Level] = getattr(feature, "levels", ())
        flags = pc.fill_null(where, False).to_numpy(zero_copy_only=False)
        row = self.first_row + int(np.flatnonzero(flags)[0]) if flags.any() else self.first_row
        same = not isinstance(value, str) and isinstance(levels[0], str)
        advice = " Convert the column to text." if same else " Drop those rows, or fit with it."
        raise SchemaError(
            f"feature {self.name!r}: row {row} (the first is 0) has the unknown level {value!r};"
            f" known levels are {shown(levels)}.{did_you_mean(value, levels) or advice}"
        )


def _reader(levels: Sequence[Level], from_text: bool) -> Callable[[Any], Level | None]:
    """Return what finds the level that a cell means; ``None`` where there is none."""
    known = {(level_type(level), level): level for level in levels}
    kind = level_type(levels[0])

    def read(value: Any) -> Level | None:
        if from_text and kind == "flag":
            value = _FLAGS.get(value.strip().lower(), value)
        elif from_text and kind == "number" and _is_number(value):
            value = float(value)
        if not isinstance(value, str | bool | int | float):
            return None
        return known.get((level_type(value), value))

    return read


def _level_type(levels: Sequence[Level]) -> pa.DataType:
    if isinstance(levels[0], str):
        return pa.string()
    if isinstance(levels[0], bool):
        return pa.bool_()
    return pa.int64() if all(isinstance(level, int) for level in levels) else pa.float64()


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


def _is_gone(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _is_whole(dtype: Any) -> bool:
    if hasattr(dtype, "is_integer"):  # of narwhals
        return bool(dtype.is_integer())
    return pd.api.types.is_integer_dtype(dtype) or pd.api.types.is_bool_dtype(dtype)


def _whole_array(column: Any) -> pa.Array:
    """Return a column in one piece, its text of one type."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
        column = column.chunk(0) if isinstance(column, pa.ChunkedArray) else column
    kind = column.type
    if pa.types.is_large_string(kind) or str(kind) == "string_view":
        return column.cast(pa.string())
    if pa.types.is_dictionary(kind):
        return pc.dictionary_decode(column)
    return column
