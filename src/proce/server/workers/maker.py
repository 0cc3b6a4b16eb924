"""Make worker processes and learn how they ended, in a thread: the event loop never waits."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import TypeVar

from proce.batch.processes.nursery import Nursery
from proce.errors import WorkerError

_SERVING = "proce.server.workers.serving"
_END_SECONDS = 5.0

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Made:
    """A worker process, the link to it, and what made it."""

    process: int
    link: Connection
    nursery: Nursery


class Maker:
    """A nursery that is replaced when it dies, and a thread that talks with it.

    Parameters
    ----------
    preload
        The modules that workers need, which are imported once.
    """

    def __init__(self, preload: tuple[str, ...]) -> None:
        self.preload = preload
        self.nursery: Nursery | None = None
        self.is_closed = False
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="proce-maker")

    async def make(self) -> Made:
        """Return a new worker process."""
        return await self._in_thread(self._make)

    async def exit_code(self, made: Made) -> int | None:
        """Return how a process ended that is dead or dying; ``None`` where nobody knows."""
        return await self._in_thread(lambda: made.nursery.exit_code(made.process))

    async def close(self) -> None:
        """End the nursery, and the thread."""
        self.is_closed = True
        with suppress(TimeoutError):
            await asyncio.wait_for(self._in_thread(self._end), _END_SECONDS)
        self._thread.shutdown(wait=False)

    def hurry(self) -> None:
        """Kill the nursery, so that nobody waits for it any longer."""
        self.is_closed = True
        if self.nursery is not None:
            self.nursery.process.kill()

    def _make(self) -> Made:
        for is_last in (False, True):
            if self.nursery is None and not self.is_closed:
                self.nursery = Nursery(self.preload, _SERVING)
            if self.nursery is None or self.is_closed:
                raise WorkerError("the workers are closed.")
            try:
                return Made(*self.nursery.make_worker(), self.nursery)
            except WorkerError:
                self._end()
                if is_last:
                    raise
        raise AssertionError

    def _end(self) -> None:
        if self.nursery is not None:
            self.nursery.end()
            self.nursery = None

    async def _in_thread(self, do: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, do)
