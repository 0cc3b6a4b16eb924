"""The life of an explanation that was asked for: queued, running, and one of four endings.

The store knows every step of it before anybody is told.
"""

import asyncio
import logging
import time
from collections import OrderedDict, deque
from collections.abc import AsyncGenerator, Coroutine, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import zip_longest
from typing import Any, Literal, TypeVar

from proce.errors import ProceError, StoreError
from proce.processes.task import QueueFull, Task, TaskCancelled
from proce.server.store import INTERRUPTED, Record, Store, StoreThreads
from proce.server.workers import Workers

Ending = Literal["failed", "cancelled", "interrupted"]
Stop = Literal["cancelled", "interrupted"]
T = TypeVar("T")
_LOG = logging.getLogger(__name__)
_MIN_RETRY_SECONDS, _MAX_RETRY_SECONDS = 1.0, 60.0
_CLOSE_SECONDS = 5.0  # for what was stopped
_MAX_UNWRITTEN = 1_000

_NOT_KEPT = (
    "the result could not be kept, as the log of explanations cannot be written at present; the"
    " operator's log tells why."
)


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
    work_seconds: float = 0.0  # how long workers had the jobs that have ended, together
    worked: int = 0  # how many jobs workers have ended


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
        except Exception as error:  # an explainer that returned something else
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


