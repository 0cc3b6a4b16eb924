"""Workers answer calls beside each other, with values and errors as the explainer gave them."""

import asyncio
import subprocess
import sys
import time
from pathlib import Path

import pytest
import uvloop

from proce.errors import SchemaError, WorkerError
from proce.processes.task import QueueFull, TaskCancelled, TaskTimedOut
from proce.server.workers import Workers, WorkersSettings

from .fakes import FieldError, Opener
from .running_workers import QUICK, until, working


async def test_answers_and_errors_come_back_as_the_explainer_gave_them(tmp_path: Path) -> None:
    async with working(tmp_path) as workers:
        value = {"text": "naïve", "numbers": [1, 2.5, None], "long": "x" * 3_000_000}
        assert await workers.ask("echo", value=value) == value
        with pytest.raises(FieldError) as raised:
            await workers.ask("raises", kind="fields")
        assert (raised.value.field, raised.value.message) == ("rows[0].age", "it is negative")
        with pytest.raises(RuntimeError, match="StubbornError: 1 and 2"):
            await workers.ask("raises", kind="stubborn")
        with pytest.raises(KeyError) as bug:
            await workers.ask("raises", kind="bug")
        assert 'raise KeyError("age")' in bug.value.__notes__[0]
        with pytest.raises(AttributeError, match="lambda"):
            await workers.ask("unsendable")
        assert await workers.ask("echo", value=1) == 1
        state = workers.state()
        assert (state.total, state.ready, state.busy, state.restarts) == (3, 3, 0, 0)


async def test_a_question_does_not_wait_behind_explanations(tmp_path: Path) -> None:
    async with working(tmp_path) as workers:
        calls = [workers.explain({"name": name, "for_ever": True}) for name in range(4)]
        assert await workers.ask("echo", value="now") == "now"
        assert (workers.state().busy, workers.state().waiting) == (2, 2)
        for call in calls:
            call.cancel()
        for call in calls:
            with pytest.raises(TaskCancelled):
                await call


async def test_questions_are_answered_while_documents_are_written(tmp_path: Path) -> None:
    settings = WorkersSettings(n_ask=2, max_documents=2, preload=())
    async with working(tmp_path, settings) as workers:
        assert await workers.write("echo", value="report") == "report"
        documents = [asyncio.create_task(workers.write("wait", seconds=60)) for _ in range(3)]
        await asyncio.sleep(0)
        with pytest.raises(QueueFull, match="2 calls wait already"):
            await workers.write("wait", seconds=60)
        for number in range(20):
            assert await workers.ask("echo", value=number) == number
        assert (workers.state().busy, workers.state().waiting) == (1, 2)
        for document in documents:
            document.cancel()
        await asyncio.wait(documents)
        assert workers.state().waiting == 0


def test_a_worker_that_is_ended_late_gets_no_other_call(tmp_path: Path) -> None:
    async def test() -> None:
        settings = WorkersSettings(n_ask=1, explain_seconds=1.0, preload=())
        async with working(tmp_path, settings) as workers:
            # While the loop is held, the answer comes and the time is over.
            first = workers.explain({"name": 1, "steps": 1}, lambda _: time.sleep(1.2))
            second = workers.explain({"name": 2})
            assert await second == {"name": 2, "square": 4}
            assert await first == {"name": 1, "square": 1}

    uvloop.run(test())


async def test_many_calls_at_once_get_their_own_answers(tmp_path: Path) -> None:
    async with working(tmp_path) as workers:
        questions = [workers.ask("echo", value=number) for number in range(200)]
        assert await asyncio.gather(*questions) == list(range(200))
        calls = [workers.explain({"name": number}) for number in range(100)]
        answers = [await call for call in calls]
        assert [answer["square"] for answer in answers] == [n**2 for n in range(100)]
        processes = await asyncio.gather(*(workers.ask("process") for _ in range(5)))
        assert len(set(processes)) == 1


async def test_progress_is_told_in_order_and_not_at_every_step(tmp_path: Path) -> None:
    told: list[dict[str, int]] = []

    def listen(values: dict[str, int]) -> None:
        told.append(values)
        raise RuntimeError("a listener that fails harms nobody")

    async with working(tmp_path) as workers:
        await workers.explain({"name": 1, "steps": 100}, listen)
    steps = [values["done"] for values in told]
    assert steps == sorted(steps)
    assert steps[0] == 0
    assert 2 <= len(steps) < 50


