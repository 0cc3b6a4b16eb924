"""Explain a file of any length in one process, chunk by chunk.

How much memory is needed does not depend on the length of the file.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import pyarrow as pa

from proce.batch.parts.parts import Parts
from proce.batch.parts.spans import Span, gaps
from proce.batch.reading.rows import Rows
from proce.explanation import Explanations
from proce.methods import Progress

ProgressCallback = Callable[[Progress], object]
ExplainTable = Callable[[pa.Table, ProgressCallback | None], Explanations]


def explain_chunks(
    rows: Rows,
    explain: ExplainTable,
    progress: ProgressCallback | None = None,
    covered: Sequence[Span] = (),
) -> Iterator[Explanations]:
    """Yield the explanations of a file's chunks, their rows counted from the file's first.

    Parameters
    ----------
    rows
        The file; one without rows is a chunk without rows.
    explain
        Explains the rows of a table.
    progress
        Called with how far the whole file has come.
    covered
        The rows that are done already, in order.
    """
    for chunk in rows.chunks():
        whole = Span(chunk.first_row, len(chunk.table))
        for span in gaps(covered, whole) if whole.n_rows else [whole]:
            table = chunk.table.slice(span.first_row - whole.first_row, span.n_rows)
            result = explain(table, _file_progress(rows.count, span.first_row, progress))
            yield rows.labelled(result, table, span.first_row)


def explain_to(
    parts: Parts,
    rows: Rows,
    explain: ExplainTable,
    *,
    progress: ProgressCallback | None = None,
    on_result: Callable[[Explanations], None] | None = None,
) -> None:
    """Explain the rows of a file that are in no part yet, and keep them as parts.

    Parameters
    ----------
    parts
        Where they are kept.
    rows, explain, progress
        As for :func:`explain_chunks`.
    on_result
        Called with each chunk's explanations before its part is kept.
    """
    writer = parts.writer
    for result in explain_chunks(rows, explain, progress, parts.covered()):
        if on_result is not None:
            on_result(result)
        writer.write(result)


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
