"""Run a plan over processes; a method that crashes or hangs costs its cell, never the run."""

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
from proce.benchmark.plan import Cell, Plan
from proce.errors import BenchmarkError, MissingExtraError
from proce.files import write_text

_LOOK_EVERY = 0.5  # seconds between two looks at the clocks of the cells
_PREPARING = 3600.0  # seconds for a split, a classifier and what cells share
_NEEDS = {"Dice": "dice_ml", "Certifai": "pygad"}


@dataclass(frozen=True)
class RunProgress:
    """How far a run has come.

    Attributes
    ----------
    done, total
        Cells.
    failed
        Of those done.
    cell
        The one that ended last.
    stage
        What is counted.
    """

    done: int
    total: int
    failed: int
    cell: str
    stage: str = "cells"


def run_plan(
    plan: Plan,
    path: str | Path,
    *,
    jobs: int | None = None,
    resume: bool = False,
    progress: Callable[[RunProgress], object] | None = None,
) -> RunFolder:
    """Run every cell of a plan that is not done yet.

    Parameters
    ----------
    plan
        What to measure.
    path
        The run's folder.
    jobs
        Processes, one thread each; by default as many as there are cores.
    resume
        Go on with a run that was stopped.
    progress
        Called after every cell.
    """
    _check_extras(plan)
    folder = RunFolder.create(path, plan, resume=resume)
    with folder.locked():
        cells = list(plan.cells())
        left = [cell for cell in cells if not folder.is_done(cell)]
        worlds = [list(group) for _, group in groupby(left, key=lambda cell: cell.world)]
        _Crew(folder, worlds, len(cells), progress).work(jobs or os.cpu_count() or 1)
    return folder


def _check_extras(plan: Plan) -> None:
    for variant in plan.variants:
        package = _NEEDS.get(variant.method)
        if package and find_spec(package) is None:
            raise MissingExtraError(
                f"{variant.name} needs the package {package}, which is not installed; install it"
                " with: pip install 'proce[bench]'"
            )


@dataclass(eq=False)
class _Worker:
    """A process that works through the cells of one world."""

    process: Any
    inbox: Connection
    cells: list[Cell]
    now: Cell | None = None
    since: float = field(default_factory=time.monotonic)

    def overdue(self, cell_seconds: float) -> bool:
        """Tell whether it has worked too long on what it does now."""
        limit = _PREPARING if self.now is None else cell_seconds
        return time.monotonic() - self.since > limit

    def end(self) -> None:
        """End the process and whatever it started."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()
        self.process.join()
        self.inbox.close()


class _Crew:
    """Hands worlds to workers, and watches their clocks."""

    def __init__(
        self,
        folder: RunFolder,
        worlds: Iterable[list[Cell]],
        total: int,
        progress: Callable[[RunProgress], object] | None,
    ) -> None:
        self.folder, self.worlds, self.progress = folder, list(worlds), progress
        self.total, self.failed = total, 0
        self.left = sum(map(len, self.worlds))
        self.workers: list[_Worker] = []

    def work(self, jobs: int) -> None:
        """Work until every cell is done; ends all workers, whatever happens."""
        limit = self.folder.plan.cell_seconds
        try:
            while self.worlds or self.workers:
                while self.worlds and len(self.workers) < jobs:
                    self.workers.append(self._hire(self.worlds.pop(0)))
                ready = wait([worker.inbox for worker in self.workers], timeout=_LOOK_EVERY)
                for worker in list(self.workers):
                    if worker.inbox in ready:
                        self._hear(worker)
                    elif worker.overdue(limit):
                        self._lost(worker, f"it ran past the limit of {limit:g} seconds")
        finally:
            for worker in self.workers:
                worker.end()

    def _hire(self, cells: list[Cell]) -> _Worker:
        inbox, outbox = get_context("spawn").Pipe(duplex=False)
        ids = [cell.id for cell in cells]
        process = get_context("spawn").Process(
            target=work_through, args=(str(self.folder.path), ids, outbox)
        )
        process.start()
        outbox.close()
        return _Worker(process, inbox, cells)

    def _hear(self, worker: _Worker) -> None:
        """Take in one message, or find that the worker is gone."""
        try:
            kind, content = worker.inbox.recv()
        except (EOFError, OSError):
            if worker.cells:
                worker.process.join(timeout=5)
                self._lost(worker, f"its process died (exit code {worker.process.exitcode})")
            else:
                self._dismiss(worker)
            return
        worker.since = time.monotonic()
        if kind == "broken":
            raise BenchmarkError(content)
        if kind == "began":
            worker.now = worker.cells[0]
        if kind == "done":
            self._done(worker, worker.cells.pop(0), went_well=content)

    def _lost(self, worker: _Worker, why: str) -> None:
        """Write down a cell that killed its worker or ran too long; go on with the others."""
        self._dismiss(worker)
        if worker.now is None:
            raise BenchmarkError(f"the world of {worker.cells[0].id} could not be prepared: {why}.")
        cell = worker.cells.pop(0)
        if not self.folder.is_done(cell):
            self.folder.write(cell, {"status": "failed", "error": why})
        self._done(worker, cell, went_well=False)
        if worker.cells:
            self.worlds.insert(0, worker.cells)

    def _dismiss(self, worker: _Worker) -> None:
        self.workers.remove(worker)
        worker.end()

    def _done(self, worker: _Worker, cell: Cell, went_well: bool) -> None:
        worker.now = None if not worker.cells else worker.cells[0]
        self.left -= 1
        self.failed += not went_well
        if self.progress is not None:
            done = self.total - self.left
            self.progress(RunProgress(done, self.total, self.failed, cell.id))


def work_through(path: str, ids: list[str], outbox: Connection) -> None:
    """Prepare a world and run some of its cells, one thread, telling when each is done."""
    os.setsid()  # so that everything a method starts can be ended with this process
    import torch

    from proce.benchmark.contenders import Contenders
    from proce.benchmark.measure import run_cell
    from proce.benchmark.world import World

    torch.set_num_threads(1)
    warnings.simplefilter("ignore")  # what a method warns of is no news here
    folder = RunFolder.open(path)
    cells = {cell.id: cell for cell in folder.plan.cells()}
    try:
        world = World.prepare(folder.plan, *cells[ids[0]].world)
        name = "_".join(map(str, cells[ids[0]].world))
        write_text(folder.path / "worlds" / f"{name}.json", json.dumps(world.record, indent=1))
        contenders = Contenders(world, folder.plan)
        for each in ids:
            outbox.send(("began", each))
            outbox.send(("done", run_cell(cells[each], world, contenders, folder)))
    except BrokenPipeError:
        return  # nobody waits for this any more
    except Exception as error:
        outbox.send(("broken", f"{type(error).__name__}: {error}"))
