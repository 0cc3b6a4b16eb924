"""A portfolio: worker processes and Dask against one process, memory, growth, starts and faults.

Run: ``python benchmarks/portfolio.py [--rows 40000] [--sizes 10000 100000 1000000] [--only NAME]``.
Two workers. Half of the rows are to be changed, one in ten where memory is measured. Times are
wall-clock times of whole commands, with their start; memory is the sum of the proportional set
sizes of all processes of a command, which counts what they share once. Targets: 2 workers at least
1.8 times as fast as one process; memory flat and time linear in the number of rows.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import torch

import proce
from batch import PROCE, people
from proce.batch.job import PRELOADED, CallTerms, ExplainWork, SavedExplainer
from proce.batch.parallel import FrameLabels
from proce.batch.pieces import Failed, Piece, PieceQueue, PieceSettings, run_in_workers
from proce.classifier import fit_network
from proce.processes.fork_server import ForkServer
from proce.processes.pool import PoolSettings, WorkerPool
from proce.processes.task import Task
from proce.processes.worker import pickled

LOOK_SECONDS = 2.0  # between two looks at a command that runs: they take a core for a while
WORDS = ("explain", "credit", "--target", "1", "-n", "1")


def descendants(parent: int) -> list[int]:
    """Return the processes that a process has started, and those that they have."""
    parents = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(status.parent.name)] = int(fields[1])
    found = [parent]
    for process in found:
        found += [own for own, other in parents.items() if other == process]
    return found[1:]


def memory_of(process: int) -> int:
    """Return the proportional set size of a process in kB; 0 where it is gone."""
    try:
        text = Path(f"/proc/{process}/smaps_rollup").read_text()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in text.splitlines() if line[:4] == "Pss:"), 0)


def measure(
    folder: Path, *words: str, look: Callable[[int, float], None] | None = None
) -> tuple[float, int]:
    """Run a command; return its seconds and the most memory that it and its workers had, in MB."""
    start, peak = time.monotonic(), 0
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(
        [PROCE, *words], cwd=folder, stderr=subprocess.PIPE, env=environment
    ) as process:
        while process.poll() is None:
            with suppress(subprocess.TimeoutExpired):
                process.wait(LOOK_SECONDS)
            peak = max(peak, sum(map(memory_of, [process.pid, *descendants(process.pid)])))
            if look is not None:
                look(process.pid, time.monotonic() - start)
        told = process.stderr.read().decode() if process.stderr else ""
    if process.returncode not in (0, 1):
        raise SystemExit(f"the command failed: {words}\n{told}")
    return time.monotonic() - start, peak >> 10


def workers(folder: Path, n_rows: int) -> None:
    """Compare one process, two workers and Dask with two, at the default settings."""
    people(n_rows, seed=1)[0].to_parquet(folder / "rows.parquet")
    ways = {
        "one process": (),
        "--workers 2": ("--workers", "2"),
        "--engine dask --workers 2": ("--engine", "dask", "--workers", "2"),
    }
    print(f"\n{n_rows:,} rows, half of them explained\n")
    print("| | seconds | rows of the file a second | times as fast | memory, MB |")
    print("|---|---|---|---|---|")
    alone = 0.0
    for number, (name, more) in enumerate(ways.items()):
        out = f"out-{number}" + (".parquet" if number < 2 else "")
        words = (*WORDS[:2], "rows.parquet", *WORDS[2:], "--out", out, *more)
        seconds, memory = measure(folder, *words)
        alone = alone or seconds
        print(
            f"| {name} | {seconds:.1f} | {n_rows / seconds:,.0f} | {alone / seconds:.2f} |"
            f" {memory:,} |",
            flush=True,
        )
    same = pd.read_parquet(folder / "out-0.parquet").equals(
        pd.read_parquet(folder / "out-1.parquet")
    )
    columns = pd.read_parquet(folder / "out-0.parquet").columns.tolist()
    dask = pd.read_parquet(folder / "out-2").sort_values(["row", "rank"])[columns]
    equal = dask.reset_index(drop=True).equals(pd.read_parquet(folder / "out-0.parquet"))
    print(f"\nthe same rows: two workers {same}, Dask {equal}")


def growth(folder: Path, sizes: list[int]) -> None:
    """Measure memory and time by the number of rows: a short search, one row in ten refused."""
    fitted = proce.ProCE.load(folder / "quick").fitted_
    some = people(100_000, seed=1)[0]
    refused = fitted.classifier.predict(fitted.codec.encode(some)) == 0
    block = pd.concat([some[refused][:1000], some[~refused][:9000]], ignore_index=True)
    print("\n| rows, short search, 2 workers | seconds | ms a row | memory, MB |")
    print("|---|---|---|---|")
    for n_rows in sizes:
        pd.concat([block] * (n_rows // len(block))).to_parquet(folder / "rows.parquet")
        words = ("explain", "quick", "rows.parquet", *WORDS[2:], "--out", "out.parquet")
        seconds, memory = measure(folder, *words, "--workers", "2")
        print(
            f"| {n_rows:,} | {seconds:.1f} | {1000 * seconds / n_rows:.2f} | {memory:,} |",
            flush=True,
        )


def starts(folder: Path) -> None:
    """Measure what the first worker takes until it is ready, and each one after it."""
    saved = SavedExplainer(folder / "credit")
    work = pickled(ExplainWork(saved, CallTerms({"target": 1}), FrameLabels()))
    began = time.monotonic()
    server = ForkServer((*PRELOADED, *saved.modules))
    print("\n| worker | seconds until it is ready | until its first row is explained |")
    print("|---|---|---|")
    row = people(1000, seed=1)[0][:1]
    for name in ("the first", "the second", "the third"):
        pool = WorkerPool(work, server, PoolSettings(1))
        pool.start().result()
        ready = time.monotonic() - began
        pool.submit(Task("do", {"piece": Piece(0, row)}, reports=True)).future.result()
        print(f"| {name} | {ready:.2f} | {time.monotonic() - began:.2f} |", flush=True)
        pool.close()
        began = time.monotonic()
    server.close()


def faults(folder: Path, n_rows: int) -> None:
    """Measure what it costs when a worker is killed every few seconds, and a row that kills."""
    people(n_rows, seed=1)[0].to_parquet(folder / "rows.parquet")
    draw, n_killed, last = random.Random(0), 0, 0.0

    def kill(parent: int, seconds: float) -> None:
        nonlocal n_killed, last
        grown = set(descendants(parent))
        children = {own for own in grown if parent_of(own) in grown}
        if children and seconds > last + 5:
            os.kill(draw.choice(sorted(children)), signal.SIGKILL)
            n_killed, last = n_killed + 1, seconds

    words = (*WORDS[:2], "rows.parquet", *WORDS[2:], "--workers", "2")
    calm, _ = measure(folder, *words, "--out", "calm.parquet")
    wild, _ = measure(folder, *words, "--out", "wild.parquet", look=kill)
    same = pd.read_parquet(folder / "calm.parquet").equals(pd.read_parquet(folder / "wild.parquet"))
    print(f"\n{n_killed} workers killed: {wild:.1f} s instead of {calm:.1f} s; same rows: {same}")
    explainer = proce.ProCE.load(folder / "quick")
    work = pickled(ExplainWork(SavedExplainer(folder / "quick"), CallTerms({}), KillsAt(1234)))
    rows = people(4096, seed=1)[0]
    explainer.explain(rows, target=1, n=1)
    start = time.monotonic()
    queue = PieceQueue(iter([Piece(0, rows)]), len(rows), n_workers=2)
    with closing(run_in_workers(queue, work, PieceSettings(2, preload=PRELOADED))) as e:
        failed = [event.piece.first_row for event in e if isinstance(event, Failed)]
    seconds = time.monotonic() - start
    print(f"a row that kills its worker, of 4,096: found {failed} in {seconds:.1f} s")


def parent_of(process: int) -> int:
    """Return the parent of a process; 0 where it is gone."""
    try:
        return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


class KillsAt(FrameLabels):
    """Gives explanations their positions, and dies where one of them is a given row."""

    def __init__(self, row: int) -> None:
        self.row = row

    def labelled(
        self, result: proce.Explanations, table: object, first_row: int
    ) -> proce.Explanations:
        """Count the rows, or die."""
        if first_row <= self.row < first_row + len(result):
            os.kill(os.getpid(), signal.SIGKILL)
        return super().labelled(result, table, first_row)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=40_000, help="of the files of the comparison")
    parser.add_argument("--sizes", type=int, nargs="*", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--only", choices=["workers", "growth", "starts", "faults"])
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    train, label = people(300, seed=0)
    codec = proce.Codec.fit(proce.Schema.infer(train), train)
    model = fit_network(codec, train, np.asarray(label))
    quick = proce.SearchSettings(population_size=20, n_offspring=20, n_generations=5)
    with TemporaryDirectory() as name:
        folder = Path(name)
        for own, settings in (("credit", None), ("quick", quick)):
            graph = [("savings", "debt")]
            proce.ProCE(model, graph=graph, settings=settings).fit(train).save(folder / own)
        parts: dict[str, Callable[[], None]] = {
            "workers": lambda: workers(folder, arguments.rows),
            "growth": lambda: growth(folder, arguments.sizes),
            "starts": lambda: starts(folder),
            "faults": lambda: faults(folder, arguments.rows),
        }
        for own, part in parts.items():
            if arguments.only in (None, own):
                part()


if __name__ == "__main__":
    sys.exit(main())