async def test_a_call_that_is_cancelled_stops_and_its_worker_goes_on(tmp_path: Path) -> None:
    async with working(tmp_path) as workers:
        begun = asyncio.Event()
        call = workers.explain({"name": 1, "for_ever": True}, lambda _: begun.set())
        await begun.wait()
        call.cancel()
        with pytest.raises(TaskCancelled):
            await call
        assert (tmp_path / "stopped-1").exists()
        assert await workers.explain({"name": 2}) == {"name": 2, "square": 4}
        assert workers.state().restarts == 0


async def test_a_task_that_is_cancelled_takes_its_call_along(tmp_path: Path) -> None:
    async with working(tmp_path) as workers:
        begun = asyncio.Event()

        async def explain() -> None:
            await workers.explain({"name": 1, "for_ever": True}, lambda _: begun.set())

        task = asyncio.create_task(explain())
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await until(lambda: (tmp_path / "stopped-1").exists())
        await until(lambda: workers.state().busy == 0)
        assert workers.state().restarts == 0


async def test_a_call_that_does_not_listen_is_ended_with_its_worker(tmp_path: Path) -> None:
    settings = WorkersSettings(n_ask=1, grace_seconds=0.05, ask_seconds=1.0, preload=())
    async with working(tmp_path, settings) as workers:
        call = workers.explain({"name": 1, "deaf": True})
        call.cancel()
        with pytest.raises(TaskCancelled):
            await call
        assert await workers.explain({"name": 2}) == {"name": 2, "square": 4}
        with pytest.raises(TaskTimedOut, match="no answer within 1 s"):
            await workers.ask("wait", seconds=60)
        await until(lambda: workers.state().restarts == 2 and workers.state().ready == 2)
        assert await workers.ask("echo", value=3) == 3


async def test_an_explanation_beyond_its_time_is_ended_and_not_tried_again(tmp_path: Path) -> None:
    settings = WorkersSettings(n_ask=1, explain_seconds=1.0, preload=())
    async with working(tmp_path, settings) as workers:
        with pytest.raises(TaskTimedOut, match="took more than 1 s"):
            await workers.explain({"name": 1, "deaf": True})
        assert workers.state().retries == 0
        assert await workers.explain({"name": 2}) == {"name": 2, "square": 4}


async def test_more_calls_than_may_wait_are_refused(tmp_path: Path) -> None:
    settings = WorkersSettings(n_ask=1, max_waiting=2, preload=())
    async with working(tmp_path, settings) as workers:
        calls = [workers.explain({"name": name, "for_ever": True}) for name in range(3)]
        with pytest.raises(QueueFull, match="2 calls wait already") as raised:
            workers.explain({"name": 3})
        assert raised.value.retry_after == 1.0
        for call in calls:
            call.cancel()
        for call in calls:
            with pytest.raises(TaskCancelled):
                await call


async def test_calls_fail_when_the_workers_are_closed(tmp_path: Path) -> None:
    async with working(tmp_path) as workers:
        calls = [workers.explain({"name": name, "deaf": True}) for name in range(3)]
        await workers.ask("echo", value=0)
    for call in calls:
        with pytest.raises(WorkerError, match="the service is stopping"):
            await call
    with pytest.raises(WorkerError, match="the service is stopping"):
        await workers.ask("echo", value=1)


async def test_workers_may_be_closed_before_they_are_open(tmp_path: Path) -> None:
    workers = Workers(Opener(tmp_path), QUICK)
    starting = asyncio.create_task(workers.start())
    asking = asyncio.create_task(workers.ask("echo", value=1))
    await asyncio.sleep(0)
    await workers.close()
    with pytest.raises(WorkerError, match="closed before they were open"):
        await starting
    with pytest.raises(WorkerError, match="the service is stopping"):
        await asking


async def test_an_error_of_the_opener_is_raised_by_start(tmp_path: Path) -> None:
    workers = Workers(Opener(tmp_path, raises=True), QUICK)
    with pytest.raises(SchemaError, match="there is no such explainer"):
        await workers.start()
    with pytest.raises(SchemaError, match="there is no such explainer"):
        await workers.ask("echo", value=1)
    await workers.close()


def test_the_loop_of_the_server_serves_as_well(tmp_path: Path) -> None:
    async def test() -> None:
        async with working(tmp_path) as workers:
            assert len(await workers.ask("echo", value="x" * 3_000_000)) == 3_000_000
            assert await workers.ask("die", times=1) == "alive after 1"
            call = workers.explain({"name": 1, "for_ever": True})
            call.cancel()
            with pytest.raises(TaskCancelled):
                await call

    uvloop.run(test())


def test_the_process_that_has_workers_loads_neither_model_nor_frames() -> None:
    program = (
        "import sys, proce.server.workers, proce.server.jobs\n"
        "print(sorted({'torch', 'pandas', 'numpy', 'sklearn'} & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "[]\n"
