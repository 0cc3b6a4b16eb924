"""One point: fit and explain a table of a given shape, alone in a process of its own."""

import json
import resource
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numba.core import event

import proce
from proce.classifier import fit_network
from sizes.table import Shape, Table

_N_ALONE = 3  # rows that are explained one by one
_STATUS, _PEAK = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def measure(shape: Shape) -> dict[str, Any]:
    """Return the CPU time and the peak memory of a fit and of explanations.

    What is done once in a process, as loading kernels, is done before anything is timed.
    """
    torch.set_num_threads(1)
    table = Table(shape)
    train, label = table.people(shape.training, seed=1)
    codec = proce.Codec.fit(table.schema, train)
    model = fit_network(codec, train, label)
    explainer = proce.ProCE(model, table.schema, table.graph, table.rules)
    start = time.process_time()
    explainer.fit(train)
    fit_seconds = time.process_time() - start
    fit_peak = _peak()
    people, _ = table.people(4 * shape.rows + 64, seed=2)
    refused = people[model.predict(codec.encode(people)) == 0]
    assert len(refused) >= max(shape.rows, _N_ALONE + 2)
    explainer.explain(refused[-2:], target=1, n=1)
    _PEAK.write_text("5")  # the peak begins anew
    with event.install_recorder("numba:compile") as compiled:
        alone = [_explain(explainer, refused[place : place + 1])[0] for place in range(_N_ALONE)]
        seconds, found, candidates = _explain(explainer, refused[: shape.rows])
    return {
        "fit_seconds": round(fit_seconds, 2),
        "alone_ms": round(1e3 * float(np.median(alone)), 1),
        "row_ms": round(1e3 * seconds / shape.rows, 2),
        "found": round(found, 3),
        "candidates": round(candidates),
        "fit_mb": fit_peak,
        "explain_mb": _peak(),
        "compiled": len(compiled.buffer) // 2,
    }


def _explain(explainer: proce.ProCE, rows: Any) -> tuple[float, float, float]:
    """Return CPU seconds, the share of rows that were found, and candidates a row."""
    start = time.process_time()
    result = explainer.explain(rows, target=1, n=1, keep_front=False)
    seconds = time.process_time() - start
    found = (result.outcomes()["outcome"] == "found").mean()
    return seconds, float(found), result.provenance.evaluations / len(rows)


def _peak() -> int:
    """Return the largest resident memory so far, in MB."""
    lines = _STATUS.read_text(encoding="utf-8").splitlines()
    (line,) = (line for line in lines if line.startswith("VmHWM:"))
    return round(int(line.split()[1]) / 1024)


def main(text: str, limit: int) -> None:
    """Measure the point that a JSON text describes, and print it as another.

    The system ends the process after ``limit`` seconds of CPU time.
    """
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
    print(json.dumps(measure(Shape(**json.loads(text)))))
