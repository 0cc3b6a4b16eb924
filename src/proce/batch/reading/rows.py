"""The rows of a file, in the types of the features, cut into chunks."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
import pyarrow as pa

from proce.batch.reading.source import Source
from proce.batch.reading.typed import TypedColumns
from proce.errors import FileError, SchemaError
from proce.explanation import Explanations

CHUNK_ROWS = 4_096  # explained in one call
BATCH_ROWS = 16_384  # read from a file at once


@dataclass(frozen=True)
class Chunk:
    """Some rows of a file, and the position of the first of them in it."""

    first_row: int
    table: pa.Table


@dataclass(frozen=True)
class Rows:
    """The rows of a file, in the types of the features.

    Attributes
    ----------
    source
        The file.
    types
        What its columns must become.
    count
        How many rows there are; all of them have been read once and fit.
    chunk_rows
        How many rows are explained in one call.
    batch_rows
        How many rows are read from the file at once.
    id_name
        The column whose values name the rows; ``None`` for none. It goes along as it is.
    """

    source: Source
    types: TypedColumns
    count: int
    chunk_rows: int
    batch_rows: int
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
        if id_name in columns:
            raise FileError(
                f"the column {id_name!r} is a feature, which changes; an id is a column that is"
                " none. Name another, or leave the id out."
            )
        source.require(columns if id_name is None else (*columns, id_name))
        rows = cls(source, types, 0, chunk_rows, batch_rows, id_name)
        try:
            count = sum(len(batch) for batch in rows._batches())
        except SchemaError as error:
            raise SchemaError(f"{source.path.name}: {error}") from None
        return replace(rows, count=count)

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

    def table(self) -> pa.Table:
        """Return all rows at once."""
        return pa.concat_tables(self._batches()).combine_chunks()

    def labelled(self, result: Explanations, table: pa.Table, first_row: int = 0) -> Explanations:
        """Return explanations of rows of the file with their positions in it, and their ids."""
        counted = result.counted_from(first_row)
        return counted if self.id_name is None else counted.labelled(_ids(table, self.id_name))

    def _batches(self) -> Iterator[pa.Table]:
        """Yield the rows in the types of the features, with their ids; at least one table."""
        first_row, from_text = 0, self.source.dialect is not None
        ids = [] if self.id_name is None else [self.id_name]
        columns = (*self.types.schema.columns, *ids)
        is_empty = True
        for batch in self.source.batches(columns, self.batch_rows):
            typed = self.types.table(batch, from_text=from_text, first_row=first_row)
            for name in ids:
                typed = typed.append_column(name, batch.column(name))
            first_row, is_empty = first_row + len(batch), False
            yield typed
        if is_empty:
            nothing = pa.table({name: pa.array([], pa.string()) for name in columns})
            typed = self.types.table(nothing, from_text=True)
            for name in ids:
                typed = typed.append_column(name, nothing.column(name))
            yield typed


def _ids(table: pa.Table, name: str) -> Any:
    return pd.Index(table[name].to_pandas(), name=name)
