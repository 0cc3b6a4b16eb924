"""Run a plan over processes.

A method that crashes or hangs costs its cell: the cell is recorded as failed, and the run goes on.
"""

import json
import os
import signal
import time
import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import groupby
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from proce.benchmark.folder import RunFolder
from proce.benchmark.plan import Plan, PlanCell
from proce.errors import BenchmarkError, MissingExtraError
from proce.files import write_text

_POLL_SECONDS = 0.5  # between two looks at the clocks of the workers
_MAX_PREPARE_SECONDS = 3600.0  # for a split, a classifier and what the cells of a world share
_REQUIRED_PACKAGES = {"Dice": "dice_ml", "Certifai": "pygad"}


@dataclass(frozen=True)
class RunProgress:
    """How far a run has come.

    Attributes
    ----------
    done, total
        How many cells are finished, and how many there are.
    failed
        How many of the finished cells failed in this process.
    cell
        The id of the cell that was finished last.
    stage
        What is counted: cells.
    """

    done: int
    total: int
    failed: int
    cell: str
    stage: str = "cells"


ProgressCallback = Callable[[RunProgress], object]


def run_plan(
    plan: Plan,
    path: str | Path,
    *,
    jobs: int | None = None,
    resume: bool = False,
    progress: ProgressCallback | None = None,
) -> RunFolder:
    """Run every cell of a plan that is not finished.

    Parameters
    ----------
    plan
        The plan.
    path
        The folder of the run.
    jobs
        How many processes, with one thread each; by default as many as there are cores.
    resume
        Whether to go on with a run that was stopped.
    progress
        Called after every cell.

    Returns
    -------
    RunFolder
        The folder with every cell recorded.
    """
    _require_extras(plan)
    folder = RunFolder.create(path, plan, resume=resume)
    with folder.locked():
        cells = list(plan.cells())
        unfinished = [cell for cell in cells if not folder.is_done(cell)]
        worlds = [list(group) for _, group in groupby(unfinished, key=lambda cell: cell.world)]
        _WorkerPool(folder, worlds, len(cells), progress).run(jobs or os.cpu_count() or 1)
    return folder


def _require_extras(plan: Plan) -> None:
    for variant in plan.variants:
        package = _REQUIRED_PACKAGES.get(variant.method)
        if package and find_spec(package) is None:
            raise MissingExtraError(
                f"{variant.name} needs the package {package}, which is not installed; install it"
                " with: pip install 'proce[bench]'"
            )


