"""Explain a file of any length in one process, chunk by chunk.

How much memory is needed does not depend on the length of the file.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from proce.batch.parts.parts import Parts
from proce.batch.parts.spans import Span, gaps
from proce.batch.reading.rows import Rows
from proce.explanation import Explanations
from proce.methods import Progress

ProgressCallback = Callable[[Progress], object]
ExplainTable = Callable[[pa.Table, ProgressCallback | None], Explanations]


@dataclass(frozen=True)
class InProcessJob:
    """Rows that this process explains, chunk by chunk.

    Attributes
    ----------
    rows
        The rows of a file.
    explain
        Explains the rows of a table.
    also
        What else is done with each chunk's explanations.
    progress
        Called with how far the whole file has come.
    """

    rows: Rows
    explain: ExplainTable
    also: Callable[[Explanations], object] | None = None
    progress: ProgressCallback | None = None

    def explanations(self, covered: Sequence[Span] = ()) -> Iterator[Explanations]:
        """Yield the explanations of the chunks, their rows counted from the file's first.

        Parameters
        ----------
        covered
            The rows that are done already, in order.
        """
        for chunk in self.rows.chunks():
            whole = Span(chunk.first_row, len(chunk.table))
            for span in gaps(covered, whole) if whole.n_rows else [whole]:
                table = chunk.table.slice(span.first_row - whole.first_row, span.n_rows)
                with self.rows.naming(span.first_row):
                    result = self.explain(table, self._progress_from(span.first_row))
                result = self.rows.labelled(result, table, span.first_row)
                if self.also is not None:
                    self.also(result)
                yield result

    def keep(self, parts: Parts) -> None:
        """Explain the rows that are in no part yet, and keep them as parts."""
        for result in self.explanations(parts.covered()):
            parts.writer.write(result)

    def _progress_from(self, first_row: int) -> ProgressCallback | None:
        """Return a callback that turns the progress of a chunk into that of the whole file."""
        tell = self.progress
        if tell is None:
            return None

        def report(chunk: Progress) -> object:
            if chunk.stage != "search":
                return tell(chunk)
            return tell(replace(chunk, done=first_row + chunk.done, total=self.rows.count))

        return report
