"""How time and memory grow with columns, levels, rules, edges, rows of a call and training rows.

Run: ``python benchmarks/scaling.py [--again] [--workers 2] [--limit 300]``. A point is fitted and
explained in a process of its own, on one thread, so that its peak memory is its own; its CPU time
counts. Points are written to ``docs/scaling.csv`` one by one, and those that are there are not
measured again, unless ``--again`` says so. From that file come the laws, the figure and the tables
of ``docs/performance.md``, also when nothing is left to measure.
"""

import argparse
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from sizes import page, records
from sizes.table import Shape

_N_ATTEMPTS = 2  # a point in which kernels were compiled is measured again


def measured(shape: Shape, limit: int) -> dict[str, Any]:
    """Return what a process of its own measures; nothing where it takes too long or breaks."""
    code = "import sys; from sizes import point; point.main(sys.argv[1], int(sys.argv[2]))"
    paths = [str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
    }
    command = [sys.executable, "-c", code, json.dumps(asdict(shape)), str(limit)]
    answer: dict[str, Any] = {}
    for _ in range(_N_ATTEMPTS):
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            last = done.stderr.strip().splitlines()[-1:]
            print(f"{shape}: ended with {done.returncode}, {last}", flush=True)
            return {}
        answer = json.loads(done.stdout.splitlines()[-1])
        if not answer["compiled"]:
            break
    return answer


def sweep(path: Path, n_workers: int, limit: int) -> None:
    """Measure the points that the file lacks."""
    head, known = records.read(path)
    missing = [shape for shape in records.points() if shape not in known]
    if not missing:
        return
    if head != records.origin():
        sys.exit(f"{path} is of another commit or machine: give --again to measure all points.")
    # Compile what a process would otherwise compile while its memory is watched.
    measured(replace(records.BASE, rows=8), limit)
    with ThreadPoolExecutor(n_workers) as pool:
        work = {pool.submit(measured, shape, limit): shape for shape in missing}
        for future in as_completed(work):
            answer = future.result()
            records.append(path, work[future], answer)
            print(work[future], answer, flush=True)


def main() -> None:
    """Measure what is missing, then fit, draw and fill the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--again", action="store_true", help="measure all points anew")
    parser.add_argument("--workers", type=int, default=2, help="points that are measured at once")
    parser.add_argument("--limit", type=int, default=300, help="CPU seconds of a point, at most")
    parser.add_argument("--records", type=Path, default=records.RECORDS, help="the file of points")
    arguments = parser.parse_args()
    path = arguments.records
    if arguments.again or not path.exists():
        records.begin(path)
    sweep(path, arguments.workers, arguments.limit)
    if path == records.RECORDS:
        known = records.read(path)[1]
        page.draw(known, page.FIGURE)
        page.PAGE.write_text(page.fill(page.PAGE.read_text("utf-8"), known), encoding="utf-8")
    print(page.tables(records.read(path)[1])["laws"])


if __name__ == "__main__":
    main()
