"""A job: rows in pieces, here or in worker processes, become explanations in order, or parts."""

import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Protocol

import narwhals as nw

from proce.batch.parts.parts import Parts
from proce.batch.parts.spans import Span, gaps
from proce.batch.pieces import (
    Done,
    Failed,
    Piece,
    PieceQueue,
    PieceSettings,
    Report,
    run_here,
    run_in_workers,
)
from proce.batch.reading.rows import Chunk
from proce.explanation import Explanations, Outcome, unanswered
from proce.explanation.receipts import ModelFile
from proce.explanation.record.counterfactuals import UNKNOWN_CLASS
from proce.explanation.record.view import View
from proce.methods import Method, Progress
from proce.methods.calls.method import ProgressCallback
from proce.processes.worker import pickled

PRELOADED = ("proce.batch.job", "proce.methods", "numba", "pyarrow.parquet")
_PIECES_PER_WORKER = 4  # at least, where there are rows enough: nobody waits long for the last
_MIN_PIECE_ROWS, _MAX_PIECE_ROWS = 64, 4_096  # rows that are searched together are cheaper
_LEAST_SECONDS = 1e-3  # of a budget that is used up: a call needs one, and ends at once

Keep = Callable[[Explanations], object]


def piece_rows(n_rows: int, n_workers: int) -> int:
    """Return how many rows a piece should have."""
    share = -(-n_rows // (n_workers * _PIECES_PER_WORKER))
    return min(max(share, _MIN_PIECE_ROWS), _MAX_PIECE_ROWS)


class RowLabels(Protocol):
    """What rows are called; it goes to workers."""

    def labelled(self, result: Explanations, table: Any, first_row: int) -> Explanations:
        """Return explanations of some rows with their positions and labels."""

    def naming(self, first_row: int) -> AbstractContextManager[None]:
        """Say in errors about some rows where these begin."""


class RowSource(Protocol):
    """The rows of a job: those of a file, or of a frame."""

    @property
    def count(self) -> int:
        """How many there are."""

    @property
    def labels(self) -> RowLabels:
        """What they are called."""

    def chunks(self) -> Iterator[Chunk]:
        """Yield them cut into chunks; one empty chunk where there are none."""


@dataclass(frozen=True)
class SavedExplainer:
    """An explainer that each worker loads from a folder, whose arrays it maps."""

    folder: Path
    modules: ClassVar[tuple[str, ...]] = ("sklearn.ensemble", "skops.io")

    def load(self) -> Method:
        """Load it."""
        from proce.methods import ProCE

        return ProCE.load(self.folder)


@dataclass(frozen=True)
class GivenExplainer:
    """An explainer that goes to each worker as it is."""

    explainer: Method

    @property
    def modules(self) -> tuple[str, ...]:
        """The module of the model, which takes a while to import where it is large."""
        model = getattr(self.explainer, "model", None)
        return tuple({type(model).__module__} - {"builtins", "__main__"})

    def load(self) -> Method:
        """Return it."""
        return self.explainer


@dataclass(frozen=True)
class CallTerms:
    """One call of ``explain``, for any of its rows."""

    options: Mapping[str, Any]  # the options of the call but for its budget
    # the options that provenance tells of: those of the whole call
    reported_options: Mapping[str, Any] = field(default_factory=dict)
    deadline: float | None = None  # when the call ends, by the monotonic clock; None for never
    # who reads the explanations; None for whom they are made for by default
    view: View | None = None

    def explain(self, explainer: Method, frame: Any, progress: Any = None) -> Explanations:
        """Explain some of the rows."""
        options = dict(self.options)
        if self.deadline is not None:
            options["budget_seconds"] = max(self.deadline - time.monotonic(), _LEAST_SECONDS)
        return self.seen(explainer.explain(frame, progress=progress, **options))

    def seen(self, result: Explanations) -> Explanations:
        """Return explanations of this call as its reader gets them."""
        provenance = replace(result.provenance, options=self.reported_options)
        result = replace(result, provenance=provenance)
        return result if self.view is None else result.seen_by(self.view)

    @property
    def is_over(self) -> bool:
        """Whether the time of the call is used up."""
        return self.deadline is not None and time.monotonic() >= self.deadline


@dataclass(frozen=True)
class ExplainWork:
    """Explain pieces of rows."""

    explainer: SavedExplainer | GivenExplainer  # where the explainer comes from
    call: CallTerms  # the call
    labels: RowLabels  # what the rows are called
    # what keeps the explanations of a piece, whose value is then None; without any, the
    # explanations are the value
    keepers: tuple[Keep, ...] = ()
    other_stages: ProgressCallback | None = None  # called with all progress but that of the search

    def __call__(self) -> "ExplainWork":
        """Return the work with its explainer loaded."""
        return replace(self, explainer=GivenExplainer(self.explainer.load()))

    def do(self, piece: Piece, progress: Report) -> Explanations | None:
        """Explain a piece."""

        def tell(stage: Progress) -> None:
            if stage.stage == "search":
                progress(stage.done)
            elif self.other_stages is not None:
                self.other_stages(stage)

        with self.labels.naming(piece.first_row):
            result = self.call.explain(self.explainer.load(), piece.frame, tell)
        labelled = self.labels.labelled(result, piece.frame, piece.first_row)
        for keep in self.keepers:
            keep(labelled)
        return None if self.keepers else labelled


@dataclass(frozen=True)
class Job:
    """Rows that are explained piece by piece."""

    rows: RowSource  # the rows
    explainer: SavedExplainer | GivenExplainer  # where a worker has the explainer from
    call: CallTerms  # the call
    empty: Explanations  # what the call gives for no rows
    n_workers: int | None = None  # how many worker processes; None where this process explains
    on_result: Keep | None = None  # what else is done with each explanation, where it is made
    # called with how many rows are finished; workers end where it returns False
    progress: ProgressCallback | None = None

    def explanations(self) -> Generator[Explanations]:
        """Yield the explanations of the rows piece by piece, in order.

        They end before the last row where the time is over, or somebody stops the job.
        """
        if not self.rows.count:
            yield self.empty
            return
        with closing(self._events(())) as events:
            for event in events:
                result = self._failed(event) if isinstance(event, Failed) else event.value
                if self.on_result is not None:
                    self.on_result(result)
                yield result

    def keep(self, parts: Parts) -> bool:
        """Keep the explanations of the rows that are in no part yet as parts.

        Return whether all rows were reached.
        """
        keepers = tuple(keep for keep in (self.on_result, parts.writer.write) if keep is not None)
        if not self.rows.count:
            for keep in keepers:
                keep(self.empty)
            return True
        covered, failed = parts.covered(), list[Failed]()
        n_reached = sum(span.n_rows for span in covered)
        n_answered = n_reached - parts.summary().tally[Outcome.FAILED]
        with closing(self._events(covered, n_answered, keepers)) as events:
            for event in events:
                n_reached += len(event.piece)
                if isinstance(event, Failed):
                    failed.append(event)
                else:
                    n_answered += len(event.piece)
                # Of a model that answers nothing, nothing is kept: it is given up soon.
                while n_answered and failed:
                    self._keep_failed(failed.pop(), keepers)
        for event in failed:
            self._keep_failed(event, keepers)
        return n_reached == self.rows.count

    def unreached(
        self, covered: Sequence[Span], outcome: Outcome, reason: str
    ) -> Iterator[Explanations]:
        """Yield what is said of the rows that the job has not reached."""
        for piece in _pieces(self.rows, covered):
            yield self._unanswered(piece, outcome, reason)

    def _events(
        self, covered: Sequence[Span], n_answered: int = 0, keepers: tuple[Keep, ...] = ()
    ) -> Generator[Done | Failed]:
        n_covered, is_complete = sum(span.n_rows for span in covered), False

        def report(n_done: int) -> object:
            nonlocal is_complete
            if self.progress is None or is_complete:
                return None
            done = n_covered + n_done
            is_complete = done == self.rows.count
            return self.progress(Progress("search", done, self.rows.count))

        work = ExplainWork(self.explainer, self.call, self.rows.labels, keepers)
        pieces, n_rows = _pieces(self.rows, covered), self.rows.count
        if self.n_workers is None:
            queue = PieceQueue(pieces, n_rows, n_answered=n_answered)
            return run_here(queue, replace(work, other_stages=self.progress)(), report)
        return run_in_workers(
            PieceQueue(pieces, n_rows, n_workers=self.n_workers, n_answered=n_answered),
            pickled(work),
            PieceSettings(self.n_workers, preload=(*PRELOADED, *self.explainer.modules)),
            on_progress=report,
            is_over=lambda: self.call.is_over,
        )

    def _keep_failed(self, event: Failed, keepers: tuple[Keep, ...]) -> None:
        result = self._failed(event)
        for keep in keepers:
            keep(result)

    def _failed(self, event: Failed) -> Explanations:
        return self._unanswered(event.piece, Outcome.FAILED, event.reason)

    def _unanswered(self, piece: Piece, outcome: Outcome, reason: str) -> Explanations:
        result = self.call.seen(unanswered(self.empty, piece.frame, outcome, reason))
        return self.rows.labels.labelled(result, piece.frame, piece.first_row)


def _pieces(rows: RowSource, covered: Sequence[Span]) -> Iterator[Piece]:
    """Yield the rows that are not covered, cut at the chunks."""
    for chunk in rows.chunks():
        whole = Span(chunk.first_row, len(chunk.table))
        for span in gaps(covered, whole):
            first = span.first_row - whole.first_row
            part = nw.from_native(chunk.table, eager_only=True)[first : first + span.n_rows]
            yield Piece(span.first_row, part.to_native())


@dataclass(frozen=True)
class ReceiptWriter:
    """Writes a receipt of each row, a file each in one folder; any process can have one."""

    folder: Path  # where the receipts go
    model: ModelFile  # the file of the model, which receipts name; its checksum is taken once

    def __call__(self, result: Explanations) -> None:
        """Write a receipt of each of these rows that the model answered."""
        for position, item in enumerate(result):
            if item.predicted == UNKNOWN_CLASS:
                continue
            receipt = result.receipt(position, model=self.model)
            receipt.save(self.folder / f"row-{item.row}.json")
