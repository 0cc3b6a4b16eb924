"""A task on its way to a worker and back, and how it may fail."""

import asyncio
import logging
from collections.abc import Callable, Generator, Mapping
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from typing import Any

from proce.errors import WorkerError

_log = logging.getLogger(__name__)


class TaskCancelled(WorkerError):  # noqa: N818 - it is what the caller asked for
    """A task that was cancelled before it was done."""


class TaskTimedOut(WorkerError):  # noqa: N818 - it is the limit that speaks
    """A task that was not done within its time."""


class WorkerDied(WorkerError):  # noqa: N818 - it is what happened
    """A task whose worker processes died; ``death`` says in words how the last of them did."""

    def __init__(self, message: str, death: str = "") -> None:
        super().__init__(message)
        self.death = death


class QueueFull(WorkerError):  # noqa: N818 - it is what the caller has to know
    """More tasks wait than may; ``retry_after`` is when to come again, in seconds."""

    def __init__(self, message: str, retry_after: float) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Task:
    """A call of a method of what a worker holds, whose end is its ``future``; it can be awaited."""

    def __init__(
        self,
        method: str,
        arguments: Mapping[str, Any],
        *,
        reports: bool = False,  # the method also gets a ``Progress``
        on_progress: Callable[[Any], object] | None = None,  # told the latest, in a thread
        on_question: Callable[[Any], object] | None = None,  # told there what waits for ``answer``
        seconds: float | None = None,  # after which its worker is killed
        n_tries: int = 2,  # so many workers may die of it
        is_long: bool = False,  # not all workers may have such a task at once
    ) -> None:
        self.method, self.arguments, self.reports = method, arguments, reports
        self.on_progress, self.on_question, self.seconds = on_progress, on_question, seconds
        self.n_tries, self.is_long = n_tries, is_long
        self.n_deaths = 0  # of workers that had begun it
        self.n_losses = 0  # of workers that had got it
        self.has_begun = False  # in the last worker that got it
        self.is_cancelled = False
        self.progress: Any = None  # the latest
        self.cancelling: Callable[[], None] = lambda: None  # what the pool does on a cancel
        self.answer: Callable[[Any], None] = lambda answer: None  # what it does with an answer
        self.future: Future[Any] = Future()
        self.future.add_done_callback(self._look_for_cancel)

    def __await__(self) -> Generator[Any, None, Any]:
        return asyncio.wrap_future(self.future).__await__()

    def cancel(self) -> None:
        """Stop the task: it ends with a ``TaskCancelled`` once its worker is free again."""
        if not self.future.done():
            self._stop()

    def report(self, values: Any) -> None:
        """Keep progress, and tell it while somebody wants to know."""
        self.progress = values
        if self.on_progress is not None and not self.future.done() and not self.is_cancelled:
            try:
                self.on_progress(values)
            except Exception:
                _log.exception("A listener to progress failed.")

    def finish(self, value: Any) -> None:
        """End with a value, unless it was cancelled."""
        if self.is_cancelled:
            self.fail(TaskCancelled("the call was cancelled."))
        else:
            with suppress(InvalidStateError):  # nobody waits for it any more
                self.future.set_result(value)

    def fail(self, error: Exception) -> None:
        """End with an error."""
        with suppress(InvalidStateError):
            self.future.set_exception(error)

    def _look_for_cancel(self, future: "Future[Any]") -> None:
        if future.cancelled():  # as the asyncio task that awaited it was
            self._stop()

    def _stop(self) -> None:
        if not self.is_cancelled:
            self.is_cancelled = True
            self.cancelling()
