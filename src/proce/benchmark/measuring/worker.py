"""What a worker process of a run does: prepare a world, and measure some of its cells."""

import json
import os
import warnings
from multiprocessing.connection import Connection

from proce.batch.processes.serving import portable, receive, send
from proce.benchmark.folder import RunFolder
from proce.errors import BenchmarkError, ProceError
from proce.files import write_text

BEGUN, DONE, BROKEN = "begun", "done", "broken"


def serve(link: Connection) -> None:
    """Run the cells that the parent names first; the main function of a worker."""
    os.setsid()  # so that everything a method starts can be ended with this process
    try:
        path, ids = receive(link)
        run_cells(path, ids, link)
    except (EOFError, BrokenPipeError):
        return  # the process that started this one is gone
    except Exception as error:
        if not isinstance(error, ProceError):
            error = BenchmarkError(f"{type(error).__name__}: {error}")
        send(link, (BROKEN, portable(error)))


def run_cells(path: str, ids: list[str], outbox: Connection) -> None:
    """Prepare a world and run some of its cells.

    Parameters
    ----------
    path
        The folder of the run.
    ids
        The ids of cells of one world.
    outbox
        Where to send when each cell begins and when it is done.
    """
    from proce.benchmark.measuring.contenders import Contenders
    from proce.benchmark.measuring.measure import run_cell
    from proce.benchmark.measuring.world import World

    warnings.simplefilter("ignore")  # the warnings of a method say nothing about the run
    folder = RunFolder.open(path)
    cells = {cell.id: cell for cell in folder.plan.cells()}
    world = World.prepare(folder.plan, *cells[ids[0]].world)
    name = "_".join(map(str, cells[ids[0]].world))
    write_text(folder.path / "worlds" / f"{name}.json", json.dumps(world.record, indent=1))
    contenders = Contenders(world, folder.plan)
    for cell_id in ids:
        send(outbox, (BEGUN, cell_id))
        send(outbox, (DONE, run_cell(cells[cell_id], world, contenders, folder)))
