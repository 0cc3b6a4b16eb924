"""Many rows: what is not search, whole runs of ``proce explain`` on files, and peak memory.

Run: ``python benchmarks/batch.py [--rows 10000] [--sizes 50000 200000]``. Half of the rows are to
be changed. With a population of 20 and 5 generations little is left of the search: the rest is
choosing, the last check, the record and the files. Targets: 0.2 ms of CPU per explained row for
what is not search; memory that does not grow with the number of rows.

The model is a network of ours, whose answers cost next to nothing, or a pipeline of scikit-learn
that is asked by frames, as in the first measurements of this kind; its own answers are told apart.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
import torch
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import proce
from proce.classifier import fit_network
from proce.methods import pipeline

PROCE = str(Path(sys.executable).with_name("proce"))


def people(n: int, seed: int) -> tuple[pd.DataFrame, "np.ndarray"]:
    """Return people, and 1 for those whom the bank accepts, which are about half."""
    draw = np.random.default_rng(seed)
    savings = draw.integers(0, 100, n)
    frame = pd.DataFrame(
        {
            "age": draw.integers(20, 80, n),
            "savings": savings,
            "debt": (0.3 * draw.random(n) + 0.7 * (1 - savings / 100)).round(3),
            "school": draw.choice(["none", "basic", "high"], n),
            "home": draw.choice(["owns", "rents"], n),
        }
    )
    score = frame["savings"] / 50 - frame["debt"] * 2 + (frame["school"] == "high")
    return frame, (score + draw.normal(0, 0.3, n) > 0.3).to_numpy(int)


def measure(folder: Path) -> tuple[float, int]:
    """Return the CPU time in seconds and the peak memory in MB of one run of the command."""
    words = [
        "explain",
        "credit",
        "rows.parquet",
        "--target",
        "1",
        "-n",
        "1",
        "--out",
        "out.parquet",
    ]
    one_thread = {**os.environ, "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(
        [PROCE, *words], cwd=folder, stderr=subprocess.DEVNULL, env=one_thread
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)  # or it would be waited for again
    if process.returncode not in (0, 1):
        raise SystemExit(f"the command failed: {words}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss >> 10


class Clock:
    """Adds up the CPU time of calls that do not contain each other."""

    def __init__(self) -> None:
        self.seconds, self.is_running = 0.0, False

    def watch(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the same function, watched."""

        def watched(*arguments: Any, **options: Any) -> Any:
            if self.is_running:
                return function(*arguments, **options)
            self.is_running, start = True, time.process_time()
            try:
                return function(*arguments, **options)
            finally:
                self.seconds += time.process_time() - start
                self.is_running = False

        return watched


def measure_parts(name: str, explainer: proce.ProCE, rows: pd.DataFrame) -> None:
    """Print what a call takes in the search, in the model's own answers elsewhere, and beside."""
    answers, searching = Clock(), Clock()
    original, model = pipeline.evolve, explainer.fitted_.classifier
    asked = type(model)

    def search(*arguments: Any, **options: Any) -> Any:
        answers.is_running = True  # its answers are part of the search
        try:
            return original(*arguments, **options)
        finally:
            answers.is_running = False

    kinds = ("_probabilities_of", "_probabilities_of_raw", "_probabilities_of_frame")
    with ExitStack() as patches:
        patches.enter_context(mock.patch.object(pipeline, "evolve", searching.watch(search)))
        for kind in kinds:
            watched = answers.watch(getattr(asked, kind))
            patches.enter_context(mock.patch.object(asked, kind, watched))
        start = time.process_time()
        result = explainer.explain(rows, target=1, n=1)
        result.to_frame()
        seconds = time.process_time() - start
    n = int((result.outcomes()["outcome"] != "already_target").sum())
    parts = (seconds, searching.seconds, answers.seconds)
    total, in_search, in_model = (1e3 * part / n for part in parts)
    rest = total - in_search - in_model
    print(
        f"| {name} | {n:,} | {total:.2f} | {in_search:.2f} | {in_model:.2f} | {rest:.2f} |",
        flush=True,
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000, help="rows of a call")
    parser.add_argument("--sizes", type=int, nargs="*", default=[50_000, 200_000], help="of files")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    train, label = people(300, seed=0)
    columns = make_column_transformer(
        (OneHotEncoder(), ["school", "home"]), remainder=StandardScaler()
    )
    codec = proce.Codec.fit(proce.Schema.infer(train), train)
    models = {
        "network": fit_network(codec, train, label),
        "pipeline": make_pipeline(columns, LogisticRegression()).fit(train, label),
    }
    settings = proce.SearchSettings(population_size=20, n_offspring=20, n_generations=5)
    explainers = {
        name: proce.ProCE(model, graph=[("savings", "debt")], settings=settings).fit(train)
        for name, model in models.items()
    }
    rows = people(arguments.rows, seed=1)[0]
    print("| model | rows explained | ms a row | search | the model's answers beside | all else |")
    print("|---|---|---|---|---|---|")
    for name, explainer in explainers.items():
        explainer.explain(rows[:100], target=1)  # kernels are compiled
        measure_parts(name, explainer, rows)
    if not arguments.sizes:
        return
    print("\n| model | rows of the file | CPU, s | ms per explained row | peak memory, MB |")
    print("|---|---|---|---|---|")
    with TemporaryDirectory() as folder_name:
        folder = Path(folder_name)
        for name, explainer in explainers.items():
            explainer.save(folder / "credit")
            for n in arguments.sizes if name == "network" else arguments.sizes[:1]:
                rows = people(n, seed=1)[0]
                rows.to_parquet(folder / "rows.parquet")
                n_rejected = int(
                    (explainer.fitted_.classifier.predict(codec.encode(rows)) == 0).sum()
                )
                seconds, megabytes = measure(folder)
                print(
                    f"| {name} | {n:,} | {seconds:.1f} | {1000 * seconds / n_rejected:.2f} |"
                    f" {megabytes} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
