"""Workers die, and so does what makes them; calls are tried again, and nobody waits for ever."""

import asyncio
import os
import signal
from pathlib import Path

import pytest

from proce.processes.task import TaskCancelled, WorkerDied
from proce.server.workers import Workers, WorkersSettings

from .fakes import Opener
from .running_workers import QUICK, processes, until, working

ROOT = Path(__file__).parents[2]
ONE = WorkersSettings(n_ask=1, preload=())


async def test_a_call_whose_worker_dies_once_is_tried_again(tmp_path: Path) -> None:
    async with working(tmp_path) as workers:
        assert await workers.ask("die", times=1) == "alive after 1"
        request = {"name": 5, "dies": 1}
        assert await workers.explain(request) == {"name": 5, "square": 25}
        await until(lambda: workers.state().ready == 3)
        assert (workers.state().restarts, workers.state().retries) == (2, 2)


async def test_a_call_of_which_two_workers_die_fails_and_says_how(tmp_path: Path) -> None:
    async with working(tmp_path, ONE) as workers:
        with pytest.raises(WorkerDied, match=r"and so did another before it.*SIGKILL"):
            await workers.explain({"name": 5, "dies": 3})
        assert await workers.explain({"name": 6}) == {"name": 6, "square": 36}
        with pytest.raises(WorkerDied, match="ran out of memory"):
            await workers.ask("raises", kind="memory")
        assert await workers.ask("echo", value=1) == 1


async def test_a_worker_that_dies_idle_is_replaced_before_anybody_asks(tmp_path: Path) -> None:
    async with working(tmp_path) as workers:
        for process in workers.state().processes:
            os.kill(process, signal.SIGKILL)
        await until(lambda: workers.state().restarts == 3 and workers.state().ready == 3)
        assert len(processes(tmp_path)) == 6
        assert await workers.ask("echo", value=1) == 1
        assert workers.state().retries == 0


async def test_a_call_given_to_a_worker_that_is_just_dead_is_not_held_against_it(
    tmp_path: Path,
) -> None:
    async with working(tmp_path, ONE) as workers:
        for process in workers.state().processes:
            os.kill(process, signal.SIGKILL)
        answers = await asyncio.gather(
            workers.ask("die", times=1), workers.explain({"name": 2, "dies": 1})
        )
        assert answers == ["alive after 1", {"name": 2, "square": 4}]


async def test_a_call_that_is_tried_again_is_the_next(tmp_path: Path) -> None:
    ends: list[int] = []

    async def explain(workers: Workers, name: int) -> None:
        ends.append((await workers.explain({"name": name, "dies": name == 0}))["name"])

    async with working(tmp_path, ONE) as workers:
        await asyncio.gather(*(explain(workers, name) for name in range(4)))
    assert ends == [0, 1, 2, 3]


async def test_a_worker_that_is_stopped_in_the_middle_is_ended_by_a_cancel(tmp_path: Path) -> None:
    async with working(
        tmp_path, WorkersSettings(n_ask=1, grace_seconds=0.05, preload=())
    ) as workers:
        for process in workers.state().processes:
            os.kill(process, signal.SIGSTOP)
        call = workers.explain({"name": 1, "text": "x" * 5_000_000})  # more than a pipe holds
        asking = asyncio.create_task(workers.ask("echo", value=1))
        await asyncio.sleep(0)
        call.cancel()
        with pytest.raises(TaskCancelled):
            await call
        assert await workers.explain({"name": 2}) == {"name": 2, "square": 4}
        os.kill(workers.state().processes[0], signal.SIGCONT)
        assert await asking == 1


async def test_workers_that_never_open_fail_those_who_wait(tmp_path: Path) -> None:
    workers = Workers(Opener(tmp_path, dies=True), QUICK)
    asking = asyncio.create_task(workers.ask("echo", value=1))
    with pytest.raises(WorkerDied, match=r"died before they were open.*SIGKILL"):
        await workers.start()
    with pytest.raises(WorkerDied, match=r"died before they were open.*SIGKILL"):
        await asking
    assert workers.state().ready == 0
    await workers.close()
