"""Explain a file of any length in one process, chunk by chunk.

How much memory is needed does not depend on the length of the file.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

import pyarrow as pa

from proce.batch.parts import Parts
from proce.batch.reading.rows import Rows
from proce.batch.tables import doubts, table_of, tally
from proce.explanation import Explanations
from proce.methods import Progress

ProgressCallback = Callable[[Progress], object]
ExplainTable = Callable[[pa.Table, ProgressCallback | None], Explanations]


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
        yield rows.labelled(result, chunk.table, chunk.first_row)


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
        parts.add(number, table_of(result), tally(result), doubts(result))


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
