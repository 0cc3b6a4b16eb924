"""A bounded number of workers: hand tasks to them, replace those that die or take too long.

Each worker has a thread here that reads what it says, so whoever submits a task never waits, be it
an event loop or a loop over pieces of rows.
"""

import pickle
import select
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import astuple, dataclass
from operator import add
from time import monotonic
from typing import Any, Protocol

from proce.errors import WorkerError
from proce.processes.fork_server import WorkerProcess
from proce.processes.task import QueueFull, Task, TaskCancelled, TaskTimedOut, WorkerDied
from proce.processes.worker import (
    ANSWER,
    BEGUN,
    DONE,
    PROGRESS,
    QUESTION,
    RAISED,
    READY,
    STOP,
    TASK,
)

_MAX_LOSSES = 5  # of workers that had got a task, begun or not
_MAX_EARLY_DEATHS = 3  # in a row, of workers that never opened, while tasks wait
_FIRST_PAUSE_SECONDS, _MAX_PAUSE_SECONDS = 0.1, 5.0  # before another worker is tried
_CLOSE_SECONDS, _LOOK_SECONDS = 5.0, 0.2
_SHORT_BYTES = 1 << 15  # what the link to a worker that has nothing unread takes in at once


@dataclass(frozen=True)
class PoolSettings:
    """How many workers there are, and how they are treated."""

    n_workers: int
    grace_seconds: float = 2.0  # for a task that was cancelled, within its own time
    open_seconds: float | None = None  # for the initialiser
    max_waiting: int = 256  # tasks that are not long
    max_long: int = 16  # and that are


@dataclass(frozen=True)
class PoolState:
    """How the workers are."""

    total: int  # that there may be
    ready: int
    busy: int
    waiting: int  # tasks
    restarts: int  # of workers that died
    retries: int  # of tasks that were given to another worker
    processes: tuple[int, ...]

    def __add__(self, other: "PoolState") -> "PoolState":
        return PoolState(*map(add, astuple(self), astuple(other)))


class WorkerServer(Protocol):
    """What starts processes of workers: a ``ForkServer``, or a ``SpawnServer``."""

    def start_worker(self, is_wanted: Callable[[], bool]) -> WorkerProcess:
        """Return a new process that waits for its initialiser; any thread may ask."""

    def interrupt(self) -> None:
        """Have whoever waits for a process look again whether it is wanted."""


