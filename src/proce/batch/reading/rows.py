"""The rows of a file or a folder, in the types of the features, cut into chunks."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from proce.batch.reading.file_types import FileType, float32_columns, result_types
from proce.batch.reading.source import Batch, Source
from proce.batch.reading.typed import TypedColumns
from proce.errors import FileError, SchemaError
from proce.explanation import Explanations
from proce.schema.frames.cells import one_array

CHUNK_ROWS = 4_096  # explained in one call
BATCH_ROWS = 16_384  # read from a file at once


@dataclass(frozen=True)
class Chunk:
    """Some rows of a source, and the position of the first of them in it."""

    first_row: int
    table: pa.Table


@dataclass(frozen=True)
class Rows:
    """The rows of a file or a folder, in the types of the features."""

    source: Source  # the file, or the folder
    types: TypedColumns  # what its columns must become
    count: int  # how many rows there are; all of them have been read once and fit
    chunk_rows: int  # how many rows are explained in one call
    batch_rows: int  # how many rows are read from the file at once
    # The column whose values name the rows; None for none. Its values go along as they are, with
    # their type; those of a csv file are text.
    id_name: str | None = None

    @classmethod
    def checked(
        cls,
        source: Source,
        types: TypedColumns,
        *,
        chunk_rows: int = CHUNK_ROWS,
        batch_rows: int = BATCH_ROWS,
        id_name: str | None = None,
    ) -> "Rows":
        """Read all rows once, so that a wrong cell at the end is found at the beginning."""
        columns = types.schema.columns
        refuse_feature_id(id_name, columns)
        source.require(columns if id_name is None else (*columns, id_name))
        types = replace(types, float32=float32_columns(source, types))
        rows = cls(source, types, 0, chunk_rows, batch_rows, id_name)
        _refuse_id_type(rows)
        return replace(rows, count=sum(len(batch) for batch in rows._batches()))

    @property
    def id_type(self) -> pa.DataType | None:
        """The type of the ids in a result; ``None`` where rows have none."""
        return None if self.id_name is None else self.source.type_of(self.id_name)

    @property
    def result_types(self) -> dict[str, FileType]:
        """The types of the file in which all values that a result can have fit, by column."""
        return result_types(self.source, self.types)

    @property
    def labels(self) -> "Rows":
        """What gives explanations their positions and ids."""
        return self

    def chunks(self) -> Iterator[Chunk]:
        """Yield the rows, always cut at the same places; one empty chunk where there are none."""
        size = self.chunk_rows
        waiting: list[pa.Table] = []
        first_row, n_waiting = 0, 0
        for batch in self._batches():
            waiting.append(batch)
            n_waiting += len(batch)
            while n_waiting >= size:
                whole = pa.concat_tables(waiting)
                yield Chunk(first_row, whole.slice(0, size).combine_chunks())
                waiting = [whole.slice(size)]
                first_row, n_waiting = first_row + size, n_waiting - size
        if n_waiting or not self.count:
            yield Chunk(first_row, pa.concat_tables(waiting).combine_chunks())

    def labelled(self, result: Explanations, table: pa.Table, first_row: int = 0) -> Explanations:
        """Return explanations of rows of the file with their positions in it, and their ids."""
        return labelled(result, table, first_row, self.id_name)

    @contextmanager
    def naming(self, first_row: int) -> Iterator[None]:
        """Say in errors about some rows where these begin: the errors count from their first."""
        try:
            yield
        except SchemaError as error:
            if first_row:
                where = f"{self.source.path.name}, counted from its row {first_row}"
                error.args = (f"{where}: {error}",)
            raise

    def _batches(self) -> Iterator[pa.Table]:
        """Yield the rows in the types of the features, with their ids; at least one table."""
        id_type = self.id_type
        ids = [] if self.id_name is None else [self.id_name]
        columns = (*self.types.schema.columns, *ids)
        is_empty = True
        is_text = self.source.is_text
        for batch in self.source.batches(columns, self.batch_rows):
            if len(batch.rows):
                yield self._typed(batch, id_type, is_text=is_text)
                is_empty = False
        if is_empty:
            cells = {name: pa.array([], pa.string()) for name in self.types.schema.columns}
            cells |= {name: pa.array([], id_type) for name in ids}
            nothing = Batch(self.source.path, 0, pa.record_batch(cells))
            yield self._typed(nothing, id_type, is_text=True)

    def _typed(self, batch: Batch, id_type: pa.DataType | None, *, is_text: bool) -> pa.Table:
        """Return some rows in the types of the features, with their ids."""
        ids = None
        if self.id_name is not None:
            column = _as_ids(batch.rows.column(self.id_name), id_type)
            if self.source.is_text:
                column = pc.if_else(pc.equal(column, ""), pa.scalar(None, pa.string()), column)
            ids = (self.id_name, column)
        try:
            typed = self.types.table(
                batch.rows,
                from_text=is_text,
                first_row=batch.first_row,
                ids=ids,
            )
        except SchemaError as error:
            raise SchemaError(f"{batch.file.name}: {error}") from None
        return typed if ids is None else typed.append_column(*ids)


def refuse_feature_id(id_name: str | None, columns: Sequence[str]) -> None:
    """Refuse a feature as the column that names the rows."""
    if id_name in columns:
        raise FileError(
            f"the column {id_name!r} is a feature, which changes; an id is a column that is"
            " none. Name another, or leave the id out."
        )


def _refuse_id_type(rows: Rows) -> None:
    """Refuse ids that no file could hold as they are."""
    kind = rows.id_type
    if kind is not None and not (
        pa.types.is_string(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_decimal(kind)
        or pa.types.is_temporal(kind)
        or pa.types.is_null(kind)
    ):
        raise FileError(
            f"the column {rows.id_name!r} holds values of type {kind}; an id is a text or a"
            " number. Convert the column, or name another."
        )


def _as_ids(column: pa.Array, kind: pa.DataType | None) -> pa.Array:
    """Return ids in the type that they have in all files."""
    ids = one_array(column)
    return (pc.dictionary_decode(ids) if pa.types.is_dictionary(ids.type) else ids).cast(kind)


def labelled(
    result: Explanations, table: pa.Table, first_row: int, id_name: str | None
) -> Explanations:
    """Return explanations of rows with their positions, and the ids in a column of the rows."""
    counted = result.counted_from(first_row)
    if id_name is None:
        return counted
    # As an index that keeps their type, and whole numbers beside missing ones.
    return counted.labelled(pd.Index(pd.arrays.ArrowExtensionArray(table[id_name]), name=id_name))
