"""Workers die at random moments, and the result is that of a run without faults."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pandas.testing import assert_frame_equal

from proce import ProCE
from proce.batch.cluster.connection import connect
from proce.batch.cluster.explainer_payload import pack
from proce.batch.cluster.plan import FolderRequest, plan_run
from proce.batch.cluster.run import run_plan

from ... import worlds

OPTIONS = {"target": "yes", "n": 1, "keep_front": False}
SILENT = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


@contextmanager
def process(*words: str, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program of Dask in a group of its own, which ends with the context."""
    line = [sys.executable, "-m", *words]
    started = subprocess.Popen(line, cwd=folder, start_new_session=True, **SILENT)
    try:
        yield started
    finally:
        started.terminate()
        try:
            started.wait(timeout=10)
        except subprocess.TimeoutExpired:
            os.killpg(started.pid, signal.SIGKILL)
            started.wait(timeout=10)


@dataclass(frozen=True)
class Machines:
    """A scheduler and two workers; a guarded worker is started again where it dies."""

    address: str
    started: list[subprocess.Popen[bytes]]
    guarded: bool

    def workers(self) -> list[int]:
        """Return the processes that do the work now."""
        if not self.guarded:
            return [one.pid for one in self.started if one.poll() is None]
        guards = [psutil.Process(one.pid) for one in self.started]
        children = [child for guard in guards for child in guard.children()]
        return sorted(child.pid for child in children if _works(child))


def _works(child: psutil.Process) -> bool:
    """Whether a child of a guard is a worker, whatever it calls itself, and alive."""
    try:
        words = " ".join(child.cmdline())
    except psutil.Error:  # it ended meanwhile
        return False
    return bool(words) and "resource_tracker" not in words


@pytest.fixture
def machines(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Machines]:
    """Start a scheduler and two workers as processes that share nothing but a folder.

    They are guarded, unless the test says otherwise.
    """
    file, home = tmp_path / "scheduler.json", tmp_path / "home"
    home.mkdir()
    guarded = getattr(request, "param", True)
    words = ("--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(file))
    quiet = ("--no-dashboard", "--dashboard-address", "127.0.0.1:0")
    alone = ("--nthreads", "1", "--nanny" if guarded else "--no-nanny", *quiet)
    with ExitStack() as stack:
        stack.enter_context(process("distributed.cli.dask_scheduler", *words, *quiet, folder=home))
        address = wait_for(lambda: file.exists() and json.loads(file.read_text())["address"])
        workers = [
            stack.enter_context(
                process("distributed.cli.dask_worker", address, *alone, folder=home)
            )
            for _ in range(2)
        ]
        yield Machines(address, workers, guarded)


def wait_for(condition: Callable[[], Any], seconds: float = 60) -> Any:
    """Return the first answer that is not empty."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if answer := condition():
            return answer
        time.sleep(0.1)
    raise AssertionError("this did not happen in time")


@contextmanager
def killing(machines: Machines, out: Path, seed: int, n_deaths: int) -> Iterator[list[int]]:
    """Kill workers at random moments once there is a part; yield the list of the dead."""
    draw, ended = np.random.default_rng(seed), threading.Event()
    dead: list[int] = []

    def kill() -> None:
        wait_for(lambda: ended.is_set() or list(out.glob("part-*")))
        while len(dead) < n_deaths and not ended.wait(draw.uniform(0, 1.0)):
            alive = [pid for pid in machines.workers() if pid not in dead]
            if alive:
                victim = int(draw.choice(alive))
                with suppress(ProcessLookupError):  # it ended by itself
                    os.kill(victim, signal.SIGKILL)
                dead.append(victim)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        yield dead
    finally:
        ended.set()
        killer.join(timeout=30)
        assert not killer.is_alive()


def explained(
    clerk: Path,
    shared: Path,
    machines: Machines,
    *,
    sizes: tuple[int, ...],
    seed: int,
    n_deaths: int,
) -> None:
    """Explain a folder while workers die; compare with one process that nothing happens to."""
    frames = {f"{at}.parquet": worlds.people(n, seed=at) for at, n in enumerate(sizes)}
    (shared / "rows").mkdir(parents=True)
    for name, frame in frames.items():
        frame.to_parquet(shared / "rows" / name, index=False)
    request = FolderRequest(
        str(shared / "rows"),
        str(shared / "out"),
        str(shared / "all"),
        OPTIONS,
        piece_rows=2,
        chunk_rows=2,
    )
    plan = plan_run(pack(clerk), request)
    deaths = killing(machines, shared / "out", seed, n_deaths)
    with connect(machines.address) as client, deaths as dead:
        summary = run_plan(plan, client)
    assert dead
    assert not summary.failures
    assert not list(shared.glob("*/.*"))
    explainer = ProCE.load(clerk)
    tables = [pa.Table.from_pandas(frame, preserve_index=False) for frame in frames.values()]
    results = [explainer.explain(table, **OPTIONS) for table in tables]
    for folder, verb in (("out", "to_frame"), ("all", "outcomes")):
        parts = sorted((shared / folder).glob("part-*.parquet"))
        assert len(parts) == len(plan.pieces)
        got = pa.concat_tables(map(pq.read_table, parts)).to_pandas()
        told = [
            getattr(result, verb)().to_pandas().assign(file=name)
            for name, result in zip(frames, results, strict=True)
        ]
        expected = pd.concat(told, ignore_index=True)
        # A linear model's probabilities differ in their last bit by the number of rows asked.
        assert_frame_equal(got, expected[list(got.columns)], check_dtype=False, rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("machines", [False], ids=["unguarded"], indirect=True)
def test_workers_on_other_machines_are_killed_and_nothing_is_lost(
    clerk: Path, tmp_path: Path, machines: Machines
) -> None:
    explained(clerk, tmp_path / "shared", machines, sizes=(12, 0, 4), seed=0, n_deaths=1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 11))
def test_workers_are_killed_again_and_again_and_nothing_is_lost(
    clerk: Path, tmp_path: Path, machines: Machines, seed: int
) -> None:
    explained(clerk, tmp_path / "shared", machines, sizes=(60, 0, 30), seed=seed, n_deaths=4)


@pytest.mark.slow
def test_a_model_that_ends_its_process_is_named_and_the_others_complete(
    tmp_path: Path, machines: Machines
) -> None:
    def fatal(frame: pd.DataFrame) -> Any:
        if (frame["age"] == 77).any() and len(frame) < 100:
            os.kill(os.getpid(), signal.SIGKILL)
        score = (frame["savings"] - frame["debt"]) / 25 - 0.75
        yes = 1 / (1 + np.exp(-score.to_numpy(float)))
        return np.stack([1 - yes, yes], axis=1)

    seen = worlds.people(200)
    explainer = ProCE(fatal, settings=worlds.TINY).fit(seen[seen["age"] != 77])
    rows = tmp_path / "rows"
    rows.mkdir()
    worlds.people(6, seed=1).assign(age=40).to_parquet(rows / "a.parquet", index=False)
    worlds.people(6, seed=2).assign(age=77).to_parquet(rows / "b.parquet", index=False)
    options = {"target": 1, "n": 1, "vary": ["savings"]}
    plan = plan_run(pack(explainer), FolderRequest(str(rows), str(tmp_path / "out"), None, options))
    with connect(machines.address) as client:
        summary = run_plan(plan, client)
    assert set(summary.failures) == {"b.parquet"}
    assert "the worker processes died" in summary.failures["b.parquet"]
    assert summary.rows.tally.total() == 6