class WorkerPool:
    """Workers whose states a pickled initialiser makes, and the tasks that wait for one of them."""

    # The server may have several pools, and whoever made it closes it.
    def __init__(self, initialiser: bytes, server: WorkerServer, settings: PoolSettings) -> None:
        self.initialiser, self.server, self.settings = initialiser, server, settings
        self._lock = threading.RLock()
        self._waiting: deque[Task] = deque()
        self._workers: list[_Worker] = []
        self._threads: set[threading.Thread] = set()
        self._is_eager = False  # whether workers are kept that have nothing to do
        self._n_restarts = self._n_retries = self._n_early_deaths = 0
        self._closing = threading.Event()
        self._closing_error: Exception = WorkerError("the workers are closed.")
        self._opened: Future[None] = Future()

    def start(self) -> "Future[None]":
        """Start all workers; return what tells when they are open, or what opening one raised."""
        with self._lock:
            self._is_eager = True
            while len(self._threads) < self.settings.n_workers:
                self._add_thread()
        return self._opened

    def submit(self, task: Task) -> Task:
        """Give a task to a worker that is free, or let it wait for one."""
        with self._lock:
            if self._closing.is_set():
                raise self._closing_error
            n_waiting = sum(other.is_long == task.is_long for other in self._waiting)
            limit = self.settings.max_long if task.is_long else self.settings.max_waiting
            if n_waiting >= limit:
                raise QueueFull(
                    f"{n_waiting} calls wait already, which is the limit. Try again.", 1.0
                )
            task.cancelling = lambda: self._cancel(task)
            task.answer = lambda answer: self._answer(task, answer)
            self._waiting.append(task)
            self._hand_out()
            n_coming = len(self._threads) - sum(own.task is not None for own in self._workers)
            if n_coming < len(self._waiting) and len(self._threads) < self.settings.n_workers:
                self._add_thread()
        return task

    def close(self, reason: str = "the workers are closed.") -> None:
        """Fail all tasks and end all workers, within seconds."""
        with self._lock:
            self._closing_error = WorkerError(reason)
            self._closing.set()
            self._tell_start(WorkerError("the workers were closed before they were open."))
            self._fail_waiting(self._closing_error)
            for worker in self._workers:
                worker.kill(self._closing_error)
            threads = list(self._threads)
        end = monotonic() + _CLOSE_SECONDS
        for thread in threads:
            while thread.is_alive() and monotonic() < end:
                thread.join(_LOOK_SECONDS)
                self.server.interrupt()  # where it still starts

    def state(self) -> PoolState:
        """Return how the workers are."""
        with self._lock:
            return PoolState(
                total=self.settings.n_workers,
                ready=sum(worker.is_ready for worker in self._workers),
                busy=sum(worker.task is not None for worker in self._workers),
                waiting=len(self._waiting),
                restarts=self._n_restarts,
                retries=self._n_retries,
                processes=tuple(worker.process.pid for worker in self._workers),
            )

    def _add_thread(self) -> None:
        thread = threading.Thread(target=self._keep_worker, daemon=True, name="proce-worker")
        thread.start()
        self._threads.add(thread)

    def _keep_worker(self) -> None:
        """Have a worker, and another one where it dies, as long as one is wanted."""
        while self._is_wanted():
            if self._n_early_deaths:
                pause = _FIRST_PAUSE_SECONDS * 2 ** min(self._n_early_deaths - 1, 10)
                self._closing.wait(min(pause, _MAX_PAUSE_SECONDS))
            try:
                worker = _Worker(self.server.start_worker(lambda: not self._closing.is_set()))
            except (OSError, WorkerError) as error:
                self._count_early_death(WorkerDied(f"no worker can be made: {error}"))
                continue
            try:
                self._open(worker)
                while (message := worker.process.message()) is not None:
                    self._take_in(worker, message)
            except Exception as error:  # such as that no thread can be started
                worker.kill(WorkerError(f"a worker was ended: {error}"))
            self._remove_dead(worker)

    def _is_wanted(self) -> bool:
        with self._lock:
            if not self._closing.is_set() and (self._is_eager or self._waiting):
                return True
            self._threads.discard(threading.current_thread())
            return False

    def _open(self, worker: "_Worker") -> None:
        with self._lock:
            self._workers.append(worker)
            if self._closing.is_set():
                worker.kill()
                return
            worker.send(self.initialiser)
            seconds = self.settings.open_seconds
            late = TaskTimedOut(f"a worker was not open after {seconds or 0:g} s and was ended.")
            self._end_after(worker, seconds, late)

    def _take_in(self, worker: "_Worker", message: bytes) -> None:
        """Take in what a worker says."""
        try:
            kind, number, content = pickle.loads(message)  # noqa: S301 - from our own child
        except Exception as error:
            with self._lock:
                worker.kill(WorkerError(f"the answer of a worker cannot be read: {error}"))
            return
        if kind in (PROGRESS, QUESTION):
            if (task := worker.task) is not None and number == worker.number:
                if kind == PROGRESS:
                    task.report(content)
                elif task.on_question is not None:
                    task.on_question(content)
            return
        with self._lock:
            if kind == READY:
                worker.is_ready, self._n_early_deaths = True, 0
                worker.stop_timer()
                n_ready = sum(other.is_ready for other in self._workers)
                if n_ready == self.settings.n_workers and not self._opened.done():
                    self._opened.set_result(None)
                self._hand_out()
            elif kind == RAISED and number is None:
                worker.opening_error = content
            elif (task := worker.task) is None or number != worker.number:
                return
            elif kind == BEGUN:
                task.has_begun = True
            else:
                worker.release()
                if kind == DONE:
                    task.finish(content)
                elif task.is_cancelled:
                    task.fail(TaskCancelled("the call was cancelled."))
                else:
                    task.fail(content)
                self._hand_out()

    def _hand_out(self) -> None:
        """Give tasks to workers that are free, in their order; one is kept from long tasks."""
        for worker in self._workers:
            while worker.is_free and (task := self._next_task()) is not None:
                self._waiting.remove(task)
                try:
                    worker.give(task)
                except Exception as error:  # it cannot be sent
                    worker.release()
                    task.fail(error)
                    continue
                seconds = task.seconds
                late = TaskTimedOut(f"the call took more than {seconds or 0:g} s and was ended.")
                self._end_after(worker, seconds, late)

    def _next_task(self) -> Task | None:
        n_long = sum(worker.task is not None and worker.task.is_long for worker in self._workers)
        may_be_long = n_long < max(self.settings.n_workers - 1, 1)
        return next((task for task in self._waiting if may_be_long or not task.is_long), None)

    def _cancel(self, task: Task) -> None:
        with self._lock:
            if task in self._waiting:
                self._waiting.remove(task)
                task.fail(TaskCancelled("the call was cancelled before it began."))
            for worker in self._workers:
                if worker.task is task:
                    worker.stop()
                    self._end_after(worker, self.settings.grace_seconds, None)

    def _answer(self, task: Task, answer: Any) -> None:
        with self._lock:
            for worker in self._workers:
                if worker.task is task:
                    worker.send(pickle.dumps((ANSWER, worker.number, answer)))

    def _end_after(
        self, worker: "_Worker", seconds: float | None, kill_reason: Exception | None
    ) -> None:
        """Kill a worker after a while, or earlier where that was ordered before."""

        def end() -> None:
            with self._lock:
                if worker.timer is timer:  # else it was taken back in time
                    worker.kill(kill_reason)

        if seconds is None or (worker.timer is not None and worker.timer.ends_before(seconds)):
            return
        worker.stop_timer()
        worker.timer = timer = _Timer(seconds, end)
        timer.start()

    def _remove_dead(self, worker: "_Worker") -> None:
        """Try the task of a worker again whose link has ended, or say how it failed."""
        with self._lock:
            worker.is_killed = True
            self._workers.remove(worker)
            self._n_restarts += not self._closing.is_set()
            task = worker.release()
            if task is not None and self._may_retry(worker, task):
                self._n_retries += 1
                task.has_begun = False
                self._waiting.appendleft(task)
                self._hand_out()
                task = None
        death = worker.process.end()
        with self._lock:
            if task is not None:
                self._fail(worker, task, death)
            if not worker.is_ready:
                n_deaths = self._n_early_deaths + 1
                died = WorkerDied(
                    f"{n_deaths} workers died before they were open: {death}. Is there memory"
                    " enough for so many? Use fewer of them.",
                    death,
                )
                self._count_early_death(worker.opening_error or worker.kill_reason or died)

    def _may_retry(self, worker: "_Worker", task: Task) -> bool:
        """Count the death of a worker that had a task, and tell whether to give it to another."""
        task.n_losses += 1
        task.n_deaths += task.has_begun
        if self._closing.is_set() or worker.kill_reason is not None:
            return False
        if task.is_cancelled or task.future.done():
            return False
        return task.n_deaths < task.n_tries and task.n_losses < _MAX_LOSSES

    def _fail(self, worker: "_Worker", task: Task, death: str) -> None:
        if task.is_cancelled:
            task.fail(TaskCancelled("the call was cancelled."))
        elif worker.kill_reason is not None:
            task.fail(worker.kill_reason)
        else:
            before = ", and so did another before it" if task.n_losses > 1 else ""
            task.fail(WorkerDied(f"the worker that had the call died{before}: {death}.", death))

    def _count_early_death(self, error: Exception) -> None:
        """Tell those who wait where no worker can be opened."""
        with self._lock:
            self._n_early_deaths += 1
            if isinstance(error, WorkerDied) and self._n_early_deaths < _MAX_EARLY_DEATHS:
                return
            self._tell_start(error)
            if not any(worker.is_ready for worker in self._workers):
                self._fail_waiting(error)

    def _tell_start(self, error: Exception) -> None:
        if not self._opened.done():
            self._opened.set_exception(error)

    def _fail_waiting(self, error: Exception) -> None:
        while self._waiting:
            self._waiting.popleft().fail(error)


