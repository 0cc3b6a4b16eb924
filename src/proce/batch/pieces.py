"""Pieces of rows go to worker processes and come back in order; what kills them is cornered."""

from collections import deque
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any, Protocol

import narwhals as nw

from proce.errors import ModelError
from proce.processes.fork_server import ForkServer
from proce.processes.pool import PoolSettings, WorkerPool
from proce.processes.task import Task, WorkerDied

_REPORT_SECONDS = 0.2  # between two reports of progress
_MAX_AHEAD = 8  # pieces a worker, finished or begun, beyond the first that is not finished
_MAX_FAILED = 100  # rows

Report = Callable[[int], object]  # how many rows of the piece are finished


@dataclass(frozen=True, eq=False)
class Piece:
    """Some consecutive rows."""

    first_row: int  # its position among all rows
    frame: Any  # of any library
    is_half: bool = False  # of a piece on which the work failed

    def __len__(self) -> int:
        return len(self.frame)

    @property
    def n_tries(self) -> int:
        """How many workers may die of it: one of a half, two of a row, which may die by chance."""
        return 1 if self.is_half and len(self) > 1 else 2

    def halves(self) -> "tuple[Piece, Piece]":
        """Return the two halves of the piece."""
        middle = len(self) // 2
        opened = nw.from_native(self.frame, eager_only=True)
        first, second = opened[:middle].to_native(), opened[middle:].to_native()
        return Piece(self.first_row, first, True), Piece(self.first_row + middle, second, True)


@dataclass(frozen=True, eq=False)
class Done:
    """A piece, and what the work made of it."""

    piece: Piece
    value: Any


@dataclass(frozen=True, eq=False)
class Failed:
    """A piece of one row on which the work fails, and why."""

    piece: Piece
    reason: str


class PieceWork(Protocol):
    """What a worker holds."""

    def do(self, piece: Piece, progress: Report) -> Any:
        """Handle one piece."""


@dataclass(frozen=True)
class PieceSettings:
    """How many processes there are, which modules they need, and how many rows may fail."""

    n_workers: int
    max_failed: int = _MAX_FAILED  # beyond, the run is given up where they outnumber the others
    preload: tuple[str, ...] = ()


def run_pieces(
    pieces: Iterator[Piece],
    initialiser: bytes,
    settings: PieceSettings,
    *,
    on_progress: Callable[[int], object] | None = None,  # the run ends at once where it says False
    is_over: Callable[[], bool] | None = None,  # where it is, the pieces in work are the last
) -> Generator[Done | Failed]:
    """Yield what came of pieces, in the order of their rows; no worker outlives the iterator."""
    # A worker that dies costs a second try of its piece. A piece of which two die is halved, and
    # so on down to a row, which has failed. A piece on which the work raises a ModelError is
    # halved at once; any other error ends the run. Only some pieces are ahead of what has been
    # yielded, so that memory does not depend on how many there are.
    server = ForkServer(settings.preload)
    pool = WorkerPool(initialiser, server, PoolSettings(settings.n_workers))
    try:
        yield from _Run(pieces, pool, settings, on_progress, is_over).run()
    finally:
        pool.close()
        server.close()


class _Run:
    """The pieces that wait, those in work, and what is finished but cannot be yielded yet."""

    def __init__(
        self,
        pieces: Iterator[Piece],
        pool: WorkerPool,
        settings: PieceSettings,
        on_progress: Callable[[int], object] | None,
        is_over: Callable[[], bool] | None,
    ) -> None:
        self.pieces, self.pool, self.settings = pieces, pool, settings
        self.on_progress, self.is_over = on_progress, is_over
        self.waiting: deque[Piece] = deque()  # halves, before any new piece
        self.in_work: dict[Piece, Task] = {}
        self.ended: SimpleQueue[tuple[Piece, Task]] = SimpleQueue()
        self.finished: dict[int, Done | Failed] = {}  # by their first row
        self.n_done = self.n_failed = 0
        self.no_more = False

    def run(self) -> Generator[Done | Failed]:
        """Yield what came of the pieces."""
        while True:
            self._hand_out()
            yield from self._in_order()
            if not self.in_work:
                if self.no_more and not self.waiting:
                    return  # all is yielded, as nothing is open
                continue  # what was finished held up what comes next
            try:
                self._listen()
                goes_on = self._report() is not False
            except KeyboardInterrupt:
                yield from self._out_of_order()
                raise
            if not goes_on:
                yield from self._out_of_order()
                return

    def _hand_out(self) -> None:
        """Give as many pieces to the pool as it has workers."""
        while len(self.in_work) < self.settings.n_workers:
            piece = self._next_piece()
            if piece is None:
                return
            self._submit(piece)

    def _submit(self, piece: Piece) -> None:
        task = Task("do", {"piece": piece}, reports=True, n_tries=piece.n_tries)
        self.in_work[piece] = task
        task.future.add_done_callback(lambda _: self.ended.put((piece, task)))
        self.pool.submit(task)

    def _next_piece(self) -> Piece | None:
        if self.is_over is not None and self.is_over():
            self.waiting.clear()
            self.no_more = True
        if self.waiting:
            return self.waiting.popleft()
        n_ahead = len(self.finished) + len(self.in_work)
        if self.no_more or n_ahead >= _MAX_AHEAD * self.settings.n_workers:
            return None
        piece = next(self.pieces, None)
        self.no_more = piece is None
        return piece

    def _listen(self) -> None:
        """Wait until a piece has ended, or it is time for a report."""
        try:
            piece, task = self.ended.get(timeout=_REPORT_SECONDS)
        except Empty:
            return
        del self.in_work[piece]
        error = task.future.exception()
        if error is None:
            self._finish(Done(piece, task.future.result()))
        elif not (task.has_begun and isinstance(error, ModelError | WorkerDied)):
            raise error
        elif len(piece) > 1:
            self.waiting.extendleft(reversed(piece.halves()))
        elif isinstance(error, WorkerDied):
            self._fail(piece, f"The model broke on this row: {error.death}.")
        else:
            self._fail(piece, str(error))

    def _fail(self, piece: Piece, reason: str) -> None:
        self.n_failed += 1
        n_answered = self.n_done - self.n_failed + 1
        if self.n_failed > self.settings.max_failed and self.n_failed > n_answered:
            raise ModelError(
                f"the model fails on {self.n_failed:,} of {self.n_failed + n_answered:,} rows, so"
                f" it is not the rows. Row {piece.first_row}: {reason}"
            )
        self._finish(Failed(piece, reason))

    def _finish(self, event: Done | Failed) -> None:
        self.finished[event.piece.first_row] = event
        self.n_done += len(event.piece)

    def _in_order(self) -> Generator[Done | Failed]:
        """Yield what is finished, up to the first row that is not."""
        unfinished = [piece.first_row for piece in (*self.in_work, *self.waiting)]
        first_open = min(unfinished, default=None)
        for row in sorted(self.finished):
            if first_open is None or row < first_open:
                yield self.finished.pop(row)

    def _out_of_order(self) -> Iterator[Done | Failed]:
        """Yield what is finished, though rows before it are not."""
        return (self.finished.pop(row) for row in sorted(self.finished))

    def _report(self) -> object:
        if self.on_progress is None:
            return None
        n_begun = sum(task.progress or 0 for task in self.in_work.values())
        return self.on_progress(self.n_done + n_begun)
