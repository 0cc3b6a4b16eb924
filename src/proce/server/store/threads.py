"""Where an event loop calls the store: a few threads, and retention while the service runs."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from proce.errors import StoreError
from proce.server.store.record import Retention
from proce.server.store.store import Store

_P = ParamSpec("_P")
_T = TypeVar("_T")
_N_READERS = 4
_END = object()


class StoreThreads:
    """Threads in which the blocking methods of a store run."""

    # Writes have a thread of their own: they go one after the other, in the order of the calls, and
    # a write that waits for a lock keeps no reader waiting.

    def __init__(self) -> None:
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="store-write")
        self._readers = ThreadPoolExecutor(_N_READERS, thread_name_prefix="store-read")

    async def read(self, method: Callable[_P, _T], *arguments: _P.args, **options: _P.kwargs) -> _T:
        """Call a method that reads, e.g. ``await threads.read(store.record, id)``."""
        return await self._run(self._readers, lambda: method(*arguments, **options))

    async def write(
        self, method: Callable[_P, _T], *arguments: _P.args, **options: _P.kwargs
    ) -> _T:
        """Call a method that writes, e.g. ``await threads.write(store.start, id)``."""
        # A caller that is cancelled stops waiting; what it wrote is written all the same.
        return await self._run(self._writer, lambda: method(*arguments, **options))

    async def stream(self, pieces: Iterator[_T]) -> AsyncIterator[_T]:
        """Go through an iterator of the store, such as an export, piece by piece."""
        while (piece := await self._run(self._readers, lambda: next(pieces, _END))) is not _END:
            yield piece  # type: ignore[misc]

    def close(self) -> None:
        """Let what was begun finish, and end the threads."""
        self._writer.shutdown(wait=True)
        self._readers.shutdown(wait=True, cancel_futures=True)

    @staticmethod
    async def _run(executor: ThreadPoolExecutor, call: Callable[[], _T]) -> _T:
        return await asyncio.get_running_loop().run_in_executor(executor, call)


_log = logging.getLogger(__name__)


async def apply_retention(
    store: Store, threads: StoreThreads, retention: Retention, every_seconds: float = 3600
) -> None:
    """Remove what is beyond retention now and every so often, until cancelled."""
    # Batches are small, and other writes go in between. A database that cannot be used is tried
    # again the next time.
    while True:
        try:
            n_removed = 0
            while batch := await threads.write(store.remove_batch, retention):
                n_removed += batch
            if n_removed:
                while await threads.write(store.give_back_space):
                    pass
                _log.info("retention removed %d records and views", n_removed)
        except StoreError as error:
            _log.warning("retention is postponed: %s", error)
        await asyncio.sleep(every_seconds)
