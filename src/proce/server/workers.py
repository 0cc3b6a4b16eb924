"""The workers of a service: some explain, another answers questions meanwhile."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from proce.processes.fork_server import ForkServer
from proce.processes.pool import PoolSettings, PoolState, WorkerPool
from proce.processes.task import Task, TaskTimedOut
from proce.processes.worker import pickled

_PRELOADED = (
    "proce.server.explainer_api.api",
    "proce.methods.saving.explainer",
    "proce.methods.pipeline",
    "proce.classifier.saved",
    "numba",
)

OnProgress = Callable[[Any], object]


@dataclass(frozen=True)
class WorkersSettings:
    """How many workers there are, and how long they may take."""

    n_explain: int = 1
    n_ask: int = 2  # of two or more, one is always free of documents
    explain_seconds: float = 600.0
    ask_seconds: float = 30.0  # the time in which a question waits included
    document_seconds: float = 120.0  # likewise
    grace_seconds: float = 2.0  # of an explanation that was cancelled
    open_seconds: float = 120.0
    max_waiting: int = 256  # questions
    max_documents: int = 16
    preload: tuple[str, ...] = _PRELOADED


class Workers:
    """Worker processes that open an explainer each, for an event loop that never waits for one."""

    def __init__(self, opener: Callable[[], Any], settings: WorkersSettings) -> None:
        self.settings = settings
        self._server = ForkServer(settings.preload)
        content = pickled(opener)
        explain = PoolSettings(
            settings.n_explain,
            settings.grace_seconds,
            settings.open_seconds,
            settings.max_waiting,
            settings.max_documents,
        )
        # A question has no way to stop early, and is soon answered.
        ask = replace(explain, n_workers=settings.n_ask, grace_seconds=settings.document_seconds)
        self._explain = WorkerPool(content, self._server, explain)
        self._ask = WorkerPool(content, self._server, ask)

    async def start(self) -> None:
        """Start all workers, wait until each has opened its explainer, or raise what it raised."""
        # Those who answer questions are first: what they compile is on the disk for the others.
        for pool in (self._ask, self._explain):
            await asyncio.shield(asyncio.wrap_future(pool.start()))

    async def ask(self, method: str, /, **arguments: Any) -> Any:
        """Return what a method of its explainer returns; raise what it raises."""
        return await self._answer(Task(method, arguments, seconds=self.settings.ask_seconds))

    async def write(self, method: str, /, **arguments: Any) -> Any:
        """Return what a method of its explainer returns that may take long, such as a report."""
        seconds = self.settings.document_seconds
        return await self._answer(Task(method, arguments, seconds=seconds, is_long=True))

    def explain(self, request: Any, on_progress: OnProgress | None = None) -> Task:
        """Return the task of explaining, to be awaited; the loop is told its latest progress."""
        loop = asyncio.get_running_loop()

        def tell(values: Any) -> None:
            if on_progress is not None and not task.is_cancelled:
                on_progress(values)

        def tell_in_loop(values: Any) -> None:
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(tell, values)

        task = Task(
            "explain",
            {"request": request},
            reports=True,
            on_progress=tell_in_loop,
            seconds=self.settings.explain_seconds,
        )
        return self._explain.submit(task)

    async def _answer(self, task: Task) -> Any:
        self._ask.submit(task)
        try:
            async with asyncio.timeout(task.seconds):
                return await task
        except TimeoutError as error:
            raise TaskTimedOut(f"there was no answer within {task.seconds:g} s.") from error

    async def close(self) -> None:
        """End all workers, within seconds; calls that are not answered fail."""
        reason = "the service is stopping, and the call was given up."
        pools = (self._ask, self._explain)
        await asyncio.gather(*(asyncio.to_thread(pool.close, reason) for pool in pools))
        await asyncio.to_thread(self._server.close)

    def state(self) -> PoolState:
        """Return how the workers are."""
        return self._ask.state() + self._explain.state()