class Jobs:
    """Explanations that wait or run, between the routes, the store and the workers."""

    # To be used in one event loop. Close it before the workers and the store.

    def __init__(
        self, workers: Workers, store: Store, threads: StoreThreads, max_waiting: int = 64
    ) -> None:
        self.workers, self.store, self.threads = workers, store, threads
        self.max_waiting = max_waiting
        self._jobs: dict[str, Job] = {}  # those that have not ended
        self._queue = FairQueue()
        self._endings = Endings(store, threads)
        self.counters = JobCounters()
        self._n_coming = 0  # accepted, and not yet in the queue
        self._n_working = self._n_writing = 0
        self._is_closed = False
        self._tasks: set[asyncio.Task[Any]] = set()

    async def start(self) -> int:
        """Mark what an earlier service left unfinished; return how many records that were."""
        return await self.threads.write(self.store.interrupt_unfinished)

    @property
    def queue_length(self) -> int:
        """How many jobs wait."""
        return len(self._queue) + self._n_coming

    async def submit(self, request: Mapping[str, Any], *, role: str, owner: str = "") -> Record:
        """Accept a job and return its record."""
        # Once accepted it runs, whether or not the caller waits for this to return.
        if self._is_closed:
            raise QueueFull("the service is stopping.", _MIN_RETRY_SECONDS)
        if self._is_full():
            self.counters.refused += 1
            raise QueueFull(
                f"{self.queue_length} explanations wait already, which is the limit. Try again"
                " later.",
                self._retry_seconds(),
            )
        self._n_coming += 1
        return await asyncio.shield(self._spawn(self._accept(dict(request), role, owner)))

    async def record(self, id: str) -> Record | None:
        """Return a record as it is at present, or ``None``."""
        job = self._jobs.get(id)
        if job is not None:
            return job.record
        return self._endings.unwritten(id) or await self.threads.read(self.store.record, id)

    def progress(self, id: str) -> dict[str, Any] | None:
        """Return the latest progress of a job that has not ended, or ``None``."""
        job = self._jobs.get(id)
        return None if job is None else dict(job.progress)

    async def wait(self, id: str, seconds: float) -> Record:
        """Return a record once it has ended, or as it is after some seconds."""
        job = self._jobs.get(id)
        if job is None:
            return await self._known(id)
        with suppress(TimeoutError):
            await asyncio.wait_for(job.ended.wait(), seconds)
        return job.record

    async def events(self, id: str) -> AsyncGenerator[tuple[str, dict[str, Any]], None]:
        """Yield ``("progress", values)``, the present state first, and ``("end", values)`` last."""
        job = self._jobs.get(id)
        if job is None:
            yield end_event(await self._known(id))
            return
        while not job.ended.is_set():
            changed = job.changed
            yield "progress", dict(job.progress)
            await changed.wait()
        yield end_event(job.record)

    async def cancel(self, id: str) -> Record:
        """Stop a job that waits or runs; return its record, which may not have ended yet."""
        job = self._jobs.get(id)
        if job is None:
            record = await self._known(id)
            raise JobEnded(
                f"explanation {id} has ended ({record.status}) and cannot be cancelled any more."
            )
        self._stop(job, "cancelled")
        return job.record

    async def close(self, grace_seconds: float) -> None:
        """End all jobs: those that run may finish within the grace, all others are interrupted."""
        self._is_closed = True
        for job in list(self._jobs.values()):
            if job.call is None:
                self._stop(job, "interrupted")
        await self._tasks_done(grace_seconds)
        for job in list(self._jobs.values()):
            self._stop(job, "interrupted")
        await self._tasks_done(_CLOSE_SECONDS + self.workers.settings.grace_seconds)
        await self._endings.write_rest()

    def _is_full(self) -> bool:
        if self._may_begin() and not self.queue_length:
            return False
        return self.queue_length >= self.max_waiting

    def _may_begin(self) -> bool:
        """Return whether a worker is free, and the store is not far behind."""
        n_workers = self.workers.settings.n_explain
        return not self._is_closed and self._n_working < n_workers and self._n_writing <= n_workers

    def _retry_seconds(self) -> float:
        """Return when about the queue is half empty."""
        mean = self.counters.work_seconds / max(self.counters.worked, 1)
        seconds = mean * self.queue_length / 2 / self.workers.settings.n_explain
        return min(max(round(seconds, 1), _MIN_RETRY_SECONDS), _MAX_RETRY_SECONDS)

    async def _accept(self, request: dict[str, Any], role: str, owner: str) -> Record:
        try:
            record = await self.threads.write(self.store.create, request, role)
        finally:
            self._n_coming -= 1
        job = self._jobs[record.id] = Job(record, owner)
        self.counters.accepted += 1
        self._queue.put(job)
        if self._is_closed:
            self._stop(job, "interrupted")
        self._begin()
        return job.record

    def _begin(self) -> None:
        """Give jobs that wait to workers that are free."""
        while self._may_begin() and (job := self._queue.take()) is not None:
            self.counters.queue_seconds += time.monotonic() - job.created_seconds
            self._n_working += 1
            job.begin()
            self._spawn(self._run(job))
        for position, job in enumerate(self._queue.in_order()):
            if job.progress.get("position") != position:
                job.report({"stage": "queued", "position": position})

    async def _run(self, job: Job) -> None:
        writing = self._spawn(self._write_start(job))
        value, error = await self._work(job)
        self._n_working -= 1
        self._n_writing += 1
        self._begin()
        try:
            await writing
            await self._write(job, value, error)
        finally:
            self._n_writing -= 1
            self._begin()

    async def _write(self, job: Job, value: Any, error: Exception | None) -> None:
        if error is None:
            self._ended(job, await self._endings.finish(job.record, value))
        elif isinstance(error, TaskCancelled):
            await self._end(job, job.stop or "cancelled")
        else:
            words = failure_words(error, job.record.id)
            self._ended(job, await self._endings.end(job.record, "failed", words))

    async def _work(self, job: Job) -> tuple[Any, Exception | None]:
        """Return what a worker made of a job, or the error that it ended with."""
        begun = time.monotonic()
        try:
            if job.stop is not None:
                raise TaskCancelled("the job was stopped before it began.")
            job.call = self.workers.explain(job.record.request, job.report)
            return await job.call, None
        except Exception as error:
            return None, error
        finally:
            self.counters.work_seconds += time.monotonic() - begun
            self.counters.worked += 1

    async def _write_start(self, job: Job) -> None:
        try:
            await self.threads.write(self.store.start, job.record.id)
        except Exception as error:  # the end is told all the same
            _LOG.warning("The start of explanation %s is not in the log: %r", job.record.id, error)

    def _stop(self, job: Job, stop: Stop) -> None:
        """Stop a job that waits or runs; one whose result is being written is left alone."""
        job.stop = job.stop or stop
        if self._queue.remove(job):
            self._spawn(self._end(job, job.stop))
            self._begin()
        elif job.call is not None:
            job.call.cancel()

    async def _end(self, job: Job, stop: Stop) -> None:
        words = INTERRUPTED if stop == "interrupted" else None
        self._ended(job, await self._endings.end(job.record, stop, words))

    def _ended(self, job: Job, record: Record) -> None:
        self.counters.endings[record.status] += 1
        del self._jobs[record.id]
        job.end(record)

    async def _known(self, id: str) -> Record:
        record = await self.record(id)
        if record is None:
            raise UnknownJob(f"there is no explanation {id!r} in the log.")
        return record

    def _spawn(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _tasks_done(self, seconds: float) -> None:
        """Wait for all tasks, and for those that they begin, but not for ever."""
        end = time.monotonic() + seconds
        while self._tasks and time.monotonic() < end:
            await asyncio.wait(self._tasks, timeout=end - time.monotonic())
