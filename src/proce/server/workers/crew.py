"""Workers of one kind: hand calls to them, replace those that die, end those that take too long."""

import asyncio
from collections import deque
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from proce.errors import WorkerError
from proce.server.workers.call import Call, CallCancelled, CallTimedOut, QueueFull, WorkerDied
from proce.server.workers.maker import Maker
from proce.server.workers.serving import BEGUN, DONE, PROGRESS, RAISED, READY
from proce.server.workers.worker import Worker, connect

_MAX_DEATHS = 2  # of workers that had begun a call
_MAX_LOSSES = 5  # of workers that had got it, begun or not
_MAX_EARLY_DEATHS = 3  # in a row, of workers that never opened, while calls wait
_FIRST_PAUSE_SECONDS, _MAX_PAUSE_SECONDS = 0.1, 5.0  # before another worker is tried
_CLOSE_SECONDS = 5.0


@dataclass(frozen=True)
class CrewSettings:
    """How workers of one kind are treated.

    Attributes
    ----------
    n_workers
        How many processes.
    grace_seconds
        How long a worker may go on with a call that was cancelled; never longer than the call may
        take.
    open_seconds
        How long it may take to open its explainer.
    max_waiting
        How many calls may wait that are not long.
    max_long
        How many long calls may wait.
    """

    n_workers: int
    grace_seconds: float
    open_seconds: float = 120.0
    max_waiting: int = 256
    max_long: int = 16


