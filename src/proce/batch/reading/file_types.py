"""The types that a file gives its columns, in which a result gives them back.

They are told from the file's schema and the fitted features before any row is explained, so they
are the same for every part of a result.
"""

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from proce.batch.reading.parquet_files import ParquetFiles
from proce.batch.reading.source import Source
from proce.batch.reading.typed import TypedColumns
from proce.errors import FileError
from proce.schema import Categorical, Continuous, Ordinal

_WHOLE_BITS = {16: 11, 32: 24, 64: 53}  # of floats: below 2 to this power every integer is exact


@dataclass(frozen=True, eq=False)
class FileType:
    """The type of a column."""

    kind: pa.DataType  # the Arrow type
    levels: pa.Array | None = None  # for a dictionary all its values, in the order of the schema

    def cast(self, column: pa.ChunkedArray) -> pa.ChunkedArray:
        """Return a column of this type."""
        if self.levels is None:
            return column.cast(self.kind)
        codes = pc.index_in(column, value_set=self.levels).cast(self.kind.index_type)
        values = self.levels.cast(self.kind.value_type)
        ordered = self.kind.ordered
        chunks = [
            pa.DictionaryArray.from_arrays(chunk, values, ordered=ordered) for chunk in codes.chunks
        ]
        return pa.chunked_array(chunks, self.kind)


def type_in_file(source: Source, column: str) -> pa.DataType | None:
    """Return the type of a column in all files of a source; ``None`` where they have no such."""
    if not isinstance(source.content, ParquetFiles):
        return None
    kinds = {schema.field(column).type for schema in source.content.schemas}
    if len(kinds) == 1:
        return kinds.pop()
    try:
        return source.type_of(column)
    except FileError:
        return None


def float32_columns(source: Source, types: TypedColumns) -> frozenset[str]:
    """Return the columns of numbers with fractions that a file has in 32 bits."""
    return frozenset(
        feature.name
        for feature in types.schema
        if isinstance(feature, Continuous)
        and feature.name not in types.integers
        and type_in_file(source, feature.name) == pa.float32()
    )


def result_types(source: Source, types: TypedColumns) -> dict[str, FileType]:
    """Return the types of the file in which all values that a result can have fit."""
    fitting: dict[str, FileType] = {}
    for feature in types.schema:
        for column in feature.columns:
            kind = type_in_file(source, column)
            if kind is None:
                continue
            if isinstance(feature, Continuous) or len(feature.columns) > 1:
                own = FileType(kind) if _holds_numbers(kind, types, column) else None
            else:
                own = _level_type(kind, feature)
            if own is not None:
                fitting[column] = own
    return fitting


def _holds_numbers(kind: pa.DataType, types: TypedColumns, column: str) -> bool:
    """Whether a type holds every number that a feature can have in a result."""
    low, high = types.bounds[column]
    if pa.types.is_boolean(kind):
        return column in types.integers and low >= 0 and high <= 1
    if pa.types.is_floating(kind):
        exact = 2.0 ** _WHOLE_BITS[kind.bit_width]
        is_exact = column in types.integers and max(-low, high) <= exact
        return is_exact or column in types.float32 or pa.types.is_float64(kind)
    if not pa.types.is_integer(kind) or column not in types.integers:
        return False
    bits = kind.bit_width - pa.types.is_signed_integer(kind)
    return low >= (-(2.0**bits) if pa.types.is_signed_integer(kind) else 0) and high < 2.0**bits


def _level_type(kind: pa.DataType, feature: Categorical | Ordinal) -> FileType | None:
    """Return the type of a file if it holds every level, as it is."""
    levels = pa.array(list(feature.levels))
    if not pa.types.is_dictionary(kind):
        return FileType(kind) if _holds_levels(kind, levels) else None
    if not _holds_levels(kind.value_type, levels) or len(levels) > 2 ** (
        kind.index_type.bit_width - 1
    ):
        return None
    ordered = kind.ordered and isinstance(feature, Ordinal)
    return FileType(pa.dictionary(kind.index_type, kind.value_type, ordered), levels)


def _holds_levels(kind: pa.DataType, levels: pa.Array) -> bool:
    try:
        return bool(levels.cast(kind).cast(levels.type).equals(levels))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return False
