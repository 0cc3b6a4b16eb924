"""A job while it is alive: its record, the latest progress, and those who listen to it."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Literal

from proce.errors import ProceError
from proce.processes.task import Task
from proce.server.store import Record

Stop = Literal["cancelled", "interrupted"]


class UnknownJob(ProceError, KeyError):  # noqa: N818 - it is what the caller asked for
    """An explanation that is not in the log."""

    def __str__(self) -> str:
        return str(self.args[0])


class JobEnded(ProceError, ValueError):  # noqa: N818 - it is what happened to it
    """An explanation that has ended and cannot be cancelled any more."""


class Job:
    """An explanation that was asked for and has not ended, or not long ago.

    Listeners leave nothing here: they look at the latest state whenever there is a new one, so one
    that is slow misses some, and one that goes away is forgotten.

    Parameters
    ----------
    record
        Its record, as the store wrote it.
    owner
        Who asked.
    """

    def __init__(self, record: Record, owner: str) -> None:
        self.record, self.owner = record, owner
        self.call: Task | None = None
        self.stop: Stop | None = None  # what it is to become, once it is stopped
        self.created_seconds = time.monotonic()
        self.progress: Mapping[str, Any] = {"stage": "queued"}
        self.ended = asyncio.Event()
        self.changed = asyncio.Event()  # another one for every change

    def report(self, progress: Mapping[str, Any]) -> None:
        """Tell listeners of progress."""
        self.progress = progress
        self._tell()

    def begin(self) -> None:
        """Take in that the job runs, of which the store need not know yet."""
        self.record = replace(self.record, status="running", started=datetime.now(UTC))
        self.report({"stage": "start"})

    def end(self, record: Record) -> None:
        """Tell listeners that the job has ended, which the store knows by now."""
        self.record = record
        self.ended.set()
        self._tell()

    def _tell(self) -> None:
        self.changed.set()
        self.changed = asyncio.Event()


def end_event(record: Record) -> tuple[str, dict[str, Any]]:
    """Return what listeners are told at the end."""
    return "end", {"status": record.status, "error": record.error}
