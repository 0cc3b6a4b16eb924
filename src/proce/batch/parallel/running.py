"""Run a job over worker processes: from rows in pieces to explanations in order, or to parts."""

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Protocol

import narwhals as nw

from proce.batch.parallel.work import (
    CallTerms,
    ExplainWork,
    GivenExplainer,
    Keep,
    SavedExplainer,
)
from proce.batch.parts.parts import Parts
from proce.batch.parts.spans import Span, gaps
from proce.batch.pieces import Done, Failed, Piece, PieceSettings, run_pieces
from proce.batch.reading.file_types import FileType
from proce.batch.reading.rows import Chunk
from proce.explanation import Explanations, Outcome, unanswered
from proce.methods import Progress
from proce.methods.calls.method import ProgressCallback
from proce.processes.worker import pickled

PRELOADED = ("proce.batch.parallel.work", "proce.methods", "numba", "pyarrow.parquet")
_PIECES_PER_WORKER = 4  # at least, where there are rows enough: nobody waits long for the last
_MIN_PIECE_ROWS, _MAX_PIECE_ROWS = 64, 4_096  # rows that are searched together are cheaper


def piece_rows(n_rows: int, n_workers: int) -> int:
    """Return how many rows a piece should have."""
    share = -(-n_rows // (n_workers * _PIECES_PER_WORKER))
    return min(max(share, _MIN_PIECE_ROWS), _MAX_PIECE_ROWS)


class RowSource(Protocol):
    """The rows of a job: those of a file, or of a frame."""

    @property
    def count(self) -> int:
        """How many there are."""

    @property
    def result_types(self) -> Mapping[str, FileType]:
        """The types that columns of a result in a file get."""

    def chunks(self) -> Iterator[Chunk]:
        """Yield them cut into chunks; one empty chunk where there are none."""

    def labelled(self, result: Explanations, table: Any, first_row: int = 0) -> Explanations:
        """Return explanations of some of them with their positions and labels."""


@dataclass(frozen=True)
class ParallelJob:
    """Rows that worker processes explain."""

    rows: RowSource  # the rows
    explainer: SavedExplainer | GivenExplainer  # where a worker has the explainer from
    call: CallTerms  # the call
    like: Explanations  # what the call gives for no rows
    n_workers: int  # how many processes
    also: Keep | None = None  # what else is done with each explanation, where it is made
    # called with how many rows are finished; the job ends where it returns False
    progress: ProgressCallback | None = None

    def explanations(self) -> Generator[Explanations]:
        """Yield the explanations of the rows piece by piece, in order.

        They end before the last row where the time is over, or somebody stops the job.
        """
        if not self.rows.count:
            yield self.like
            return
        with closing(self._events((), None)) as events:
            for event in events:
                result = self._failed(event) if isinstance(event, Failed) else event.value
                if self.also is not None:
                    self.also(result)
                yield result

    def keep(self, parts: Parts) -> bool:
        """Keep the explanations of the rows that are in no part yet as parts.

        Return whether all rows were reached.
        """
        keep = _KeepAll(tuple(own for own in (self.also, parts.writer.write) if own is not None))
        if not self.rows.count:
            keep(self.like)
            return True
        covered = parts.covered()
        n_reached = sum(span.n_rows for span in covered)
        with closing(self._events(covered, keep)) as events:
            for event in events:
                n_reached += len(event.piece)
                if isinstance(event, Failed):
                    keep(self._failed(event))
        return n_reached == self.rows.count

    def unreached(self, covered: Sequence[Span], reason: str) -> Iterator[Explanations]:
        """Yield what is said of the rows that the job has not reached."""
        for piece in _pieces(self.rows, covered):
            yield self._unanswered(piece, Outcome.OUT_OF_TIME, reason)

    def _events(self, covered: Sequence[Span], keep: Keep | None) -> Generator[Done | Failed]:
        n_covered, is_complete = sum(span.n_rows for span in covered), False

        def report(n_done: int) -> object:
            nonlocal is_complete
            if self.progress is None or is_complete:
                return None
            done = n_covered + n_done
            is_complete = done == self.rows.count
            return self.progress(Progress("search", done, self.rows.count))

        work = ExplainWork(self.explainer, self.call, self.rows.labelled, keep)
        return run_pieces(
            _pieces(self.rows, covered),
            pickled(work),
            PieceSettings(self.n_workers, preload=(*PRELOADED, *self.explainer.modules)),
            on_progress=report,
            is_over=lambda: self.call.is_over,
        )

    def _failed(self, event: Failed) -> Explanations:
        return self._unanswered(event.piece, Outcome.FAILED, event.reason)

    def _unanswered(self, piece: Piece, outcome: Outcome, reason: str) -> Explanations:
        result = self.call.seen(unanswered(self.like, piece.frame, outcome, reason))
        return self.rows.labelled(result, piece.frame, piece.first_row)


def _pieces(rows: RowSource, covered: Sequence[Span]) -> Iterator[Piece]:
    """Yield the rows that are not covered, cut at the chunks."""
    for chunk in rows.chunks():
        whole = Span(chunk.first_row, len(chunk.table))
        for span in gaps(covered, whole):
            first = span.first_row - whole.first_row
            part = nw.from_native(chunk.table, eager_only=True)[first : first + span.n_rows]
            yield Piece(span.first_row, part.to_native())


@dataclass(frozen=True)
class _KeepAll:
    """Does one thing after the other with explanations."""

    each: tuple[Keep, ...]

    def __call__(self, result: Explanations) -> None:
        for keep in self.each:
            keep(result)
