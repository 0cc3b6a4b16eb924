"""Retention while the service runs."""

import asyncio
import logging

from proce.errors import StoreError
from proce.server.store.retention import Retention
from proce.server.store.store import Store
from proce.server.store.threads import StoreThreads

_log = logging.getLogger(__name__)


async def keep_within(
    store: Store, threads: StoreThreads, retention: Retention, every_seconds: float = 3600
) -> None:
    """Remove what is beyond retention now and every so often, until cancelled.

    Batches are small, and other writes go in between. A database that cannot be used is tried
    again the next time.
    """
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
