"""Pieces of rows are worked on, here or in worker processes, and come back in order.

A piece on which the work fails is halved, and so on down to the row, which has failed.
"""

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
_MIN_FAILED = 32  # rows, before a model is given up; all rows, where there are fewer
_MIN_ANSWERED_SHARE = 0.05  # of the rows so far; a model that answers so many is never given up

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


def reason_of(error: ModelError) -> str:
    """Return what an error says about a single row, without that it is the first of its piece."""
    return str(error).removeprefix("row 0, ")


class PieceQueue:
    """Which piece is next, what is finished but cannot be yielded yet, and when to give up."""

    # After a row has failed, the next piece is a new one or the largest that is left of others: so
    # the rows that decide whether the model is given up lie far apart, and a hundred rows that
    # fail side by side do not hide those that the model answers.

    def __init__(
        self, pieces: Iterator[Piece], n_rows: int, *, n_workers: int = 1, n_answered: int = 0
    ) -> None:
        self.pieces, self.n_answered = pieces, n_answered
        self.n_failed = self.n_done = 0
        self.in_work: set[Piece] = set()
        self.finished: dict[int, Done | Failed] = {}  # by their first row
        self._max_ahead = _MAX_AHEAD * n_workers
        self._least_failed = min(_MIN_FAILED, n_rows)
        self._next_halves: list[Piece] = []  # the first ones, which lead to a row that fails
        self._later_halves: list[Piece] = []

    def take(self) -> Piece | None:
        """Return the piece to work on now; ``None`` where nothing is left, or others must end."""
        piece = self._next_halves.pop() if self._next_halves else self._new_piece()
        if piece is None and self._later_halves:
            piece = max(self._later_halves, key=len)
            self._later_halves.remove(piece)
        if piece is not None:
            self.in_work.add(piece)
        return piece

    def stop(self) -> None:
        """Leave out all pieces that have not begun."""
        self.pieces = iter(())
        self._next_halves, self._later_halves = [], []

    def finish(self, piece: Piece, value: Any) -> None:
        """Keep what the work made of a piece."""
        self.n_answered += len(piece)
        self._keep(Done(piece, value))

    def fail(self, piece: Piece, reason: str) -> None:
        """Halve a piece on which the work failed; give the model up that fails on nearly all."""
        if len(piece) > 1:
            self.in_work.remove(piece)
            first, second = piece.halves()
            self._next_halves.append(first)
            self._later_halves.append(second)
            return
        self.n_failed += 1
        self._keep(Failed(piece, reason))
        n_asked = self.n_failed + self.n_answered
        is_rare = self.n_answered < _MIN_ANSWERED_SHARE * n_asked
        if self.n_failed >= self._least_failed and is_rare:
            raise ModelError(
                f"the model fails on {self.n_failed:,} of {n_asked:,} rows, so it is not the rows."
                f" Row {piece.first_row}: {reason}"
            )

    def in_order(self) -> Generator[Done | Failed]:
        """Yield what is finished, up to the first row that is not."""
        unfinished = (*self.in_work, *self._next_halves, *self._later_halves)
        first_open = min((piece.first_row for piece in unfinished), default=None)
        for row in sorted(self.finished):
            if first_open is None or row < first_open:
                yield self.finished.pop(row)

    def out_of_order(self) -> Generator[Done | Failed]:
        """Yield what is finished, though rows before it are not."""
        for row in sorted(self.finished):
            yield self.finished.pop(row)

    def _new_piece(self) -> Piece | None:
        if len(self.finished) + len(self.in_work) >= self._max_ahead:
            return None
        return next(self.pieces, None)

    def _keep(self, event: Done | Failed) -> None:
        self.in_work.remove(event.piece)
        self.finished[event.piece.first_row] = event
        self.n_done += len(event.piece)


