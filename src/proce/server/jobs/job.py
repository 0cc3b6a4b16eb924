"""A job, the queue in which it waits, and what is counted of jobs."""

import asyncio
import time
from collections import OrderedDict, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import zip_longest
from typing import Any, Literal

from proce.errors import ProceError
from proce.server.store import Record
from proce.server.workers import Call

Stop = Literal["cancelled", "interrupted"]


class UnknownJob(ProceError, KeyError):  # noqa: N818 - it is what the caller asked for
    """An explanation that is not in the log."""

    def __str__(self) -> str:
        return str(self.args[0])


class JobEnded(ProceError, ValueError):  # noqa: N818 - it is what happened to it
    """An explanation that has ended and cannot be cancelled any more."""


class Job:
    """An explanation that was asked for and has not ended, or not long ago."""

    # Listeners leave nothing here: they look at the latest state whenever there is a new one, so
    # one that is slow misses some, and one that goes away is forgotten.

    def __init__(self, record: Record, owner: str) -> None:
        self.record, self.owner = record, owner
        self.call: Call | None = None
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


class FairQueue:
    """Jobs that wait: in the order in which they came, but owners with several take turns."""

    # Who asks for one explanation waits for one explanation of each of the others, and not for all
    # that somebody has asked for before.

    def __init__(self) -> None:
        self._of_owners: OrderedDict[str, deque[Job]] = OrderedDict()  # the first is next

    def __len__(self) -> int:
        return sum(len(jobs) for jobs in self._of_owners.values())

    def put(self, job: Job) -> None:
        """Add a job at the end of those of its owner."""
        self._of_owners.setdefault(job.owner, deque()).append(job)

    def take(self) -> Job | None:
        """Remove and return the job whose turn it is; ``None`` where nobody waits."""
        if not self._of_owners:
            return None
        owner, jobs = self._of_owners.popitem(last=False)
        job = jobs.popleft()
        if jobs:
            self._of_owners[owner] = jobs  # behind all others
        return job

    def remove(self, job: Job) -> bool:
        """Remove a job; return False where it does not wait."""
        jobs = self._of_owners.get(job.owner, deque())
        if job not in jobs:
            return False
        jobs.remove(job)
        if not jobs:
            del self._of_owners[job.owner]
        return True

    def in_order(self) -> Iterator[Job]:
        """Yield the jobs in the order of their turns, were nobody else to come."""
        for turn in zip_longest(*self._of_owners.values()):
            yield from (job for job in turn if job is not None)


@dataclass
class JobCounters:
    """Numbers that only grow, for metrics."""

    accepted: int = 0  # how many jobs were accepted
    refused: int = 0  # how many were not, because the queue was full
    endings: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(("done", "failed", "cancelled", "interrupted"), 0)
    )
    queue_seconds: float = 0.0  # how long the jobs that were begun had waited, together
    begun: int = 0  # how many jobs were begun
    work_seconds: float = 0.0  # how long workers had the jobs that have ended, together
    worked: int = 0  # how many jobs workers have ended
    retries: int = 0  # how many calls were given to another worker after theirs died
    restarts: int = 0  # how many workers were replaced
