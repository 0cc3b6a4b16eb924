"""Listeners hear the present state, the latest progress and the end, and leave nothing behind."""

import asyncio
import time
from contextlib import closing
from pathlib import Path

import pytest

from proce.processes.task import QueueFull
from proce.server.jobs import JobEnded, UnknownJob
from proce.server.store import Store

from .serving import ONE, serving


async def test_a_listener_hears_the_present_state_the_latest_and_the_end(tmp_path: Path) -> None:
    async with serving(tmp_path, ONE) as service:
        first = await service.begin(name=0, for_ever=True)
        second = await service.begin(name=1, steps=100)
        events = service.jobs.events(second)
        assert await anext(events) == ("progress", {"stage": "queued", "position": 0})
        await service.begun(first)
        await service.jobs.cancel(first)
        heard = [event async for event in events]
        assert [name for name, _ in heard] == ["progress"] * (len(heard) - 1) + ["end"]
        assert heard[0] == ("progress", {"stage": "start"})
        assert heard[-1] == ("end", {"status": "done", "error": None})
        steps = [values["done"] for name, values in heard[1:] if name == "progress"]
        assert steps == sorted(steps)
        assert steps
        late = [event async for event in service.jobs.events(second)]
        assert late == [("end", {"status": "done", "error": None})]
        with pytest.raises(UnknownJob):
            await anext(service.jobs.events("nobody"))


async def test_a_slow_listener_gets_the_latest_and_not_all(tmp_path: Path) -> None:
    async with serving(tmp_path, ONE) as service:
        id = await service.begin(name=1, for_ever=True)
        slow, quick = service.jobs.events(id), service.jobs.events(id)
        await anext(slow)
        for _ in range(10):
            _, latest = await anext(quick)
        assert await anext(slow) == ("progress", latest)
        await service.jobs.cancel(id)


async def test_many_listeners_that_go_away_leave_nothing_behind(tmp_path: Path) -> None:
    async with serving(tmp_path, ONE) as service:
        id = await service.begin(name=1, for_ever=True)
        await service.begun(id)
        n_tasks = len(asyncio.all_tasks())

        async def listen() -> list[str]:
            return [name async for name, _ in service.jobs.events(id)]

        leaving = [asyncio.create_task(listen()) for _ in range(100)]
        staying = [asyncio.create_task(listen()) for _ in range(20)]
        left = [service.jobs.events(id) for _ in range(100)]
        for events in left:
            await anext(events)
            await events.aclose()
        for task in leaving:
            task.cancel()
        await asyncio.gather(*leaving, return_exceptions=True)
        until = time.monotonic() + 10.0  # the service has tasks of its own now and then
        while len(asyncio.all_tasks()) > n_tasks + len(staying):
            assert time.monotonic() < until
            await asyncio.sleep(0.01)
        await service.jobs.cancel(id)
        for names in await asyncio.gather(*staying):
            assert names[-1] == "end"


async def test_a_caller_that_goes_away_while_its_job_is_accepted_loses_nothing(
    tmp_path: Path,
) -> None:
    async with serving(tmp_path, ONE) as service:
        submitting = asyncio.create_task(service.begin(name=3))
        await asyncio.sleep(0)
        submitting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await submitting
        await service.end_of(await service.begin(name=4))
        assert [one.status for one in service.store.records().records] == ["done"] * 2


async def test_at_the_end_of_the_service_jobs_finish_or_are_interrupted(tmp_path: Path) -> None:
    async with serving(tmp_path) as service:
        service.grace_seconds = 3.0
        soon = await service.begin(name=1, steps=100)
        deaf = await service.begin(name=2, deaf=True)
        queued = [await service.begin(name=name) for name in range(3, 6)]
        await service.begun(soon)
        listening = asyncio.create_task(service.end_of(queued[0]))
        closing_down = asyncio.create_task(service.jobs.close(service.grace_seconds))
        assert (await listening).status == "interrupted"
        with pytest.raises(QueueFull, match="the service is stopping"):
            await service.begin(name=6)
        await closing_down
        assert service.store.record(soon).status == "done"
        for id in (deaf, *queued):
            record = service.store.record(id)
            assert record.status == "interrupted"
            assert "Ask for it again" in record.error


async def test_what_an_earlier_service_left_is_interrupted(tmp_path: Path) -> None:
    with closing(Store.open(tmp_path / "log.sqlite")) as store:
        left = [store.create({"name": name}, "applicant").id for name in range(2)]
        store.start(left[0])
    async with serving(tmp_path) as service:
        for id in left:
            record = await service.jobs.record(id)
            assert record.status == "interrupted"
            assert "Ask for it again" in record.error
        with pytest.raises(JobEnded):
            await service.jobs.cancel(left[0])
