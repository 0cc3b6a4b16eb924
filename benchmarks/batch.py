"""``proce explain`` on files of two lengths: CPU time and peak memory.

Run: ``python benchmarks/batch.py``. Target: memory that does not grow with the number of rows.
"""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import proce

SIZES = (50_000, 200_000)
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
    process = subprocess.Popen([PROCE, *words], cwd=folder, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)  # or it would be waited for again
    if process.returncode not in (0, 1):
        raise SystemExit(f"the command failed: {words}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss >> 10


def main() -> None:
    """Measure and print."""
    train, label = people(300, seed=0)
    columns = make_column_transformer(
        (OneHotEncoder(), ["school", "home"]), remainder=StandardScaler()
    )
    model = make_pipeline(columns, LogisticRegression()).fit(train, label)
    settings = proce.SearchSettings(population_size=20, n_offspring=20, n_generations=5)
    explainer = proce.ProCE(model, graph=[("savings", "debt")], settings=settings).fit(train)
    with TemporaryDirectory() as name:
        folder = Path(name)
        explainer.save(folder / "credit")
        for n in SIZES:
            people(n, seed=1)[0].to_parquet(folder / "rows.parquet")
            seconds, megabytes = measure(folder)
            print(
                f"{n:,} rows: {seconds:.0f} s of CPU, {1000 * seconds / n:.2f} ms a row,", end=" "
            )
            print(f"at most {megabytes} MB")


if __name__ == "__main__":
    main()
