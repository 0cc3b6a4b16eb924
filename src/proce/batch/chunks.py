"""Explain a file of any length in one process, chunk by chunk: memory does not grow with it."""

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

CHUNK = 4_096  # rows explained in one call
_ROWS_PER_BATCH = 16_384  # read from a file at once

ProgressCallback = Callable[[Progress], object]
Ask = Callable[[pa.Table, ProgressCallback | None], Explanations]


@dataclass(frozen=True)
class Chunk:
    """Some rows of a file, and where they stand in it."""

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
    """

    source: Source
    types: TypedColumns
    count: int

    @classmethod
    def checked(cls, source: Source, types: TypedColumns) -> "Rows":
        """Read all rows once, so that a wrong cell at the end is found at the beginning."""
        source.require(types.schema.columns)
        try:
            count = sum(len(chunk.table) for chunk in _typed(source, types))
        except SchemaError as error:
            raise SchemaError(f"{source.path.name}: {error}") from None
        if not count:
            raise FileError(f"{str(source.path)!r} has a header and no rows.")
        return cls(source, types, count)

    def chunks(self, size: int = CHUNK) -> Iterator[Chunk]:
        """Yield the rows, always cut at the same places."""
        waiting: list[pa.Table] = []
        first, held = 0, 0
        for typed in _typed(self.source, self.types):
            waiting.append(typed.table)
            held += len(typed.table)
            while held >= size:
                whole = pa.concat_tables(waiting)
                yield Chunk(first, whole.slice(0, size).combine_chunks())
                waiting, first, held = [whole.slice(size)], first + size, held - size
        if held:
            yield Chunk(first, pa.concat_tables(waiting).combine_chunks())

    def table(self) -> pa.Table:
        """Return all rows at once."""
        return pa.concat_tables(c.table for c in _typed(self.source, self.types)).combine_chunks()


def explained(
    rows: Rows, ask: Ask, progress: ProgressCallback | None = None, skip: int = 0
) -> Iterator[Explanations]:
    """Yield the explanations of a file's chunks, their rows counted from the file's first.

    Parameters
    ----------
    rows
        The file.
    ask
        Explains the rows of a table.
    progress
        Called with how far the whole file has come.
    skip
        Chunks at the beginning that are done already.
    """
    for number, chunk in enumerate(rows.chunks()):
        if number < skip:
            continue
        result = ask(chunk.table, _within(rows.count, chunk.first_row, progress))
        yield result.counted_from(chunk.first_row)


def explain_to(
    parts: Parts,
    rows: Rows,
    ask: Ask,
    *,
    progress: ProgressCallback | None = None,
    also: Callable[[Explanations], None] | None = None,
) -> None:
    """Explain the chunks of a file that have no part yet, and keep each as a part.

    Parameters
    ----------
    parts
        Where they are kept.
    rows, ask, progress
        As for :func:`explained`.
    also
        Called with each chunk's explanations before its part is kept.
    """
    done = len(parts.names())
    for number, result in enumerate(explained(rows, ask, progress, skip=done), done):
        if also is not None:
            also(result)
        parts.add(number, as_table(result.to_frame()), tally(result))


def tally(result: Explanations) -> Counter[str]:
    """Return how many rows ended in which way."""
    return Counter(item.outcome.value for item in result)


def as_table(frame: Any) -> pa.Table:
    """Return a frame made from an Arrow table as a table, its text of one type."""
    fields = [
        field.with_type(pa.string()) if pa.types.is_large_string(field.type) else field
        for field in frame.schema
    ]
    return frame.cast(pa.schema(fields))


def _typed(source: Source, types: TypedColumns) -> Iterator[Chunk]:
    first, from_text = 0, source.dialect is not None
    for batch in source.batches(types.schema.columns, _ROWS_PER_BATCH):
        yield Chunk(first, types.table(batch, from_text=from_text, first_row=first))
        first += len(batch)


def _within(
    total: int, first_row: int, progress: ProgressCallback | None
) -> ProgressCallback | None:
    """Return a callback for a chunk that tells of the whole file."""
    if progress is None:
        return None

    def report(told: Progress) -> object:
        if told.stage != "search":
            return progress(told)
        return progress(replace(told, done=first_row + told.done, total=total))

    return report