def run_here(
    queue: PieceQueue, work: PieceWork, on_progress: Callable[[int], object] | None = None
) -> Generator[Done | Failed]:
    """Yield what came of pieces, in the order of their rows, from this process."""

    def report(n_rows: int) -> object:
        return None if on_progress is None else on_progress(queue.n_done + n_rows)

    try:
        while (piece := queue.take()) is not None:
            try:
                value = work.do(piece, report)
            except ModelError as error:
                queue.fail(piece, reason_of(error))
            else:
                queue.finish(piece, value)
            yield from queue.in_order()
    except (KeyboardInterrupt, ModelError):
        yield from queue.out_of_order()  # what was answered is not lost
        raise


@dataclass(frozen=True)
class PieceSettings:
    """How many processes there are, and which modules they need."""

    n_workers: int
    preload: tuple[str, ...] = ()


def run_in_workers(
    queue: PieceQueue,
    initialiser: bytes,
    settings: PieceSettings,
    *,
    on_progress: Callable[[int], object] | None = None,  # the run ends at once where it says False
    is_over: Callable[[], bool] | None = None,  # where it is, the pieces in work are the last
) -> Generator[Done | Failed]:
    """Yield what came of pieces, in the order of their rows; no worker outlives the iterator."""
    # A worker that dies costs a second try of its piece. A piece of which two die is halved. One
    # on which the work raises a ModelError is halved at once; any other error ends the run. Only
    # some pieces are ahead of what has been yielded, so that memory does not depend on how many
    # there are.
    server = ForkServer(settings.preload)
    pool = WorkerPool(initialiser, server, PoolSettings(settings.n_workers))
    try:
        yield from _WorkerRun(queue, pool, on_progress, is_over).run()
    finally:
        pool.close()
        server.close()


class _WorkerRun:
    """The pieces of a queue, in the hands of workers."""

    def __init__(
        self,
        queue: PieceQueue,
        pool: WorkerPool,
        on_progress: Callable[[int], object] | None,
        is_over: Callable[[], bool] | None,
    ) -> None:
        self.queue, self.pool = queue, pool
        self.on_progress, self.is_over = on_progress, is_over
        self.tasks: dict[Piece, Task] = {}
        self.ended: SimpleQueue[tuple[Piece, Task]] = SimpleQueue()

    def run(self) -> Generator[Done | Failed]:
        """Yield what came of the pieces."""
        while True:
            self._hand_out()
            ready = deque(self.queue.in_order())
            yield from ready
            if not self.tasks:
                if not ready:
                    return
                continue  # what was finished held up what comes next
            try:
                self._listen()
                goes_on = self._report() is not False
            except (KeyboardInterrupt, ModelError):
                yield from self.queue.out_of_order()
                raise
            if not goes_on:
                yield from self.queue.out_of_order()
                return

    def _hand_out(self) -> None:
        """Give as many pieces to the pool as it has workers."""
        if self.is_over is not None and self.is_over():
            self.queue.stop()
        while len(self.tasks) < self.pool.settings.n_workers:
            piece = self.queue.take()
            if piece is None:
                return
            self._submit(piece)

    def _submit(self, piece: Piece) -> None:
        task = Task("do", {"piece": piece}, reports=True, n_tries=piece.n_tries)
        self.tasks[piece] = task
        task.future.add_done_callback(lambda _: self.ended.put((piece, task)))
        self.pool.submit(task)

    def _listen(self) -> None:
        """Wait until a piece has ended, or it is time for a report."""
        try:
            piece, task = self.ended.get(timeout=_REPORT_SECONDS)
        except Empty:
            return
        del self.tasks[piece]
        error = task.future.exception()
        if error is None:
            self.queue.finish(piece, task.future.result())
        elif task.has_begun and isinstance(error, ModelError):
            self.queue.fail(piece, reason_of(error))
        elif task.has_begun and isinstance(error, WorkerDied):
            self.queue.fail(piece, f"The model broke on this row: {error.death}.")
        else:
            raise error

    def _report(self) -> object:
        if self.on_progress is None:
            return None
        n_begun = sum(task.progress or 0 for task in self.tasks.values())
        return self.on_progress(self.queue.n_done + n_begun)
