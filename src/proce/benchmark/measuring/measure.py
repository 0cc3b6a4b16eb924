"""One cell of a plan: a method explains the rows of a world, and is measured."""

import time
import traceback
from collections import Counter
from typing import Any

import pandas as pd

from proce.benchmark.folder import RunFolder
from proce.benchmark.measuring.contenders import Contenders
from proce.benchmark.measuring.world import World
from proce.benchmark.plan import PlanCell
from proce.errors import BenchmarkError
from proce.explanation import Explanation, Explanations, Outcome
from proce.methods.published.dice.dice import TOOK_TOO_LONG
from proce.metrics import evaluate


def run_cell(cell: PlanCell, world: World, contenders: Contenders, folder: RunFolder) -> bool:
    """Run a cell and record it; return whether the method succeeded.

    Of a method that raises, the error is recorded, and the cell counts as failed.
    """
    try:
        record, metrics, rows = _measure(cell, world, contenders)
    except Exception as error:
        if isinstance(error, BenchmarkError):
            raise
        failed = {"status": "failed", "error": f"{type(error).__name__}: {error}"}
        folder.write(cell, failed | {"traceback": traceback.format_exc()})
        return False
    folder.write(cell, record, metrics, rows)
    return True


def _measure(
    cell: PlanCell, world: World, contenders: Contenders
) -> tuple[dict[str, Any], pd.DataFrame, pd.DataFrame]:
    """Return the record of a cell, its measures and its counterfactuals."""
    contender = contenders.contender(cell.variant)
    contender.explain(world.factual.iloc[:1])  # compiles and fills caches, so that neither is timed
    wall, cpu = time.perf_counter(), time.process_time()
    result = contender.explain(world.factual)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    measuring_start = time.perf_counter()
    measured = evaluate_result(world, result)
    n = len(world.factual)
    record = {
        "status": "done",
        "rows": n,
        "outcomes": dict(Counter(str(item.outcome) for item in result)),
        "out_of_time_share": sum(map(_ran_out_of_time, result)) / n,
        "fit_seconds": contender.fit_seconds,
        "seconds_per_row": wall / n,
        "cpu_seconds_per_row": cpu / n,
        "evaluations_per_row": result.provenance.evaluations / n,
        "measuring_seconds": time.perf_counter() - measuring_start,
    }
    rows = pd.DataFrame(result.to_frame()).reset_index(names="index_label")
    return record, measured, rows


def _ran_out_of_time(item: Explanation) -> bool:
    """Return whether a row was given up for its time: the call's, or DiCE's own for a row."""
    late = any(note.startswith(TOOK_TOO_LONG) for note in item.notes)
    return late or item.outcome is Outcome.OUT_OF_TIME


def evaluate_result(world: World, result: Explanations) -> pd.DataFrame:
    """Return every measure of a result: one line per row, rank and measure."""
    data = world.data
    follows = any("~>" in rule for rule in data.rules)  # or no equation is asked for
    measured = evaluate(
        result,
        model=world.model,
        train=world.train,
        rules=data.rules,
        graph=world.equations if follows else None,
        truth=None if data.truth is None else data.truth.with_codec(world.codec),
        recourse_schema=data.recourse_schema,
        judges=world.judges,
        neighbourhood=world.neighbourhood,
        refits=world.refits,
    )
    return measured.frame
