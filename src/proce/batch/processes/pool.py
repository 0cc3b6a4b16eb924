"""Hand pieces to workers, in order; retry what a dead worker left, and corner what kills them."""

from collections import deque
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, replace
from itertools import count
from multiprocessing.connection import wait
from typing import Any

from proce.batch.processes.nursery import Nursery
from proce.batch.processes.pieces import Done, Failed, Piece
from proce.batch.processes.serving import BEGUN, DONE, PROGRESS, READY
from proce.batch.processes.worker import Worker
from proce.errors import ModelError, WorkerError

_WAIT_SECONDS = 0.5  # between two looks at what else may have happened
_MAX_AHEAD = 8  # pieces a worker, finished or begun, beyond the first that is not finished
_MAX_EARLY_DEATHS = 3  # of workers in a row that never began
_MAX_FAILED = 100  # rows


@dataclass(frozen=True)
class PoolSettings:
    """How pieces are handed out.

    Attributes
    ----------
    n_workers
        How many processes.
    max_failed
        How many rows may fail, whatever the others do; with more, the run is given up where they
        outnumber the others.
    preload
        The modules that workers need, which are imported once.
    """

    n_workers: int
    max_failed: int = _MAX_FAILED
    preload: tuple[str, ...] = ()


def run_pieces(
    pieces: Iterator[Piece],
    work: bytes,
    settings: PoolSettings,
    *,
    on_progress: Callable[[int], object] | None = None,
    is_over: Callable[[], bool] | None = None,
) -> Generator[Done | Failed]:
    """Yield what came of pieces, in the order of their rows.

    A worker that dies costs a second try of its piece. A piece of which two die is halved, and so
    on down to a row, which has failed. A piece on which the work raises a ``ModelError`` is halved
    at once; any other error ends the run. Whatever happens, no worker is left behind; close the
    iterator where you stop early.

    Parameters
    ----------
    pieces
        The pieces, in the order of their rows. Only some are ahead of what has been yielded, so
        that memory does not depend on how many there are.
    work
        What to do with each of them, :func:`~proce.batch.processes.worker.pickled`.
    settings
        How they are handed out.
    on_progress
        Called with the number of rows that are finished; the run ends at once where it returns
        False, and what is not finished is not yielded.
    is_over
        Asked before a piece is handed out; where it is, the pieces in work are the last.
    """
    pool = _Pool(pieces, work, settings, on_progress, is_over)
    try:
        yield from pool.run()
    finally:
        pool.end()


