"""What a worker process of a run holds: the world of some cells, which it measures one by one.

The process that starts workers imports this module too, and nothing that learns.
"""

import json
import warnings
from collections.abc import Callable
from dataclasses import dataclass

from proce.benchmark.folder import RunFolder
from proce.benchmark.plan import PlanCell
from proce.errors import BenchmarkError, ProceError
from proce.files import write_text

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
