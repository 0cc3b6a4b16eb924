"""Workers die, and so does what makes them; calls are tried again, and nobody waits for ever."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from proce.server.workers import CallCancelled, WorkerDied, Workers, WorkersSettings

from .fakes import Opener
from .running import QUICK, is_running, parent_of, processes, run, until, working

ROOT = Path(__file__).parents[3]
ONE = WorkersSettings(n_ask=1, preload=())


def test_a_call_whose_worker_dies_once_is_tried_again(tmp_path: Path) -> None:
    async def test() -> None:
        async with working(tmp_path) as workers:
            assert await workers.ask("die", times=1) == "alive after 1"
            request = {"name": 5, "dies": 1}
            assert await workers.explain(request) == {"name": 5, "square": 25}
            await until(lambda: workers.state().ready == 3)
            assert (workers.state().restarts, workers.state().retries) == (2, 2)

    run(test())


def test_a_call_of_which_two_workers_die_fails_and_says_how(tmp_path: Path) -> None:
    async def test() -> None:
        async with working(tmp_path, ONE) as workers:
            with pytest.raises(WorkerDied, match=r"and so did another before it.*SIGKILL"):
                await workers.explain({"name": 5, "dies": 3})
            assert await workers.explain({"name": 6}) == {"name": 6, "square": 36}
            with pytest.raises(WorkerDied, match="ran out of memory"):
                await workers.ask("raises", kind="memory")
            assert await workers.ask("echo", value=1) == 1

    run(test())


def test_a_worker_that_dies_idle_is_replaced_before_anybody_asks(tmp_path: Path) -> None:
    async def test() -> None:
        async with working(tmp_path) as workers:
            for process in workers.state().processes:
                os.kill(process, signal.SIGKILL)
            await until(lambda: workers.state().restarts == 3 and workers.state().ready == 3)
            assert len(processes(tmp_path)) == 6
            assert await workers.ask("echo", value=1) == 1
            assert workers.state().retries == 0

    run(test())


def test_a_call_given_to_a_worker_that_is_just_dead_is_not_held_against_it(tmp_path: Path) -> None:
    async def test() -> None:
        async with working(tmp_path, ONE) as workers:
            for process in workers.state().processes:
                os.kill(process, signal.SIGKILL)
            answers = await asyncio.gather(
                workers.ask("die", times=1), workers.explain({"name": 2, "dies": 1})
            )
            assert answers == ["alive after 1", {"name": 2, "square": 4}]

    run(test())


def test_a_call_that_is_tried_again_is_the_next(tmp_path: Path) -> None:
    async def test() -> None:
        ends: list[int] = []

        async def explain(workers: Workers, name: int) -> None:
            ends.append((await workers.explain({"name": name, "dies": name == 0}))["name"])

        async with working(tmp_path, ONE) as workers:
            await asyncio.gather(*(explain(workers, name) for name in range(4)))
        assert ends == [0, 1, 2, 3]

    run(test())


def test_a_dead_worker_is_noticed_though_its_child_lives(tmp_path: Path) -> None:
    async def test() -> None:
        async with working(tmp_path, ONE) as workers:
            with pytest.raises(WorkerDied, match="SIGKILL"):
                await workers.ask("leave_child")
            assert await workers.ask("echo", value=1) == 1

    run(test())


def test_the_process_that_makes_workers_may_die(tmp_path: Path) -> None:
    async def test() -> None:
        async with working(tmp_path) as workers:
            first, *_ = workers.state().processes
            os.kill(parent_of(first), signal.SIGKILL)
            assert await workers.ask("echo", value=1) == 1
            for process in workers.state().processes:
                os.kill(process, signal.SIGKILL)
            assert await workers.ask("echo", value=2) == 2
            assert await workers.explain({"name": 2}) == {"name": 2, "square": 4}
            await until(lambda: workers.state().ready == 3)

    run(test())


def test_only_the_parent_ends_workers_that_are_asked_to_end(tmp_path: Path) -> None:
    async def test() -> None:
        async with working(tmp_path) as workers:
            begun = asyncio.Event()
            call = workers.explain({"name": 3, "steps": 50}, lambda _: begun.set())
            await begun.wait()
            members = workers.state().processes
            for process in (parent_of(members[0]), *members):
                os.kill(process, signal.SIGTERM)
            assert await call == {"name": 3, "square": 9}
            assert workers.state().restarts == 0

    run(test())


def test_where_memory_is_short_a_worker_is_ended_before_the_service(tmp_path: Path) -> None:
    async def test() -> None:
        async with working(tmp_path, ONE) as workers:
            own = int(Path("/proc/self/oom_score_adj").read_text())
            for process in workers.state().processes:
                score = int(Path(f"/proc/{process}/oom_score_adj").read_text())
                assert score == min(own + 500, 1000)

    run(test())


def test_a_worker_that_is_stopped_in_the_middle_is_ended_by_a_cancel(tmp_path: Path) -> None:
    async def test() -> None:
        async with working(
            tmp_path, WorkersSettings(n_ask=1, grace_seconds=0.05, preload=())
        ) as workers:
            for process in workers.state().processes:
                os.kill(process, signal.SIGSTOP)
            call = workers.explain({"name": 1, "text": "x" * 5_000_000})  # more than a pipe holds
            asking = asyncio.create_task(workers.ask("echo", value=1))
            await asyncio.sleep(0)
            call.cancel()
            with pytest.raises(CallCancelled):
                await call
            assert await workers.explain({"name": 2}) == {"name": 2, "square": 4}
            os.kill(workers.state().processes[0], signal.SIGCONT)
            assert await asking == 1

    run(test())


def test_workers_that_never_open_fail_those_who_wait(tmp_path: Path) -> None:
    async def test() -> None:
        workers = Workers(Opener(tmp_path, dies=True), QUICK)
        asking = asyncio.create_task(workers.ask("echo", value=1))
        with pytest.raises(WorkerDied, match=r"died before it was open.*SIGKILL"):
            await workers.start()
        with pytest.raises(WorkerDied, match=r"died before it was open.*SIGKILL"):
            await asking
        assert workers.state().ready == 0
        await workers.close()

    run(test())


@pytest.mark.parametrize("with_nursery", [False, True])
def test_workers_end_when_their_parent_is_killed(tmp_path: Path, with_nursery: bool) -> None:
    program = (
        "import asyncio, sys; from pathlib import Path\n"
        "from tests.server.workers.running import QUICK, working\n"
        "async def main():\n"
        "    async with working(Path(sys.argv[1])) as workers:\n"
        "        calls = [workers.explain({'name': n, 'for_ever': True},"
        " lambda _: Path(sys.argv[1], 'begun').touch()) for n in range(2)]\n"
        "        await calls[0]\n"
        "asyncio.run(main())\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", program, str(tmp_path)], cwd=ROOT)

    async def test() -> None:
        await until((tmp_path / "begun").exists)
        workers = processes(tmp_path)
        nursery = parent_of(workers[0])
        for process in [nursery] * with_nursery + [parent.pid]:
            os.kill(process, signal.SIGKILL)
        parent.wait(10)
        await until(lambda: not any(is_running(process) for process in [*workers, nursery]))

    run(test())