class _Pool:
    """The workers, the pieces that wait, and what is finished but cannot be yielded yet."""

    def __init__(
        self,
        pieces: Iterator[Piece],
        work: bytes,
        settings: PoolSettings,
        on_progress: Callable[[int], object] | None,
        is_over: Callable[[], bool] | None,
    ) -> None:
        self.pieces, self.work, self.settings = pieces, work, settings
        self.on_progress, self.is_over = on_progress, is_over
        self.nursery: Nursery | None = None
        self.workers: list[Worker] = []
        self.waiting: deque[Piece] = deque()  # to be tried again, before any new piece
        self.finished: dict[int, Done | Failed] = {}  # by their first row
        self.n_done, self.n_failed, self.n_early_deaths = 0, 0, 0
        self.no_more = False

    def run(self) -> Generator[Done | Failed]:
        """Yield what came of the pieces."""
        while True:
            self._hand_out()
            yield from self._in_order()
            busy = [worker for worker in self.workers if worker.piece is not None]
            if not busy and not self.waiting and self.no_more:
                return  # all is yielded, as nothing is open
            try:
                self._listen()
                goes_on = self._report() is not False
            except KeyboardInterrupt:
                yield from self._out_of_order()
                raise
            if not goes_on:
                yield from self._out_of_order()
                return

    def _listen(self) -> None:
        """Wait until workers have said something or are dead, and take that in."""
        signs: dict[Any, Worker] = {sign: own for own in self.workers for sign in own.signs}
        for worker in dict.fromkeys(signs[sign] for sign in wait(list(signs), _WAIT_SECONDS)):
            self._look_at(worker)

    def _out_of_order(self) -> Iterator[Done | Failed]:
        """Yield what is finished, though rows before it are not."""
        return (self.finished.pop(row) for row in sorted(self.finished))

    def end(self) -> None:
        """End all workers."""
        for worker in self.workers:
            worker.end()
        self.workers.clear()
        if self.nursery is not None:
            self.nursery.end()

    def _hand_out(self) -> None:
        """Give pieces to workers that have none; start workers while there is work for them."""
        for number in count():
            idle = [worker for worker in self.workers if worker.piece is None]
            free = len(self.workers) < self.settings.n_workers
            if number > self.settings.n_workers or not (idle or free):
                return
            piece = self._next_piece()
            if piece is None:
                return
            if not idle:
                idle = [self._new_worker()]
                self.workers += idle
            idle[0].give(piece)

    def _new_worker(self) -> Worker:
        for number in count(1):
            if self.nursery is None:
                self.nursery = Nursery(self.settings.preload)
            try:
                return Worker(self.nursery, self.work)
            except WorkerError:
                self.nursery.end()
                self.nursery = None
                if number == _MAX_EARLY_DEATHS:
                    raise
        raise AssertionError

    def _next_piece(self) -> Piece | None:
        if self.is_over is not None and self.is_over():
            self.waiting.clear()
            self.no_more = True
        if self.waiting:
            return self.waiting.popleft()
        n_ahead = len(self.finished) + sum(worker.piece is not None for worker in self.workers)
        if self.no_more or n_ahead >= _MAX_AHEAD * self.settings.n_workers:
            return None
        piece = next(self.pieces, None)
        self.no_more = piece is None
        return piece

    def _look_at(self, worker: Worker) -> None:
        """Take in a message of a worker, or notice that it is dead."""
        message = worker.message()
        if message is not None:
            self._take_in(worker, *message)
            return
        self.workers.remove(worker)
        death = worker.death()
        if worker.piece is not None:
            self._after_death(worker, worker.piece, death)

    def _take_in(self, worker: Worker, kind: str, content: Any) -> None:
        piece = worker.piece
        if kind == READY:
            worker.is_ready, self.n_early_deaths = True, 0
        elif kind == BEGUN:
            worker.has_begun, self.n_early_deaths = True, 0
        elif kind == PROGRESS:
            worker.n_finished = content
        elif piece is not None and kind == DONE:
            worker.piece = None
            self._finish(Done(piece, content))
        elif piece is not None and worker.is_ready and isinstance(content, ModelError):
            worker.piece = None
            if len(piece) > 1:
                self._halve(piece)
            else:
                self._fail(piece, str(content))
        else:
            raise content

    def _after_death(self, worker: Worker, piece: Piece, death: str) -> None:
        if not worker.has_begun:  # it may have been dead when it got the piece
            self.n_early_deaths += 1
            if self.n_early_deaths >= _MAX_EARLY_DEATHS + self.settings.n_workers:
                raise WorkerError(
                    f"{self.n_early_deaths} workers died before they began: {death}. Is there"
                    " memory enough for so many? Use fewer of them."
                )
            self.waiting.appendleft(piece)
        elif piece.deaths == 0:
            self.waiting.appendleft(replace(piece, deaths=1))
        elif len(piece) > 1:
            self._halve(piece)
        else:
            self._fail(piece, f"The model broke on this row: {death}.")

    def _halve(self, piece: Piece) -> None:
        self.waiting.extendleft(reversed(piece.halves()))

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
        busy = [worker.piece for worker in self.workers if worker.piece is not None]
        first_open = min((piece.first_row for piece in (*busy, *self.waiting)), default=None)
        for row in sorted(self.finished):
            if first_open is None or row < first_open:
                yield self.finished.pop(row)

    def _report(self) -> object:
        if self.on_progress is None:
            return None
        n_begun = sum(worker.n_finished for worker in self.workers if worker.piece is not None)
        return self.on_progress(self.n_done + n_begun)