@dataclass(eq=False)
class _Worker:
    """A process that runs the cells of one world.

    Attributes
    ----------
    process, inbox
        The process, and the pipe on which it sends messages.
    cells
        The cells that are not finished, in their order.
    current
        The cell that it runs now; ``None`` while it prepares the world.
    current_since
        When it began with that, by the monotonic clock.
    """

    process: Any
    inbox: Connection
    cells: list[PlanCell]
    current: PlanCell | None = None
    current_since: float = field(default_factory=time.monotonic)

    def is_overdue(self, cell_seconds: float) -> bool:
        """Return whether the worker has been busy too long with its cell or its world."""
        limit = _MAX_PREPARE_SECONDS if self.current is None else cell_seconds
        return time.monotonic() - self.current_since > limit

    def end(self) -> None:
        """End the process and whatever it started."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()
        self.process.join()
        self.inbox.close()


class _WorkerPool:
    """Hands worlds to workers, and watches their clocks.

    Parameters
    ----------
    folder
        The folder of the run.
    worlds
        For each world, its cells that are not finished.
    total
        How many cells the plan has, finished or not.
    progress
        Called after every cell.
    """

    def __init__(
        self,
        folder: RunFolder,
        worlds: Iterable[list[PlanCell]],
        total: int,
        progress: ProgressCallback | None,
    ) -> None:
        self.folder, self.worlds, self.progress = folder, list(worlds), progress
        self.total, self.failed = total, 0
        self.unfinished = sum(map(len, self.worlds))
        self.workers: list[_Worker] = []

    def run(self, jobs: int) -> None:
        """Run until every cell is finished; whatever happens, no worker is left behind."""
        limit = self.folder.plan.cell_seconds
        try:
            while self.worlds or self.workers:
                while self.worlds and len(self.workers) < jobs:
                    self.workers.append(self._start_worker(self.worlds.pop(0)))
                ready = wait([worker.inbox for worker in self.workers], timeout=_POLL_SECONDS)
                for worker in list(self.workers):
                    if worker.inbox in ready:
                        self._receive(worker)
                    elif worker.is_overdue(limit):
                        self._give_up(worker, f"it ran past the limit of {limit:g} seconds")
        finally:
            for worker in self.workers:
                worker.end()

    def _start_worker(self, cells: list[PlanCell]) -> _Worker:
        inbox, outbox = get_context("spawn").Pipe(duplex=False)
        ids = [cell.id for cell in cells]
        process = get_context("spawn").Process(
            target=run_cells, args=(str(self.folder.path), ids, outbox)
        )
        process.start()
        outbox.close()
        return _Worker(process, inbox, cells)

    def _receive(self, worker: _Worker) -> None:
        """Take in one message of a worker, or notice that the worker is gone."""
        try:
            kind, content = worker.inbox.recv()
        except (EOFError, OSError):
            if worker.cells:
                worker.process.join(timeout=5)
                self._give_up(worker, f"its process died (exit code {worker.process.exitcode})")
            else:
                self._remove(worker)
            return
        worker.current_since = time.monotonic()
        if kind == "broken":
            raise BenchmarkError(content)
        if kind == "began":
            worker.current = worker.cells[0]
        if kind == "done":
            self._finish_cell(worker, worker.cells.pop(0), succeeded=content)

    def _give_up(self, worker: _Worker, reason: str) -> None:
        """End a worker, record its cell as failed, and leave its other cells to a new worker."""
        self._remove(worker)
        if worker.current is None:
            first = worker.cells[0].id
            raise BenchmarkError(f"the world of {first} could not be prepared: {reason}.")
        cell = worker.cells.pop(0)
        if not self.folder.is_done(cell):
            self.folder.write(cell, {"status": "failed", "error": reason})
        self._finish_cell(worker, cell, succeeded=False)
        if worker.cells:
            self.worlds.insert(0, worker.cells)

    def _remove(self, worker: _Worker) -> None:
        self.workers.remove(worker)
        worker.end()

    def _finish_cell(self, worker: _Worker, cell: PlanCell, succeeded: bool) -> None:
        worker.current = worker.cells[0] if worker.cells else None
        self.unfinished -= 1
        self.failed += not succeeded
        if self.progress is not None:
            done = self.total - self.unfinished
            self.progress(RunProgress(done, self.total, self.failed, cell.id))


def run_cells(path: str, ids: list[str], outbox: Connection) -> None:
    """Prepare a world and run some of its cells on one thread; the main function of a worker.

    Parameters
    ----------
    path
        The folder of the run.
    ids
        The ids of cells of one world.
    outbox
        Where to send when each cell begins and when it is done.
    """
    os.setsid()  # so that everything a method starts can be ended with this process
    import torch

    from proce.benchmark.contenders import Contenders
    from proce.benchmark.measure import run_cell
    from proce.benchmark.world import World

    torch.set_num_threads(1)
    warnings.simplefilter("ignore")  # the warnings of a method say nothing about the run
    folder = RunFolder.open(path)
    cells = {cell.id: cell for cell in folder.plan.cells()}
    try:
        world = World.prepare(folder.plan, *cells[ids[0]].world)
        name = "_".join(map(str, cells[ids[0]].world))
        write_text(folder.path / "worlds" / f"{name}.json", json.dumps(world.record, indent=1))
        contenders = Contenders(world, folder.plan)
        for cell_id in ids:
            outbox.send(("began", cell_id))
            outbox.send(("done", run_cell(cells[cell_id], world, contenders, folder)))
    except BrokenPipeError:
        return  # the process that started this one is gone
    except Exception as error:
        outbox.send(("broken", f"{type(error).__name__}: {error}"))
