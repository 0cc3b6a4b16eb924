"""The columns of a file as the features of a schema, whatever types the file gives them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from proce.errors import SchemaError, did_you_mean
from proce.schema import Codec, Continuous, Level, Schema
from proce.schema.features.levels import quoted
from proce.schema.frames.cells import (
    MISSING_LEVEL,
    UNKNOWN_LEVEL,
    distinct_values,
    is_number_text,
    level_codes,
    nan_to_null,
    one_array,
    strip_texts,
    text_level_codes,
    to_numbers,
)
from proce.schema.matching import refuse_flags

_MAX_WHOLE = 2.0**63  # whole numbers have 64 bits


@dataclass(frozen=True)
class TypedColumns:
    """The types that the columns of a file must have."""

    schema: Schema  # the features
    integers: frozenset[str] = frozenset()  # the columns that hold whole numbers
    # the columns of other numbers that are explained in 32 bits, as the file has them: what is
    # advised can then be written into such a column as it is
    float32: frozenset[str] = frozenset()
    # by column, the lowest and the highest number that a row can be advised
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    @classmethod
    def of(cls, codec: Codec) -> "TypedColumns":
        """Return the types of the frame that a codec was fitted on."""
        whole = {name for name, dtype in codec.layout.dtypes.items() if _is_whole(dtype)}
        seen = zip(codec.seen_low.tolist(), codec.seen_high.tolist(), strict=True)
        bounds: dict[str, tuple[float, float]] = {}
        for feature, (low, high) in zip(codec.schema, seen, strict=True):
            if isinstance(feature, Continuous):
                least, most = feature.range or (low, high)
                bounds[feature.name] = min(low, least), max(high, most)
            else:
                bounds |= dict.fromkeys(feature.columns, (0.0, 1.0))
        return cls(codec.schema, frozenset(whole), bounds=bounds)

    def table(
        self,
        batch: pa.RecordBatch | pa.Table,
        *,
        from_text: bool,
        first_row: int = 0,
        ids: tuple[str, pa.Array] | None = None,
    ) -> pa.Table:
        """Return rows with the types of the schema, or say which cell does not fit."""
        names = _RowNames(first_row, ids)
        columns: dict[str, pa.Array] = {}
        for feature in self.schema:
            for name in feature.columns:
                column = _FileColumn(name, _plain_array(batch.column(name)), from_text, names)
                if isinstance(feature, Continuous) or len(feature.columns) > 1:
                    numbers = column.numbers(whole=name in self.integers)
                    columns[name] = numbers.cast(pa.float32()) if name in self.float32 else numbers
                else:
                    columns[name] = column.levels(feature.levels)
            if len(feature.columns) > 1:
                flags = [columns[name].cast(pa.float64()) for name in feature.columns]
                hot = np.stack([own.to_numpy(zero_copy_only=False) for own in flags], axis=-1)
                refuse_flags(hot, feature, names.of)
        return pa.table(columns)


@dataclass(frozen=True)
class _RowNames:
    """How messages name the rows of a batch: by position, and by id where they have one."""

    first_row: int
    ids: tuple[str, pa.Array] | None

    def of(self, row: int) -> str:
        """Return a row of the batch as ``row 20 (the first is 0, customer is 'C020')``."""
        own = ""
        if self.ids is not None and self.ids[1][row].is_valid:
            own = f", {self.ids[0]} is {self.ids[1][row].as_py()!r}"
        return f"row {self.first_row + row} (the first is 0{own})"


@dataclass(frozen=True)
class _FileColumn:
    """A column of a file, with what a message needs to name a cell of it."""

    name: str
    cells: pa.Array
    from_text: bool
    rows: _RowNames

    def numbers(self, *, whole: bool) -> pa.Array:
        """Return the cells as numbers, null where nothing stands."""
        numbers = self._parse_numbers() if self.from_text else to_numbers(self.cells)
        if numbers is None:
            raise SchemaError(
                f"feature {self.name!r}: the file holds values of type {self.cells.type} there;"
                " expected numbers, as at fit. Convert the column."
            )
        numbers = nan_to_null(numbers)
        self._refuse(pc.is_inf(numbers), "expected a finite number")
        if not whole:
            return numbers
        self._refuse(
            pc.not_equal(pc.round(numbers), numbers),
            "expected a whole number, as in all rows at fit",
        )
        self._refuse(
            pc.greater_equal(pc.abs(numbers), _MAX_WHOLE), "expected a number of up to 18 digits"
        )
        return numbers.cast(pa.int64())

    def levels(self, levels: Sequence[Level]) -> pa.Array:
        """Return the cells as levels, null where nothing stands."""
        try:
            positions, values = distinct_values(self.cells)
        except pa.ArrowNotImplementedError:
            raise SchemaError(
                f"feature {self.name!r}: the file holds values of type {self.cells.type} there;"
                f" expected the levels {quoted(levels)}, as at fit. Convert the column."
            ) from None
        find_codes = text_level_codes if self.from_text else level_codes
        codes = np.append(find_codes(values, levels), MISSING_LEVEL)[positions]
        unknown = codes == UNKNOWN_LEVEL
        if unknown.any():
            row = int(unknown.argmax())
            self._refuse_level(values[int(positions[row])], row, levels)
        indices = pa.array(codes, mask=codes == MISSING_LEVEL)
        return pa.array(levels, _arrow_type(levels)).take(indices)

    def _parse_numbers(self) -> pa.Array:
        texts = strip_texts(self.cells)
        try:
            return texts.cast(pa.float64())
        except pa.ArrowInvalid:
            distinct = pc.unique(texts.drop_null()).to_pylist()
            wrong = next(text for text in distinct if not is_number_text(text))
            hint = " Write numbers with a point and without thousands separators."
            advice = hint if any(sign.isdigit() for sign in wrong) else ""
            self._refuse(pc.equal(texts, wrong), f"expected a number.{advice}", repr(wrong))
            raise

    def _refuse(self, wrong: pa.Array, expected: str, value: str | None = None) -> None:
        """Name the first cell that is wrong, if there is one."""
        rows = np.flatnonzero(pc.fill_null(wrong, False).to_numpy(zero_copy_only=False))
        if not len(rows):
            return
        row = int(rows[0])
        shown_value = value or f"{self.cells[row].as_py()}"
        more = f" (as are {len(rows) - 1:,} more of these rows)" if len(rows) > 1 else ""
        raise SchemaError(
            f"feature {self.name!r}: {self.rows.of(row)} is"
            f" {shown_value}{more}; {expected.rstrip('.')}."
        )

    def _refuse_level(self, value: Any, row: int, levels: Sequence[Level]) -> None:
        is_other_type = not isinstance(value, str) and isinstance(levels[0], str)
        advice = " Drop those rows, or fit with it."
        advice = " Convert the column to text." if is_other_type else advice
        raise SchemaError(
            f"feature {self.name!r}: {self.rows.of(row)} has the unknown"
            f" level {value!r}; known levels are"
            f" {quoted(levels)}.{did_you_mean(value, levels) or advice}"
        )


def _arrow_type(levels: Sequence[Level]) -> pa.DataType:
    if isinstance(levels[0], str):
        return pa.string()
    if isinstance(levels[0], bool):
        return pa.bool_()
    return pa.int64() if all(isinstance(level, int) for level in levels) else pa.float64()


def _is_whole(dtype: Any) -> bool:
    if hasattr(dtype, "is_integer"):  # of narwhals
        return bool(dtype.is_integer())
    return pd.api.types.is_integer_dtype(dtype) or pd.api.types.is_bool_dtype(dtype)


def _plain_array(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return a column in one piece, its text of one type."""
    array = one_array(column)
    if pa.types.is_large_string(array.type) or str(array.type) == "string_view":
        return array.cast(pa.string())
    return pc.dictionary_decode(array) if pa.types.is_dictionary(array.type) else array
