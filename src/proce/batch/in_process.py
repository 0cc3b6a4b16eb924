"""Explain a file of any length in one process, chunk by chunk.

How much memory is needed does not depend on the length of the file.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from proce.batch.isolation import explain_isolating
from proce.batch.parts.parts import Parts
from proce.batch.parts.spans import Span, gaps
from proce.batch.reading.rows import Rows
from proce.explanation import Explanations
from proce.methods import Progress

ProgressCallback = Callable[[Progress], object]
ExplainTable = Callable[[pa.Table, ProgressCallback | None], Explanations]
GiveUp = Callable[[pa.Table, str], Explanations]


@dataclass(frozen=True)
class InProcessJob:
    """Rows that this process explains, chunk by chunk."""

    rows: Rows  # the rows of a file
    explain: ExplainTable  # explains the rows of a table
    give_up: GiveUp  # returns explanations of a row on which the model breaks, given why
    # what else is done with each chunk's explanations
    also: Callable[[Explanations], object] | None = None
    progress: ProgressCallback | None = None  # called with how far the whole file has come

    def explanations(self, covered: Sequence[Span] = ()) -> Iterator[Explanations]:
        """Yield the explanations of the chunks, their rows counted from the file's first."""
        for chunk in self.rows.chunks():
            whole = Span(chunk.first_row, len(chunk.table))
            for span in gaps(covered, whole) if whole.n_rows else [whole]:
                table = chunk.table.slice(span.first_row - whole.first_row, span.n_rows)
                for first, result in self._explained(table, span.first_row):
                    part = table.slice(first, len(result))
                    labelled = self.rows.labelled(result, part, span.first_row + first)
                    if self.also is not None:
                        self.also(labelled)
                    yield labelled

    def _explained(self, table: pa.Table, first_row: int) -> Iterator[tuple[int, Explanations]]:
        """Yield the explanations of a chunk; in pieces, where the model breaks on a row of it."""
        report = self._progress_from(first_row)
        with self.rows.naming(first_row):
            yield from explain_isolating(
                table, lambda rows: self.explain(rows, report), self.give_up
            )

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
