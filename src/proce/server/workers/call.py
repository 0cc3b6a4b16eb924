"""A call of a worker's explainer, from the moment it is asked to its end; and how it may fail."""

import asyncio
import logging
from collections.abc import Callable, Generator
from typing import Any

from proce.errors import WorkerError
from proce.server.workers.serving import Question

_LOG = logging.getLogger(__name__)

OnProgress = Callable[[Any], object]


class CallCancelled(WorkerError):  # noqa: N818 - it is what the caller asked for
    """A call that was cancelled before it was answered."""


class CallTimedOut(WorkerError):  # noqa: N818 - it is the limit that speaks
    """A call that was not answered within its time."""


class WorkerDied(WorkerError):  # noqa: N818 - it is what happened
    """A call whose worker processes died."""


class QueueFull(WorkerError):  # noqa: N818 - it is what the caller has to know
    """More calls wait than may; ``retry_after`` is when to come again, in seconds."""

    def __init__(self, message: str, retry_after: float) -> None:
        super().__init__(message, retry_after)
        self.retry_after = retry_after

    def __str__(self) -> str:
        return str(self.args[0])


class Call:
    """A question on its way. Await it for the value, or for the error that the explainer raised.

    Parameters
    ----------
    question
        What is asked.
    seconds
        How long a worker may take for it before it is killed.
    on_progress
        Called in the event loop with the latest progress, where the question reports any.
    is_long
        Whether the call may take long, so that not all workers may have such at once.
    """

    def __init__(
        self,
        question: Question,
        seconds: float,
        *,
        on_progress: OnProgress | None = None,
        is_long: bool = False,
    ) -> None:
        self.question, self.seconds, self.on_progress = question, seconds, on_progress
        self.is_long = is_long
        self.n_deaths = 0  # of workers that had begun it
        self.n_losses = 0  # of workers that had got it
        self.is_cancelled = False
        self.cancelling: Callable[[], None] = lambda: None  # what the crew does on a cancel
        self._future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._future.add_done_callback(self._look_for_cancel)

    def __await__(self) -> Generator[Any, None, Any]:
        return self._future.__await__()

    @property
    def is_over(self) -> bool:
        """Whether there is a value, an error, or nobody who waits for them."""
        return self._future.done()

    def cancel(self) -> None:
        """Stop the call; who awaits it gets a ``CallCancelled`` once its worker is free again.

        A call that is over stays as it is.
        """
        if not self.is_over and not self.is_cancelled:
            self.is_cancelled = True
            self.cancelling()

    def report(self, values: Any) -> None:
        """Tell progress; what the listener raises is its own affair."""
        if self.on_progress is None or self.is_over or self.is_cancelled:
            return
        try:
            self.on_progress(values)
        except Exception:
            _LOG.exception("A listener to progress failed.")

    def finish(self, value: Any) -> None:
        """End the call with a value, unless it was cancelled."""
        if self.is_cancelled:
            self.fail(CallCancelled("the call was cancelled."))
        elif not self.is_over:
            self._future.set_result(value)

    def fail(self, error: Exception) -> None:
        """End the call with an error."""
        if not self.is_over:
            self._future.set_exception(error)

    def _look_for_cancel(self, future: asyncio.Future[Any]) -> None:
        """Stop the call where the task that awaited it was cancelled."""
        if future.cancelled() and not self.is_cancelled:
            self.is_cancelled = True
            self.cancelling()
