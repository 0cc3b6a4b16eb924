"""Take explanations that are asked for through their life; the store knows every step of it."""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from proce.server.jobs.endings import INTERRUPTED, Endings, failure_words
from proce.server.jobs.job import FairQueue, Job, JobCounters, JobEnded, Stop, UnknownJob, end_event
from proce.server.store import Record, Store, StoreThreads
from proce.server.workers import CallCancelled, QueueFull, Workers

T = TypeVar("T")
_LOG = logging.getLogger(__name__)
_MIN_RETRY_SECONDS, _MAX_RETRY_SECONDS = 1.0, 60.0
_CLOSE_SECONDS = 5.0  # for what was stopped


@dataclass(frozen=True)
class JobLimits:
    """How many jobs may wait for a worker."""

    queue: int = 64


class Jobs:
    """Explanations that wait or run, between the routes, the store and the workers."""

    # To be used in one event loop. Close it before the workers and the store.

    def __init__(
        self, workers: Workers, store: Store, threads: StoreThreads, limits: JobLimits
    ) -> None:
        self.workers, self.store, self.threads, self.limits = workers, store, threads, limits
        self._jobs: dict[str, Job] = {}  # those that have not ended
        self._queue = FairQueue()
        self._endings = Endings(store, threads)
        self._counters = JobCounters()
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

    def counters(self) -> JobCounters:
        """Return what has become of jobs so far."""
        state = self.workers.state()
        return replace(
            self._counters,
            endings=dict(self._counters.endings),
            retries=state.retries,
            restarts=state.restarts,
        )

    async def submit(self, request: Mapping[str, Any], *, role: str, owner: str = "") -> Record:
        """Accept a job and return its record."""
        # Once accepted it runs, whether or not the caller waits for this to return.
        if self._is_closed:
            raise QueueFull("the service is stopping.", _MIN_RETRY_SECONDS)
        if self._is_full():
            self._counters.refused += 1
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
        return self.queue_length >= self.limits.queue

    def _may_begin(self) -> bool:
        """Return whether a worker is free, and the store is not far behind."""
        n_workers = self.workers.settings.n_explain
        return not self._is_closed and self._n_working < n_workers and self._n_writing <= n_workers

    def _retry_seconds(self) -> float:
        """Return when about the queue is half empty."""
        mean = self._counters.work_seconds / max(self._counters.worked, 1)
        seconds = mean * self.queue_length / 2 / self.workers.settings.n_explain
        return min(max(round(seconds, 1), _MIN_RETRY_SECONDS), _MAX_RETRY_SECONDS)

    async def _accept(self, request: dict[str, Any], role: str, owner: str) -> Record:
        try:
            record = await self.threads.write(self.store.create, request, role)
        finally:
            self._n_coming -= 1
        job = self._jobs[record.id] = Job(record, owner)
        self._counters.accepted += 1
        self._queue.put(job)
        if self._is_closed:
            self._stop(job, "interrupted")
        self._begin()
        return job.record

    def _begin(self) -> None:
        """Give jobs that wait to workers that are free."""
        while self._may_begin() and (job := self._queue.take()) is not None:
            self._counters.queue_seconds += time.monotonic() - job.created_seconds
            self._counters.begun += 1
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
        elif isinstance(error, CallCancelled):
            await self._end(job, job.stop or "cancelled")
        else:
            words = failure_words(error, job.record.id)
            self._ended(job, await self._endings.end(job.record, "failed", words))

    async def _work(self, job: Job) -> tuple[Any, Exception | None]:
        """Return what a worker made of a job, or the error that it ended with."""
        begun = time.monotonic()
        try:
            if job.stop is not None:
                raise CallCancelled("the job was stopped before it began.")
            job.call = self.workers.explain(job.record.request, job.report)
            return await job.call, None
        except Exception as error:
            return None, error
        finally:
            self._counters.work_seconds += time.monotonic() - begun
            self._counters.worked += 1

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
        self._counters.endings[record.status] += 1
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
