"""Explain a file of any length in one process, chunk by chunk.

How much memory is needed does not depend on the length of the file.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from proce.batch.parts import Parts
from proce.batch.source import Source
from proce.batch.typed import TypedColumns
from proce.errors import FileError, SchemaError
from proce.explanation import Explanations
from proce.methods import Progress

CHUNK_ROWS = 4_096  # explained in one call
BATCH_ROWS = 16_384  # read from a file at once

ProgressCallback = Callable[[Progress], object]
ExplainTable = Callable[[pa.Table, ProgressCallback | None], Explanations]


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
    """

    source: Source
    types: TypedColumns
    count: int
    chunk_rows: int
    batch_rows: int

    @classmethod
    def checked(
        cls,
        source: Source,
        types: TypedColumns,
        *,
        chunk_rows: int = CHUNK_ROWS,
        batch_rows: int = BATCH_ROWS,
    ) -> "Rows":
        """Read all rows once, so that a wrong cell at the end is found at the beginning."""
        source.require(types.schema.columns)
        try:
            count = sum(len(batch) for batch in _typed_batches(source, types, batch_rows))
        except SchemaError as error:
            raise SchemaError(f"{source.path.name}: {error}") from None
        if not count:
            raise FileError(f"{str(source.path)!r} has a header and no rows.")
        return cls(source, types, count, chunk_rows, batch_rows)

    def chunks(self) -> Iterator[Chunk]:
        """Yield the rows, always cut at the same places."""
        size = self.chunk_rows
        waiting: list[pa.Table] = []
        first_row, n_waiting = 0, 0
        for batch in _typed_batches(self.source, self.types, self.batch_rows):
            waiting.append(batch)
            n_waiting += len(batch)
            while n_waiting >= size:
                whole = pa.concat_tables(waiting)
                yield Chunk(first_row, whole.slice(0, size).combine_chunks())
                waiting = [whole.slice(size)]
                first_row, n_waiting = first_row + size, n_waiting - size
        if n_waiting:
            yield Chunk(first_row, pa.concat_tables(waiting).combine_chunks())

    def table(self) -> pa.Table:
        """Return all rows at once."""
        batches = _typed_batches(self.source, self.types, self.batch_rows)
        return pa.concat_tables(batches).combine_chunks()


def explain_chunks(
    rows: Rows, explain: ExplainTable, progress: ProgressCallback | None = None, skip: int = 0
) -> Iterator[Explanations]:
    """Yield the explanations of a file's chunks, their rows counted from the file's first.

    Parameters
    ----------
    rows
        The file.
    explain
        Explains the rows of a table.
    progress
        Called with how far the whole file has come.
    skip
        The number of chunks at the beginning that are done already.
    """
    for number, chunk in enumerate(rows.chunks()):
        if number < skip:
            continue
        result = explain(chunk.table, _file_progress(rows.count, chunk.first_row, progress))
        yield result.counted_from(chunk.first_row)


def explain_to(
    parts: Parts,
    rows: Rows,
    explain: ExplainTable,
    *,
    progress: ProgressCallback | None = None,
    on_result: Callable[[Explanations], None] | None = None,
) -> None:
    """Explain the chunks of a file that have no part yet, and keep each as a part.

    Parameters
    ----------
    parts
        Where they are kept.
    rows, explain, progress
        As for :func:`explain_chunks`.
    on_result
        Called with each chunk's explanations before its part is kept.
    """
    n_done = len(parts.paths())
    results = explain_chunks(rows, explain, progress, skip=n_done)
    for number, result in enumerate(results, n_done):
        if on_result is not None:
            on_result(result)
        parts.add(number, as_table(result.to_frame()), tally(result))


def tally(result: Explanations) -> Counter[str]:
    """Return how many rows have each outcome."""
    counts = result.rows.outcome_counts()
    return Counter({outcome.value: count for outcome, count in counts.items()})


def as_table(frame: Any) -> pa.Table:
    """Return a frame made from an Arrow table as a table, its text of one type."""
    fields = [
        field.with_type(pa.string()) if pa.types.is_large_string(field.type) else field
        for field in frame.schema
    ]
    return frame.cast(pa.schema(fields))


def _typed_batches(source: Source, types: TypedColumns, batch_rows: int) -> Iterator[pa.Table]:
    first_row, from_text = 0, source.dialect is not None
    for batch in source.batches(types.schema.columns, batch_rows):
        yield types.table(batch, from_text=from_text, first_row=first_row)
        first_row += len(batch)


def _file_progress(
    total: int, first_row: int, progress: ProgressCallback | None
) -> ProgressCallback | None:
    """Return a callback that turns the progress of a chunk into that of the whole file."""
    if progress is None:
        return None

    def report(chunk: Progress) -> object:
        if chunk.stage != "search":
            return progress(chunk)
        return progress(replace(chunk, done=first_row + chunk.done, total=total))

    return report
