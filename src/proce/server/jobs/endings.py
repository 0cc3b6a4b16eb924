"""Write how jobs ended, before anybody is told; a store that fails is no reason to stop."""

import logging
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Literal

from proce.errors import ProceError, StoreError
from proce.server.store import Record, Store, StoreThreads

_LOG = logging.getLogger(__name__)
_MAX_UNWRITTEN = 1_000

_NOT_KEPT = (
    "the result could not be kept, as the log of explanations cannot be written at present; the"
    " operator's log tells why."
)
INTERRUPTED = "the service stopped before this explanation was finished. Ask for it again."
Ending = Literal["failed", "cancelled", "interrupted"]


class Endings:
    """How jobs ended, in the store; what could not be written is remembered and tried again."""

    def __init__(self, store: Store, threads: StoreThreads) -> None:
        self.store, self.threads = store, threads
        self._unwritten: OrderedDict[str, tuple[Ending, Record]] = OrderedDict()

    def unwritten(self, id: str) -> Record | None:
        """Return a record whose end the store does not know."""
        _, record = self._unwritten.get(id, (None, None))
        return record

    async def finish(self, record: Record, value: Mapping[str, Any]) -> Record:
        """Write the result of a job; where it cannot be kept, the job has failed."""
        try:
            is_written = await self.threads.write(
                self.store.finish,
                record.id,
                results=value["results"],
                summary=value["summary"],
                provenance=value["provenance"],
                started=record.started,
            )
        except StoreError as error:
            _LOG.error("The result of explanation %s is not in the log: %s", record.id, error)
            return await self.end(record, "failed", _NOT_KEPT)  # without the store's address
        except Exception as error:  # a desk that returned something else
            return await self.end(record, "failed", failure_words(error, record.id))
        if not is_written:
            words = "its record was removed while it was worked on. Ask for it again."
            return await self.end(record, "failed", words)
        return await self._stored(_ended(record, "done", None, value["summary"]))

    async def end(self, record: Record, status: Ending, error: str | None) -> Record:
        """Write that a job ended without a result; return its record."""
        ended = _ended(record, status, error)
        try:
            await self.threads.write(self.store.end, record.id, status, error)
        except Exception as refusal:  # whatever it is, those who wait are told the end
            _LOG.warning("The end of explanation %s is not in the log: %r", record.id, refusal)
            self._unwritten[record.id] = status, ended
            while len(self._unwritten) > _MAX_UNWRITTEN:
                self._unwritten.popitem(last=False)
            return ended
        await self.write_rest()
        return await self._stored(ended)

    async def write_rest(self) -> None:
        """Try once more to write what could not be written."""
        while self._unwritten:
            id, (status, record) = next(iter(self._unwritten.items()))
            try:
                await self.threads.write(self.store.end, id, status, record.error)
            except Exception:  # told when it first failed
                return
            self._unwritten.pop(id, None)

    async def _stored(self, ended: Record) -> Record:
        """Return a record as the store has it, or as it should be there."""
        with suppress(Exception):
            stored = await self.threads.read(self.store.record, ended.id)
            if stored is not None and stored.ended:
                return stored
        return ended


def failure_words(error: Exception, id: str) -> str:
    """Return why a job failed, for people; an error that is not ours goes to the log in full."""
    if isinstance(error, ProceError):
        return str(error)
    _LOG.error("Explanation %s failed by an error in the program.", id, exc_info=error)
    return (
        f"the explanation failed by an error in the program ({type(error).__name__}); the log of"
        " the service tells more."
    )


def _ended(
    record: Record, status: Any, error: str | None, summary: Mapping[str, Any] | None = None
) -> Record:
    return replace(
        record,
        status=status,
        error=error,
        finished=datetime.now(UTC),
        summary=None if summary is None else dict(summary),
    )
