"""The points of the sweeps, and the file in which they are kept."""

import csv
import json
import os
import subprocess
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

from proce.benchmark.folder import describe_environment
from proce.methods.calls.method import versions_in_use
from sizes.table import Shape

ROOT = Path(__file__).parents[2]
RECORDS = ROOT / "docs" / "scaling.csv"
COMMAND = "python benchmarks/scaling.py --again"
BASE = Shape()
WIDE = replace(BASE, columns=100)  # where the edges grow
ALL_AT_ONCE = replace(BASE, columns=1_000, levels=30, rules=100, edges=1_000, rows=10)
SWEEPS: dict[str, list[Shape]] = {
    "columns": [
        replace(BASE, columns=n, rows=rows)  # about as many as are searched at once
        for n, rows in ((10, 300), (30, 300), (100, 300), (300, 44), (1_000, 10))
    ],
    "levels": [replace(BASE, levels=n) for n in (2, 4, 10, 30, 100)],
    "levels outside the graph": [
        replace(BASE, levels=n, level_edges=False) for n in (4, 30, 100, 300, 1_000)
    ],
    "rules": [replace(BASE, rules=n) for n in (0, 5, 20, 50, 100, 200)],
    "edges": [replace(WIDE, edges=n) for n in (0, 30, 100, 300, 1_000)],
    "rows": [replace(BASE, rows=n) for n in (1, 10, 64, 300, 1_000, 10_000)],
    "training": [replace(BASE, training=n) for n in (500, 2_000, 8_000, 30_000)],
    "all at once": [ALL_AT_ONCE],
}
MEASURES = (
    "fit_seconds",
    "alone_ms",
    "row_ms",
    "found",
    "candidates",
    "fit_mb",
    "explain_mb",
    "compiled",
)
_SIZES = tuple(field.name for field in fields(Shape))
_LIBRARIES = ("torch", "numpy", "numba", "scikit-learn")
Records = dict[Shape, dict[str, float]]


def size_of(sweep: str, shape: Shape) -> int:
    """Return the size that a sweep varies; of all at once, the columns."""
    size: int = getattr(shape, sweep.partition(" ")[0], shape.columns)
    return size


def points() -> list[Shape]:
    """Return all points once, the quick ones first."""
    shapes = dict.fromkeys(shape for sweep in SWEEPS.values() for shape in sweep)
    return sorted(shapes, key=_about_seconds)


def _about_seconds(shape: Shape) -> float:
    of_row = 6e-4 * shape.columns
    return 5 + 0.07 * shape.columns + of_row * shape.rows + (shape.training + shape.levels) / 2_000


def origin() -> dict[str, Any]:
    """Return what a file of records is of."""
    hardware = describe_environment()["hardware"]
    return {
        "command": COMMAND,
        "commit": _commit(),
        "versions": versions_in_use(_LIBRARIES),
        "processor": hardware["processor"],
        "cores": os.cpu_count(),
    }


def begin(path: Path) -> None:
    """Write a file without points."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        stream.write(f"# {json.dumps(origin())}\n")
        csv.writer(stream).writerow([*_SIZES, *MEASURES])


def append(path: Path, shape: Shape, measured: dict[str, Any]) -> None:
    """Add a point; what was not measured in its time stays empty."""
    with path.open("a", encoding="utf-8", newline="") as stream:
        values = [measured.get(name, "") for name in MEASURES]
        sizes = [json.dumps(size) for size in asdict(shape).values()]
        csv.writer(stream).writerow([*sizes, *values])


def read(path: Path) -> tuple[dict[str, Any], Records]:
    """Return what a file is of, and its points."""
    with path.open(encoding="utf-8", newline="") as stream:
        head = json.loads(stream.readline().removeprefix("# "))
        records = {}
        for line in csv.DictReader(stream):
            shape = Shape(**{name: json.loads(line[name]) for name in _SIZES})
            records[shape] = {name: float(line[name] or "nan") for name in MEASURES}
    return head, records


def _commit() -> str:
    """Return the commit that changed the package last, with a plus where it is changed."""

    def git(*words: str) -> str:
        done = subprocess.run(
            ["git", *words], cwd=ROOT, capture_output=True, text=True, check=False
        )
        return done.stdout.strip()

    changed = "+" if git("status", "--porcelain", "--", "src") else ""
    return git("log", "-1", "--format=%h", "--", "src") + changed
