"""Run a plan over processes.

A method that crashes or hangs costs its cell: the cell is recorded as failed, and the run goes on.
"""

import logging
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import groupby
from multiprocessing.connection import Connection, wait
from pathlib import Path

from proce.batch.processes.nursery import Nursery, end_process
from proce.batch.processes.serving import receive, send
from proce.batch.processes.worker import death_words
from proce.benchmark.folder import RunFolder
from proce.benchmark.measuring.worker import BEGUN, BROKEN, DONE
from proce.benchmark.plan import Plan, PlanCell
from proce.errors import BenchmarkError, MissingExtraError
from proce.processors import n_usable

_log = logging.getLogger(__name__)
_SERVING = "proce.benchmark.measuring.worker"
_PRELOAD = (
    "proce.benchmark.measuring.contenders",
    "proce.benchmark.measuring.measure",
    "proce.benchmark.measuring.world",
)

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
    with folder.locked() as lock:
        folder.remove_drafts()
        cells = list(plan.cells())
        unfinished = [cell for cell in cells if not _is_whole(folder, cell)]
        worlds = [list(group) for _, group in groupby(unfinished, key=lambda cell: cell.world)]
        _WorkerPool(folder, worlds, len(cells), progress, lock).run(jobs or n_usable())
    return folder


def _is_whole(folder: RunFolder, cell: PlanCell) -> bool:
    """Return whether a cell is finished; one that lost something since is told, and run again."""
    if not folder.is_done(cell):
        return False
    try:
        folder.check(cell)
    except BenchmarkError as error:
        _log.warning("%s The cell is run again.", error)
        return False
    return True


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
    nursery, process, inbox
        What made the process, its number, and the pipe on which it sends messages.
    cells
        The cells that are not finished, in their order.
    current
        The cell that it runs now; ``None`` while it prepares the world.
    current_since
        When it began with that, by the monotonic clock.
    """

    nursery: Nursery
    process: int
    inbox: Connection
    cells: list[PlanCell]
    current: PlanCell | None = None
    current_since: float = field(default_factory=time.monotonic)

    def is_overdue(self, cell_seconds: float) -> bool:
        """Return whether the worker has been busy too long with its cell or its world."""
        limit = _MAX_PREPARE_SECONDS if self.current is None else cell_seconds
        return time.monotonic() - self.current_since > limit

    def end(self) -> int | None:
        """End the process and whatever it started; return its exit code, where that is known."""
        end_process(self.process)
        self.inbox.close()
        return self.nursery.exit_code(self.process)


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
    lock
        The file of the run's lock, which workers hold too: whoever takes the run up again waits
        until they are gone.
    """

    def __init__(
        self,
        folder: RunFolder,
        worlds: Iterable[list[PlanCell]],
        total: int,
        progress: ProgressCallback | None,
        lock: int,
    ) -> None:
        self.folder, self.worlds, self.progress = folder, list(worlds), progress
        self.total, self.failed = total, 0
        self.unfinished = sum(map(len, self.worlds))
        self.workers: list[_Worker] = []
        self.lock = lock

    def run(self, jobs: int) -> None:
        """Run until every cell is finished; whatever happens, no worker is left behind."""
        if not self.worlds:
            return
        limit = self.folder.plan.cell_seconds
        self.nursery = Nursery(_PRELOAD, _SERVING, held=[self.lock])
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
            self.nursery.end()

    def _start_worker(self, cells: list[PlanCell]) -> _Worker:
        process, inbox = self.nursery.make_worker()
        send(inbox, (str(self.folder.path), [cell.id for cell in cells]))
        return _Worker(self.nursery, process, inbox, cells)

    def _receive(self, worker: _Worker) -> None:
        """Take in one message of a worker, or notice that the worker is gone."""
        try:
            kind, content = receive(worker.inbox)
        except (EOFError, OSError):
            if worker.cells:
                self._give_up(worker)
            else:
                self._remove(worker)
            return
        worker.current_since = time.monotonic()
        if kind == BROKEN:
            raise content
        if kind == BEGUN:
            worker.current = worker.cells[0]
        if kind == DONE:
            self._finish_cell(worker, worker.cells.pop(0), succeeded=content)

    def _give_up(self, worker: _Worker, reason: str | None = None) -> None:
        """End a worker, record its cell as failed, and leave its other cells to a new worker."""
        exit_code = self._remove(worker)
        reason = reason or death_words(exit_code)
        if worker.current is None:
            first = worker.cells[0].id
            raise BenchmarkError(f"the world of {first} could not be prepared: {reason}.")
        cell = worker.cells.pop(0)
        if not self.folder.is_done(cell):
            self.folder.write(cell, {"status": "failed", "error": reason})
        self._finish_cell(worker, cell, succeeded=False)
        if worker.cells:
            self.worlds.insert(0, worker.cells)

    def _remove(self, worker: _Worker) -> int | None:
        self.workers.remove(worker)
        return worker.end()

    def _finish_cell(self, worker: _Worker, cell: PlanCell, succeeded: bool) -> None:
        worker.current = worker.cells[0] if worker.cells else None
        self.unfinished -= 1
        self.failed += not succeeded
        if self.progress is not None:
            done = self.total - self.unfinished
            self.progress(RunProgress(done, self.total, self.failed, cell.id))