class Crew:
    """The workers, and the calls that wait for one of them.

    Parameters
    ----------
    opener
        The pickled function that opens a worker's explainer.
    maker
        What makes worker processes.
    settings
        How they are treated.
    """

    def __init__(self, opener: bytes, maker: Maker, settings: CrewSettings) -> None:
        self.opener, self.maker, self.settings = opener, maker, settings
        self.waiting: deque[Call] = deque()
        self.workers: list[Worker] = []
        self.n_restarts = self.n_retries = 0
        self.n_early_deaths = 0
        self._closing, self._gone = asyncio.Event(), asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    @property
    def is_closed(self) -> bool:
        """Whether no worker is wanted any more."""
        return self._closing.is_set()

    async def start(self) -> None:
        """Start all workers, and wait until they are open; raise what opening one raised."""
        for _ in range(self.settings.n_workers):
            self._spawn(self._hire())
        await asyncio.shield(self._opened)

    def submit(self, call: Call) -> None:
        """Give a call to a worker that is free, or let it wait for one."""
        if self.is_closed:
            raise WorkerError("the workers are closed, as the service is stopping.")
        n_waiting = sum(other.is_long == call.is_long for other in self.waiting)
        if n_waiting >= (self.settings.max_long if call.is_long else self.settings.max_waiting):
            raise QueueFull(f"{n_waiting} calls wait already, which is the limit. Try again.", 1.0)
        call.cancelling = lambda: self._cancel(call)
        self.waiting.append(call)
        self._hand_out()

    async def close(self) -> None:
        """Fail all calls and end all workers, within seconds."""
        self._closing.set()
        self._tell_start(WorkerError("the workers were closed before they were open."))
        stopping = WorkerError("the service is stopping, and the call was given up.")
        self._fail_waiting(stopping)
        if len(self.workers) < self.settings.n_workers:
            self.maker.hurry()  # some are being made
        for worker in self.workers:
            worker.kill(stopping)
        self._look_whether_gone()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._gone.wait(), _CLOSE_SECONDS)

    def met(self, worker: Worker) -> None:
        """Take in a new worker, and have it opened."""
        self.workers.append(worker)
        if self.is_closed:
            worker.kill()
            return
        worker.open(self.opener)
        seconds = self.settings.open_seconds
        error = WorkerDied(f"a worker was not open after {seconds:g} s and was ended.")
        worker.end_after(seconds, error)

    def heard(self, worker: Worker, kind: str, number: int | None, content: Any) -> None:
        """Take in a message of a worker."""
        if kind == READY:
            worker.is_ready, self.n_early_deaths = True, 0
            worker.stop_timer()
            self._look_whether_opened()
            self._hand_out()
        elif kind == RAISED and number is None:
            worker.opening_error = content
        elif worker.call is None or number != worker.number:
            return
        elif kind == BEGUN:
            worker.has_begun = True
        elif kind == PROGRESS:
            worker.call.report(content)
        elif (call := worker.release()) is not None:
            if kind == DONE:
                call.finish(content)
            else:
                call.fail(
                    CallCancelled("the call was cancelled.") if call.is_cancelled else content
                )
            self._hand_out()

    def lost(self, worker: Worker) -> None:
        """Replace a worker whose link has ended, and try its call again."""
        self.workers.remove(worker)
        self.n_restarts += not self.is_closed
        self._spawn(self._replace(worker, worker.release()))

    def _hand_out(self) -> None:
        """Give calls to workers that are free, in their order; one is kept from long calls."""
        for worker in self.workers:
            if worker.is_free and (call := self._next_call()) is not None:
                self.waiting.remove(call)
                worker.give(call)
                error = CallTimedOut(f"the call took more than {call.seconds:g} s and was ended.")
                worker.end_after(call.seconds, error)

    def _next_call(self) -> Call | None:
        having = [worker.call for worker in self.workers if worker.call is not None]
        n_long = sum(call.is_long for call in having)
        may_be_long = n_long < max(self.settings.n_workers - 1, 1)
        return next((call for call in self.waiting if may_be_long or not call.is_long), None)

    def _cancel(self, call: Call) -> None:
        if call in self.waiting:
            self.waiting.remove(call)
            call.fail(CallCancelled("the call was cancelled before it began."))
        for worker in self.workers:
            if worker.call is call:
                worker.stop()
                worker.end_after(self.settings.grace_seconds, None)

    async def _replace(self, worker: Worker, call: Call | None) -> None:
        if call is not None and self._may_retry(worker, call):
            self.n_retries += 1
            self.waiting.appendleft(call)
            self._hand_out()
            call = None
        death = await worker.death()
        if call is not None:
            self._fail(worker, call, death)
        if not worker.is_ready:
            died = WorkerDied(
                f"a worker died before it was open: {death}. Is there memory enough for so many?"
                " Use fewer of them."
            )
            self._mind_early_death(worker.opening_error or worker.verdict or died)
        await self._hire()

    def _may_retry(self, worker: Worker, call: Call) -> bool:
        """Count the death of a worker that had a call, and tell whether to give it to another."""
        call.n_losses += 1
        call.n_deaths += worker.has_begun
        if self.is_closed or worker.verdict is not None or call.is_cancelled or call.is_over:
            return False
        return call.n_deaths < _MAX_DEATHS and call.n_losses < _MAX_LOSSES

    def _fail(self, worker: Worker, call: Call, death: str) -> None:
        if call.is_cancelled:
            call.fail(CallCancelled("the call was cancelled."))
        elif worker.verdict is not None:
            call.fail(worker.verdict)
        else:
            call.fail(
                WorkerDied(
                    f"the worker that had the call died, and so did another before it: {death}."
                )
            )

    def _mind_early_death(self, error: Exception) -> None:
        """Tell those who wait where no worker can be opened."""
        self.n_early_deaths += 1
        if isinstance(error, WorkerDied) and self.n_early_deaths < _MAX_EARLY_DEATHS:
            return
        self._tell_start(error)
        if not any(worker.is_ready for worker in self.workers):
            self._fail_waiting(error)

    def _tell_start(self, error: Exception) -> None:
        if not self._opened.done():
            self._opened.set_exception(error)
            self._opened.exception()  # it is known, whether or not somebody waits for it

    def _fail_waiting(self, error: Exception) -> None:
        while self.waiting:
            self.waiting.popleft().fail(error)

    def _look_whether_opened(self) -> None:
        ready = [worker for worker in self.workers if worker.is_ready]
        if len(ready) == self.settings.n_workers and not self._opened.done():
            self._opened.set_result(None)

    async def _hire(self) -> None:
        """Add a worker; after deaths of workers that never opened there is a pause before it."""
        while not self.is_closed:
            if self.n_early_deaths:
                pause = _FIRST_PAUSE_SECONDS * 2 ** min(self.n_early_deaths - 1, 10)
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._closing.wait(), min(pause, _MAX_PAUSE_SECONDS))
            try:
                await connect(await self.maker.make(), self.maker, self)
                return
            except (OSError, WorkerError) as error:
                self._mind_early_death(WorkerDied(f"no worker can be made: {error}"))

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._forget)

    def _forget(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._look_whether_gone()

    def _look_whether_gone(self) -> None:
        if self.is_closed and not self.workers and not self._tasks:
            self._gone.set()
