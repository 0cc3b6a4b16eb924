"""A service without the web, in tests: jobs, workers with a fake explainer, a store in a file."""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from proce.errors import StoreError
from proce.server.jobs import Jobs
from proce.server.store import Record, Store, StoreThreads
from proce.server.workers import Workers, WorkersSettings

from ..fakes import FakeApi
from ..running_workers import handles_of_ours, is_running, processes

QUICK = WorkersSettings(n_explain=2, n_ask=1, grace_seconds=0.5, preload=(__name__,))
ONE = replace(QUICK, n_explain=1)


class JobApi(FakeApi):
    """An explainer whose explanations are as jobs take them."""

    def explain(self, request: dict[str, Any], progress: Any) -> dict[str, Any]:
        """Return the square of the request's name in both views."""
        if "raises" in request:
            self.raises(request["raises"])
        if "returns" in request:
            return request["returns"]
        text = json.dumps(super().explain(request, progress))
        return {
            "results": {"applicant": text, "auditor": text},
            "summary": {"n_rows": 1, "found": 1},
            "provenance": {"seed": 0},
        }


@dataclass(frozen=True)
class JobOpener:
    """Opens a :class:`JobApi`."""

    folder: Path

    def __call__(self) -> JobApi:
        """Leave a trace of the process, and open."""
        (self.folder / f"worker-{os.getpid()}").touch()
        return JobApi(self.folder)


class FaultyStore(Store):
    """A store whose disk is full at times."""

    faults: frozenset[str] = frozenset()
    fault: Exception = StoreError("database log.sqlite: the disk is full.")

    def _meet(self, name: str) -> None:
        if name in self.faults:
            raise self.fault

    def create(self, *arguments: Any) -> Record:
        """Write a new record, or fail."""
        self._meet("create")
        return super().create(*arguments)

    def start(self, *arguments: Any) -> bool:
        """Write a start, or fail."""
        self._meet("start")
        return super().start(*arguments)

    def finish(self, *arguments: Any, **options: Any) -> bool:
        """Write a result, or fail."""
        self._meet("finish")
        return super().finish(*arguments, **options)

    def end(self, *arguments: Any) -> bool:
        """Write an end, or fail."""
        self._meet("end")
        return super().end(*arguments)


@dataclass
class Service:
    """What a test holds."""

    jobs: Jobs
    store: FaultyStore
    workers: Workers
    grace_seconds: float = 5.0

    async def begin(self, **request: Any) -> str:
        """Submit a job and return its id."""
        owner = request.pop("owner", "")
        return (await self.jobs.submit(request, role="applicant", owner=owner)).id

    async def end_of(self, id: str) -> Record:
        """Wait for the end of a job."""
        record = await self.jobs.wait(id, 30)
        assert record.ended
        return record

    async def begun(self, id: str) -> None:
        """Wait until a worker tells progress of a job."""
        async for _, values in self.jobs.events(id):
            if values.get("stage") == "search":
                return

    def square(self, id: str) -> int:
        """Return the result that is kept of a job."""
        text = self.store.result(id, "applicant")
        assert text is not None
        square: int = json.loads(text)["square"]
        return square


@asynccontextmanager
async def serving(
    folder: Path, settings: WorkersSettings = QUICK, queue: int = 64
) -> AsyncIterator[Service]:
    """Yield a service that is ready; afterwards nothing is left of it but its file."""
    handles = handles_of_ours()
    store = FaultyStore.open(folder / "log.sqlite")
    workers = Workers(JobOpener(folder), settings)
    with closing(StoreThreads()) as threads:
        jobs = Jobs(workers, store, threads, queue)
        service = Service(jobs, store, workers)
        try:
            await jobs.start()
            await workers.start()
            yield service
        finally:
            await jobs.close(service.grace_seconds)
            await workers.close()
    store.close()
    await asyncio.sleep(0)  # a task that has ended is forgotten
    assert not [process for process in processes(folder) if is_running(process)]
    assert handles_of_ours() <= handles
