"""Run a plan over processes.

A method that crashes twice or hangs costs its cell, which is recorded as failed; the run goes on.
"""

import json
import logging
import warnings
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from queue import SimpleQueue

from proce.benchmark.folder import RunFolder
from proce.benchmark.plan import Plan, PlanCell
from proce.errors import BenchmarkError, MissingExtraError, ProceError
from proce.files import write_text
from proce.processes.fork_server import ForkServer
from proce.processes.pool import PoolSettings, WorkerPool
from proce.processes.task import Task, TaskTimedOut, WorkerDied
from proce.processes.worker import pickled
from proce.processors import n_usable

_log = logging.getLogger(__name__)
_MAX_PREPARE_SECONDS = 3600.0  # for a split, a classifier and what the cells of a world share
_REQUIRED_PACKAGES = {"Dice": "dice_ml", "Certifai": "pygad"}


@dataclass(frozen=True)
class RunProgress:
    """How far a run has come."""

    # done, total: how many cells are finished, and how many there are
    done: int
    total: int
    failed: int  # how many of the finished cells failed in this process
    cell: str  # the id of the cell that was finished last
    stage: str = "cells"  # what is counted: cells


ProgressCallback = Callable[[RunProgress], object]


def run_plan(
    plan: Plan,
    path: str | Path,
    *,
    jobs: int | None = None,
    resume: bool = False,
    progress: ProgressCallback | None = None,
) -> RunFolder:
    """Run every cell of a plan that is not finished."""
    _require_extras(plan)
    folder = RunFolder.create(path, plan, resume=resume)
    with folder.locked() as lock:
        folder.remove_drafts()
        cells = list(plan.cells())
        unfinished = [cell for cell in cells if not _is_whole(folder, cell)]
        worlds = [list(group) for _, group in groupby(unfinished, key=lambda cell: cell.world)]
        _PlanRun(folder, worlds, len(cells), progress, lock).run(jobs or n_usable())
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
class _World:
    """The cells of one world that are not finished, in their order, and the worker that has it."""

    pool: WorkerPool
    cells: list[PlanCell]
    task: Task = field(init=False)  # of the first of them


class _PlanRun:
    """Hands worlds to workers, each to one of its own, and records what becomes of their cells."""

    def __init__(
        self,
        folder: RunFolder,
        worlds: Iterable[list[PlanCell]],
        total: int,
        progress: ProgressCallback | None,
        lock: int,  # workers hold it too: who takes the run up again waits until they are gone
    ) -> None:
        self.folder, self.waiting, self.progress = folder, deque(worlds), progress
        self.total, self.failed = total, 0
        self.unfinished = sum(map(len, self.waiting))
        self.worlds: list[_World] = []  # that have a worker
        self.ended: SimpleQueue[_World] = SimpleQueue()  # whose next cell has
        self.server = ForkServer(PRELOADED, held=[lock])

    def run(self, jobs: int) -> None:
        """Run until every cell is finished; whatever happens, no worker is left behind."""
        try:
            while self.waiting or self.worlds:
                while self.waiting and len(self.worlds) < jobs:
                    self._open(self.waiting.popleft())
                world = self.ended.get()
                self._finish_cell(world, world.cells.pop(0))
                if world.cells:
                    self._submit(world)
                else:
                    world.pool.close()
                    self.worlds.remove(world)
        finally:
            for world in self.worlds:
                world.pool.close()
            self.server.close()

    def _open(self, cells: list[PlanCell]) -> None:
        prepare = partial(prepare_world, str(self.folder.path), cells[0])
        settings = PoolSettings(1, open_seconds=_MAX_PREPARE_SECONDS)
        world = _World(WorkerPool(pickled(prepare), self.server, settings), cells)
        self.worlds.append(world)
        self._submit(world)

    def _submit(self, world: _World) -> None:
        """Have the next cell of a world run."""
        seconds = self.folder.plan.cell_seconds
        world.task = Task("run", {"cell": world.cells[0]}, seconds=seconds)
        world.task.future.add_done_callback(lambda _: self.ended.put(world))
        world.pool.submit(world.task)

    def _finish_cell(self, world: _World, cell: PlanCell) -> None:
        """Count a cell that has ended; one whose worker died or was ended is recorded as failed."""
        error = world.task.future.exception()
        succeeded = error is None and world.task.future.result()
        if error is not None:
            if not isinstance(error, TaskTimedOut | WorkerDied):
                raise error
            reason = getattr(error, "death", "") or str(error)
            if not world.task.has_begun:
                raise BenchmarkError(f"the world of {cell.id} could not be prepared: {reason}")
            if isinstance(error, TaskTimedOut):
                reason = f"it ran past the limit of {self.folder.plan.cell_seconds:g} seconds"
            if not self.folder.is_done(cell):
                self.folder.write(cell, {"status": "failed", "error": reason})
        self.unfinished -= 1
        self.failed += not succeeded
        if self.progress is not None:
            done = self.total - self.unfinished
            self.progress(RunProgress(done, self.total, self.failed, cell.id))


PRELOADED = (
    "proce.benchmark.measuring.contenders",
    "proce.benchmark.measuring.measure",
    "proce.benchmark.measuring.world",
)


@dataclass(frozen=True, eq=False)
class PreparedWorld:
    """A world whose cells are run and recorded; ``run`` tells whether it succeeded."""

    run: Callable[[PlanCell], bool]


def prepare_world(path: str, cell: PlanCell) -> PreparedWorld:
    """Prepare the world of a cell of a run, in a worker process."""
    warnings.simplefilter("ignore")  # the warnings of a method say nothing about the run
    try:
        return _prepare(RunFolder.open(path), cell)
    except ProceError:
        raise
    except Exception as error:
        raise BenchmarkError(f"{type(error).__name__}: {error}") from error


def _prepare(folder: RunFolder, cell: PlanCell) -> PreparedWorld:
    from proce.benchmark.measuring.contenders import Contenders
    from proce.benchmark.measuring.measure import run_cell
    from proce.benchmark.measuring.world import World

    world = World.prepare(folder.plan, *cell.world)
    name = "_".join(map(str, cell.world))
    write_text(folder.path / "worlds" / f"{name}.json", json.dumps(world.record, indent=1))
    contenders = Contenders(world, folder.plan)
    return PreparedWorld(lambda cell: run_cell(cell, world, contenders, folder))
