"""Many ask at once while workers are killed: nothing is lost, and nobody gets another's result."""

import asyncio
import os
import random
import signal
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest

from proce.processes.task import QueueFull, WorkerDied
from proce.server.jobs import JobEnded
from proce.server.store import RecordFilter
from proce.server.workers import WorkersSettings

from ..running_workers import handles_of_ours, parent_of, run, until
from .serving import QUICK, Service, serving

N_TASKS = 64


def test_killing_workers_at_random_loses_nothing(tmp_path: Path) -> None:
    run(_killed_at_random(tmp_path, QUICK, seed=0, n_jobs=200, n_kills=20), seconds=300)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 6))
def test_killing_workers_at_random_loses_nothing_for_long(tmp_path: Path, seed: int) -> None:
    run(_killed_at_random(tmp_path, QUICK, seed, n_jobs=3_000, n_kills=300), seconds=600)


async def _killed_at_random(
    folder: Path, settings: WorkersSettings, seed: int, n_jobs: int, n_kills: int
) -> None:
    draw = random.Random(seed)
    kills = frozenset(draw.sample(range(n_jobs), n_kills))
    cancels = frozenset(draw.sample(range(n_jobs), n_jobs // 20))
    names = iter(range(n_jobs))
    ids: dict[int, str] = {}

    async with serving(folder, settings, queue=32) as service:
        n_links, n_tasks = _n_links(), len(asyncio.all_tasks())

        async def client() -> None:
            for name in names:
                ids[name] = await _submitted(service, name, steps=draw.randint(1, 8))
                if name in kills:
                    _kill(service, draw)
                if name in cancels:
                    with suppress(JobEnded):
                        await service.jobs.cancel(ids[name])
                await _followed(service, name, ids[name])
                with suppress(WorkerDied):  # of two that had the question, which happens
                    assert await service.workers.ask("echo", value=name) == name

        async with asyncio.TaskGroup() as clients:
            for _ in range(N_TASKS):
                clients.create_task(client())

        _check_endings(service, ids, n_jobs, len(cancels))
        state = service.workers.state
        assert state().restarts > n_kills / 2
        await until(lambda: state().ready == state().total)
        await until(lambda: len(asyncio.all_tasks()) <= n_tasks)
        assert _n_links() <= n_links


def _n_links() -> int:
    """Return how many handles of ours are no files, which are those of the store."""
    return sum(not name.startswith("/") for name in handles_of_ours())


async def _submitted(service: Service, name: int, steps: int) -> str:
    """Submit a job, however often the queue is full."""
    while True:
        await until(lambda: service.jobs.queue_length < service.jobs.max_waiting)
        with suppress(QueueFull):
            return await service.begin(name=name, steps=steps, owner=f"client {name % 7}")


async def _followed(service: Service, name: int, id: str) -> None:
    """Listen to some jobs, wait for others."""
    if name % 3:
        await service.end_of(id)
        return
    heard = [event async for event, _ in service.jobs.events(id)]
    assert heard[-1] == "end"


def _kill(service: Service, draw: random.Random) -> None:
    """Kill a worker; now and then what forks them."""
    process = draw.choice(service.workers.state().processes or (0,))
    with suppress(ProcessLookupError, FileNotFoundError):
        server = parent_of(process)
        if parent_of(server) != os.getpid():  # the server of this worker is dead
            os.kill(process, signal.SIGKILL)
        else:
            os.kill(server if draw.random() < 0.1 else process, signal.SIGKILL)


def _check_endings(service: Service, ids: dict[int, str], n_jobs: int, n_cancels: int) -> None:
    assert sorted(ids) == list(range(n_jobs))
    assert len(set(ids.values())) == n_jobs
    endings = Counter(record.status for record in service.store.records(limit=10_000).records)
    assert sum(endings.values()) == n_jobs
    assert set(endings) <= {"done", "failed", "cancelled"}
    assert endings.get("cancelled", 0) <= n_cancels
    assert endings["done"] >= 0.8 * n_jobs
    counted = {status: n for status, n in service.jobs.counters.endings.items() if n}
    assert counted == endings
    for name, id in ids.items():
        record = service.store.record(id)
        assert record.request["name"] == name
        if record.status == "done":
            assert service.square(id) == name**2
    for record in service.store.records(RecordFilter(status="failed"), limit=n_jobs).records:
        assert "died" in record.error
        assert service.store.result(record.id, "auditor") is None
