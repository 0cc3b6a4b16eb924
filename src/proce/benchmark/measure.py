"""One cell: a method explains the rows of a world, and is measured."""

import time
import traceback
from collections import Counter
from typing import Any

import pandas as pd

from proce.benchmark.contenders import Contenders
from proce.benchmark.folder import RunFolder
from proce.benchmark.plan import Cell
from proce.benchmark.world import World
from proce.errors import BenchmarkError
from proce.explanation import Explanations
from proce.metrics import evaluate


def run_cell(cell: Cell, world: World, contenders: Contenders, folder: RunFolder) -> bool:
    """Run a cell and write it; return whether it went well.

    A method that fails costs its cell: the error is written down.
    """
    try:
        record, metrics, rows = _measured(cell, world, contenders)
    except Exception as error:
        if isinstance(error, BenchmarkError):
            raise
        failed = {"status": "failed", "error": f"{type(error).__name__}: {error}"}
        folder.write(cell, failed | {"traceback": traceback.format_exc()})
        return False
    folder.write(cell, record, metrics, rows)
    return True


def _measured(
    cell: Cell, world: World, contenders: Contenders
) -> tuple[dict[str, Any], pd.DataFrame, pd.DataFrame]:
    contender = contenders.of(cell.variant)
    contender.explain(world.factual.iloc[:1])  # compiles and fills caches: not timed
    wall, cpu = time.perf_counter(), time.process_time()
    result = contender.explain(world.factual)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    began = time.perf_counter()
    measured = evaluated(world, result)
    n = len(world.factual)
    record = {
        "status": "done",
        "rows": n,
        "outcomes": dict(Counter(str(item.outcome) for item in result)),
        "fit_seconds": contender.fit_seconds,
        "seconds_per_row": wall / n,
        "cpu_seconds_per_row": cpu / n,
        "evaluations_per_row": result.provenance.evaluations / n,
        "measuring_seconds": time.perf_counter() - began,
    }
    rows = pd.DataFrame(result.to_frame()).reset_index(names="index_label")
    return record, measured, rows


def evaluated(world: World, result: Explanations) -> pd.DataFrame:
    """Return every measure of a result, one line per row and measure."""
    data = world.data
    measured = evaluate(
        result,
        model=world.model,
        train=world.train,
        rules=data.rules,
        graph=world.equations,
        truth=None if data.truth is None else data.truth.with_codec(world.codec),
        recourse_schema=data.recourse_schema,
        judges=world.judges,
        neighbourhood=world.neighbourhood,
        refits=world.refits,
    )
    return measured.frame
