"""Jobs wait, run and end; the store knows of it before anybody is told."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from proce.errors import StoreError
from proce.processes.task import QueueFull
from proce.server.jobs import JobEnded, UnknownJob

from .serving import ONE, serving


async def test_a_job_is_queued_runs_and_is_done(tmp_path: Path) -> None:
    async with serving(tmp_path) as service:
        submitted = await service.jobs.submit({"name": 7}, role="auditor", owner="ann")
        assert submitted.request == {"name": 7}
        record = await service.end_of(submitted.id)
        assert (record.status, record.error, record.role) == ("done", None, "auditor")
        assert (record.summary, record.provenance) == ({"n_rows": 1, "found": 1}, {"seed": 0})
        assert record.created <= record.started <= record.finished
        assert record == service.store.record(record.id)
        assert record == await service.jobs.record(record.id)
        assert record == await service.jobs.wait(record.id, 0)
        assert service.square(record.id) == 49


async def test_a_result_is_in_the_store_before_anybody_is_told(tmp_path: Path) -> None:
    async with serving(tmp_path) as service:
        ids = [await service.begin(name=name) for name in range(20)]

        async def follow(name: int, id: str) -> None:
            async for event, values in service.jobs.events(id):
                if event == "end":
                    assert values == {"status": "done", "error": None}
                    assert service.square(id) == name**2

        await asyncio.gather(*(follow(name, id) for name, id in enumerate(ids)))


async def test_waiting_ends_after_its_seconds_and_does_not_harm_the_job(tmp_path: Path) -> None:
    async with serving(tmp_path) as service:
        id = await service.begin(name=1, for_ever=True)
        await service.begun(id)
        record = await service.jobs.wait(id, 0.01)
        assert (record.status, record.finished) == ("running", None)
        assert service.jobs.progress(id)["stage"] == "search"
        waiting = asyncio.create_task(service.jobs.wait(id, 60))
        await asyncio.sleep(0)
        waiting.cancel()
        await service.jobs.cancel(id)
        assert (await service.end_of(id)).status == "cancelled"
        assert service.jobs.progress(id) is None


async def test_jobs_that_wait_or_run_can_be_cancelled_and_others_not(tmp_path: Path) -> None:
    async with serving(tmp_path, ONE) as service:
        running = await service.begin(name=1, for_ever=True)
        queued = await service.begin(name=2)
        await service.begun(running)
        assert (await service.jobs.cancel(queued)).id == queued
        assert (await service.end_of(queued)).status == "cancelled"
        assert (await service.jobs.record(running)).status == "running"
        await service.jobs.cancel(running)
        assert (await service.end_of(running)).status == "cancelled"
        assert (tmp_path / "stopped-1").exists()
        assert not (tmp_path / "stopped-2").exists()
        with pytest.raises(JobEnded, match=r"has ended \(cancelled\)"):
            await service.jobs.cancel(running)
        with pytest.raises(UnknownJob, match="no explanation 'nobody' in the log"):
            await service.jobs.cancel("nobody")
        with pytest.raises(KeyError):
            await service.jobs.wait("nobody", 1)
        assert await service.jobs.record("nobody") is None
        assert {record.status for record in service.store.records().records} == {"cancelled"}


async def test_beyond_its_limit_the_queue_refuses_and_says_when_to_come_again(
    tmp_path: Path,
) -> None:
    async with serving(tmp_path, ONE, queue=3) as service:
        running = await service.begin(name=0, for_ever=True)
        await service.begun(running)
        submitted = await asyncio.gather(
            *(service.begin(name=name) for name in range(1, 10)), return_exceptions=True
        )
        ids = [id for id in submitted if isinstance(id, str)]
        refused = [error for error in submitted if isinstance(error, QueueFull)]
        assert (len(ids), len(refused)) == (3, 6)
        assert {error.retry_after for error in refused} == {1.0}
        assert service.jobs.queue_length == 3
        await service.jobs.cancel(running)
        for name, id in enumerate(ids, 1):
            assert (await service.end_of(id)).status == "done"
            assert service.square(id) == name**2
        assert service.store.records().total == 4
        counters = service.jobs.counters
        assert (counters.accepted, counters.refused) == (4, 6)
        assert counters.endings == {"done": 3, "cancelled": 1, "failed": 0, "interrupted": 0}
        assert counters.worked == 4
        assert counters.queue_seconds > 0 < counters.work_seconds


async def test_owners_take_turns(tmp_path: Path) -> None:
    async with serving(tmp_path, ONE) as service:
        running = await service.begin(name=0, for_ever=True)
        await service.begun(running)
        owners = {"a": [1, 2, 3], "b": [4], "c": [5, 6]}
        ids = {
            name: await service.begin(name=name, owner=owner)
            for owner, names in owners.items()
            for name in names
        }
        positions = {name: service.jobs.progress(id)["position"] for name, id in ids.items()}
        assert positions == {1: 0, 4: 1, 5: 2, 2: 3, 6: 4, 3: 5}
        await service.jobs.cancel(running)
        ends = {name: (await service.end_of(id)).started for name, id in ids.items()}
        assert sorted(ends, key=ends.__getitem__) == [1, 4, 5, 2, 6, 3]


async def test_errors_of_the_explainer_are_told_in_words(tmp_path: Path) -> None:
    async with serving(tmp_path, replace(ONE, explain_seconds=1.0)) as service:
        failures = {
            await service.begin(name=1, raises="fields"): "it is negative",
            await service.begin(name=2, raises="bug"): "an error in the program (KeyError)",
            await service.begin(name=3, returns="nonsense"): "an error in the program",
            await service.begin(name=4, dies=5): "ended by SIGKILL",
            await service.begin(name=5, deaf=True): "took more than 1 s",
        }
        for id, words in failures.items():
            record = await service.end_of(id)
            assert (record.status, service.store.result(id, "auditor")) == ("failed", None)
            assert words in record.error
            assert record == service.store.record(id)
        assert service.jobs.counters.endings["failed"] == 5
        assert service.workers.state().restarts == 3


async def test_a_store_that_fails_fails_the_job_and_not_the_service(tmp_path: Path) -> None:
    async with serving(tmp_path) as service:
        service.store.faults = frozenset({"create"})
        with pytest.raises(StoreError, match="the disk is full"):
            await service.begin(name=1)
        assert service.jobs.queue_length == 0

        service.store.faults = frozenset({"start", "finish"})
        id = await service.begin(name=2)
        record = await service.end_of(id)
        assert (record.status, record) == ("failed", service.store.record(id))
        assert "the result could not be kept" in record.error
        assert "sqlite" not in record.error

        service.store.faults = frozenset({"start", "finish", "end"})
        lost = await service.begin(name=3)
        assert (await service.end_of(lost)).status == "failed"
        assert (await service.jobs.record(lost)).status == "failed"
        assert service.store.record(lost).status == "queued"

        service.store.faults = frozenset()
        id = await service.begin(name=4)
        assert (await service.end_of(id)).status == "done"
        assert service.square(id) == 16
    async with serving(tmp_path) as service:
        assert "could not be kept" in service.store.record(lost).error


async def test_an_error_in_the_store_does_not_stop_the_jobs_after_it(tmp_path: Path) -> None:
    async with serving(tmp_path, ONE) as service:
        service.store.fault = ValueError("a bug")
        service.store.faults = frozenset({"start", "finish", "end"})
        for name in range(4):
            assert (await service.end_of(await service.begin(name=name))).status == "failed"
        service.store.faults = frozenset()
        id = await service.begin(name=5)
        assert (await service.end_of(id)).status == "done"