class _Timer(threading.Timer):
    """A timer that ends with the program, and knows when it is over."""

    def __init__(self, seconds: float, end: Callable[[], None]) -> None:
        super().__init__(seconds, end)
        self.daemon = True
        self.end_seconds = monotonic() + seconds

    def ends_before(self, seconds: float) -> bool:
        """Whether it is over before another one would be that began now."""
        return self.end_seconds <= monotonic() + seconds


class _Worker:
    """A process, and the task that it has; the pool's lock is held by whoever changes it."""

    def __init__(self, process: WorkerProcess) -> None:
        self.process = process
        self.task: Task | None = None
        self.number = 0  # of the task
        self.is_ready = self.is_killed = False
        self.kill_reason: Exception | None = None  # why it was ended by us
        self.opening_error: Exception | None = None
        self.timer: _Timer | None = None
        self._sender: threading.Thread | None = None

    @property
    def is_free(self) -> bool:
        """Whether it can be given a task."""
        return self.is_ready and self.task is None and not self.is_killed

    def give(self, task: Task) -> None:
        """Send a task."""
        content = task.method, dict(task.arguments), task.reports
        self.task, self.number, task.has_begun = task, self.number + 1, False
        self.send(pickle.dumps((TASK, self.number, content)))

    def stop(self) -> None:
        """Ask that the task be stopped, where the worker has read what it is."""
        if not hasattr(select, "poll") or (self._sender is not None and self._sender.is_alive()):
            return
        room = select.poll()
        room.register(self.process.link, select.POLLOUT)
        if room.poll(0):
            self.send(pickle.dumps((STOP, self.number, None)))

    def release(self) -> Task | None:
        """Return the task, which the worker has no longer."""
        task, self.task = self.task, None
        self.stop_timer()
        return task

    def stop_timer(self) -> None:
        """Take back the order to kill the process after a while."""
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None

    def kill(self, kill_reason: Exception | None = None) -> None:
        """End the process, whatever it does."""
        if not self.is_killed:
            self.is_killed, self.kill_reason = True, kill_reason
            self.process.kill()

    def send(self, content: bytes) -> None:
        """Send a message without waiting; that the worker is dead is noticed by its reader."""

        def send() -> None:
            with suppress(OSError):
                self.process.link.send_bytes(content)

        if len(content) <= _SHORT_BYTES:
            send()
        else:
            self._sender = threading.Thread(target=send, daemon=True)
            self._sender.start()
