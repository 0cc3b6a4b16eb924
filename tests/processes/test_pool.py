"""Workers do tasks, and whatever becomes of them and of what forks them, each task has an end."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from proce.errors import WorkerError
from proce.processes.fork_server import ForkServer, death_words
from proce.processes.pool import PoolSettings, WorkerPool
from proce.processes.spawn_server import SpawnServer
from proce.processes.task import Task, TaskTimedOut, WorkerDied
from proce.processes.worker import OUT_OF_MEMORY, pickled

from .states import Echo

ROOT = Path(__file__).parents[2]
SCRIPT = """
from proce.processes.fork_server import ForkServer
from proce.processes.pool import PoolSettings, WorkerPool
from proce.processes.task import Task
from proce.processes.worker import pickled
"""


@contextmanager
def pooled(
    n_workers: int = 1, state: Callable[[], Any] = Echo, server: Any = None
) -> Iterator[WorkerPool]:
    server = server or ForkServer()
    pool = WorkerPool(pickled(state), server, PoolSettings(n_workers))
    try:
        yield pool
    finally:
        pool.close()
        server.close()
    assert not pool.state().processes


def result(pool: WorkerPool, method: str, seconds: float | None = None, **arguments: Any) -> Any:
    task = Task(method, arguments, seconds=seconds, reports=method == "stall")
    return pool.submit(task).future.result(60)


def parent_of(process: int) -> int:
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


def is_running(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def wait_until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)


@pytest.mark.parametrize("server", [ForkServer, SpawnServer])
def test_tasks_have_values_questions_and_deaths_however_workers_start(server: Any) -> None:
    with pooled(server=server()) as pool:
        assert result(pool, "echo", value="x" * 3_000_000) == "x" * 3_000_000
        task = Task("double", {"numbers": [1, 2, 3]}, reports=True)
        task.on_question = lambda number: task.answer(2 * number)
        assert pool.submit(task).future.result(60) == [2, 4, 6]
        with pytest.raises(WorkerDied, match=r"and so did another before it.*SIGKILL"):
            result(pool, "die")
        with pytest.raises(WorkerDied) as died:
            result(pool, "exit", code=7)
        assert died.value.death == "its process ended with exit code 7"
        assert result(pool, "echo", value=1) == 1


def test_no_worker_is_started_before_there_is_a_task() -> None:
    with pooled(3) as pool:
        assert pool.state().processes == ()
        result(pool, "echo", value=1)
        assert len(pool.state().processes) == 1


@pytest.mark.parametrize(
    "killed", [("worker",), ("server",), ("worker", "server"), ("server", "worker")], ids="+".join
)
def test_whichever_process_is_killed_costs_a_retry(tmp_path: Path, killed: tuple[str]) -> None:
    with pooled() as pool:
        worker = result(pool, "process")
        own = {"worker": worker, "server": parent_of(worker)}
        task = pool.submit(Task("wait_for", {"folder": tmp_path}))
        wait_until(lambda: (tmp_path / str(worker)).exists())
        for name in killed:
            os.kill(own[name], signal.SIGKILL)
        wait_until(lambda: len([*tmp_path.iterdir()]) == 1 + ("worker" in killed))
        (tmp_path / "go").touch()
        assert (task.future.result(60) == worker) == ("worker" not in killed)


def test_a_server_that_dies_in_its_imports_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, trace = tmp_path / "dies_once.py", tmp_path / "trace"
    module.write_text(
        f"import os, pathlib\ntrace = pathlib.Path({str(trace)!r})\n"
        "if not trace.exists():\n    trace.touch()\n    os.kill(os.getpid(), 9)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    with pooled(server=ForkServer(["dies_once"])) as pool:
        assert result(pool, "echo", value=1) == 1
    assert trace.exists()


def test_a_worker_is_alone_in_its_session_with_one_thread_and_is_ended_first() -> None:
    with pooled() as pool:
        told = result(pool, "surroundings")
    assert told["threads"] == {1}
    assert told["session"] != os.getsid(0)
    own = int(Path("/proc/self/oom_score_adj").read_text())
    assert told["oom_score"] == min(own + 500, 1000)


def test_only_the_parent_ends_workers_that_are_asked_to_end(tmp_path: Path) -> None:
    with pooled() as pool:
        task = pool.submit(Task("wait_for", {"folder": tmp_path}))
        wait_until(lambda: [*tmp_path.iterdir()])
        (worker,) = pool.state().processes
        for process in (parent_of(worker), worker):
            os.kill(process, signal.SIGTERM)
        (tmp_path / "go").touch()
        assert task.future.result(60) == worker


def test_a_dead_worker_is_noticed_though_its_child_lives() -> None:
    with pooled() as pool:
        with pytest.raises(WorkerDied, match="SIGKILL"):
            result(pool, "leave_child")
        assert result(pool, "echo", value=1) == 1


@pytest.mark.parametrize("with_server", [False, True])
def test_workers_end_when_their_parent_is_killed(tmp_path: Path, with_server: bool) -> None:
    program = SCRIPT + (
        "from pathlib import Path\n"
        "from tests.processes.states import Echo\n"
        "pool = WorkerPool(pickled(Echo), ForkServer(), PoolSettings(1))\n"
        f"folder = {{'folder': Path({str(tmp_path)!r})}}\n"
        "pool.submit(Task('go_on', folder, reports=True)).future.result()\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", program], cwd=ROOT)
    wait_until(lambda: [*tmp_path.iterdir()])
    worker = int(next(tmp_path.iterdir()).name)
    server = parent_of(worker)
    for process in [server] * with_server + [parent.pid]:
        os.kill(process, signal.SIGKILL)
    parent.wait(10)
    wait_until(lambda: not any(is_running(process) for process in (worker, server)))


def test_what_cannot_be_sent_is_said_at_once() -> None:
    with pytest.raises(WorkerError, match="cannot be sent to them: cannot pickle"):
        pickled(partial(Echo, threading.Lock()))  # type: ignore[call-arg]


def test_a_server_that_dies_again_and_again_is_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "dies_always.py").write_text("import os\nos._exit(1)\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with (
        pooled(server=ForkServer(["dies_always"])) as pool,
        pytest.raises(WorkerDied, match="no worker can be made: the process that makes"),
    ):
        result(pool, "echo", value=1)


def test_an_answer_that_stops_in_the_middle_is_ended_in_time() -> None:
    with pooled() as pool:
        with pytest.raises(TaskTimedOut, match=r"took more than 0\.5 s"):
            result(pool, "stall", seconds=0.5)
        assert result(pool, "echo", value=1) == 1


def test_a_pool_is_closed_while_its_server_still_imports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "slow_import.py").write_text("import time\ntime.sleep(60)\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pooled(server=ForkServer(["slow_import"])) as pool:
        task = pool.submit(Task("echo", {"value": 1}))
        wait_until(lambda: pool.server._server is not None)  # type: ignore[attr-defined]
    with pytest.raises(WorkerError, match="the workers are closed"):
        task.future.result(0)
    assert not [own for own in threading.enumerate() if own.name == "proce-worker"]


def test_one_server_has_several_pools() -> None:
    server = ForkServer()
    with pooled(server=server) as one:
        other = WorkerPool(pickled(Echo), server, PoolSettings(1))
        processes = [result(pool, "process") for pool in (one, other)]
        assert len({*processes}) == 2
        assert len({*map(parent_of, processes)}) == 1
        other.close()
        assert result(one, "process") == processes[0]


def test_a_script_that_starts_workers_is_not_run_again_by_them(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        f"{SCRIPT}class Own:\n"
        "    def cube(self, number): return number ** 3\n"
        "pool = WorkerPool(pickled(Own), ForkServer(), PoolSettings(2))\n"
        "print(pool.submit(Task('cube', {'number': 3})).future.result())\n"
    )  # nor does it hang at its end, though nobody closes the pool
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, timeout=120, cwd=ROOT
    )
    assert (done.stdout, done.stderr) == ("27\n", "")


def test_a_program_that_is_forked_leaves_its_workers_to_its_parent() -> None:
    with pooled() as pool:
        result(pool, "echo", value=1)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(os, "getpid", lambda: -1)  # as in a fork
            pool.server.close()  # type: ignore[attr-defined]
        assert result(pool, "echo", value=2) == 2


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (None, "its process ended"),
        (3, "its process ended with exit code 3"),
        (-11, "its process was ended by SIGSEGV"),
        (-99, "its process was ended by signal 99"),
        (OUT_OF_MEMORY, "it ran out of memory"),
    ],
)
def test_deaths_are_told_in_words(code: int | None, words: str) -> None:
    assert death_words(code) == words
