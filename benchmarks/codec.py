"""Encode and decode a million mixed rows, beside scikit-learn's encoders on the same frame.

Run: ``python benchmarks/codec.py``. Targets: time at most 1.5 times scikit-learn's in each
direction, memory at most 3 times the frame's own on top.
"""

import gc
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from sklearn.preprocessing import MinMaxScaler, OrdinalEncoder

from proce.schema import Codec, Layout, Schema

ROWS, REPEATS = 1_000_000, 7
NUMBERS, LEVELS = ["age", "weight", "income"], ["job", "school", "city", "owner", "sector"]


def people(n: int, seed: int = 0) -> pd.DataFrame:
    """Return eight mixed features: whole numbers, floats, text, categories and flags."""
    draw = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": draw.integers(18, 90, n),
            "weight": draw.normal(75, 12, n),
            "job": draw.choice(["nurse", "clerk", "baker", "teacher"], n),
            "school": draw.choice(["School", "HS-grad", "Bachelors", "Masters", "Doctorate"], n),
            "city": pd.Categorical(draw.choice(["Rome", "Lyon", "Bonn"], n)),
            "owner": draw.random(n) < 0.5,
            "income": draw.integers(0, 100_000, n),
            "sector": draw.choice(["Private", "Government", "Self-Employed"], n),
        }
    )


def cpu_seconds(work: Callable[[], object]) -> float:
    """Return the median CPU time of a few calls, after one to warm up."""
    work()
    times = []
    for _ in range(REPEATS):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return statistics.median(times)


def peak_bytes(work: Callable[[], object]) -> int:
    """Return how far a call raised the process's resident memory, at its peak (Linux)."""
    result = work()  # once before, so that lazy imports do not count
    del result
    gc.collect()
    pa.default_memory_pool().release_unused()
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    before = _resident("VmRSS")
    result = work()
    peak = _resident("VmHWM")
    del result
    return peak - before


def _resident(field: str) -> int:
    """Return a field of the process's memory status, in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(field)).split()[1]) * 1024


def main() -> None:
    """Measure and print."""
    pa.set_cpu_count(1)
    frame = people(ROWS)
    codec = Codec.fit(Schema.infer(frame), frame)
    layout = Layout.of(frame)
    rows = codec.encode(frame)
    ordinal = OrdinalEncoder().fit(frame[LEVELS])
    scaler = MinMaxScaler().fit(frame[NUMBERS])
    codes, units = ordinal.transform(frame[LEVELS]), scaler.transform(frame[NUMBERS])

    sklearn_work = {
        "encode": lambda: (ordinal.transform(frame[LEVELS]), scaler.transform(frame[NUMBERS])),
        "decode": lambda: (ordinal.inverse_transform(codes), scaler.inverse_transform(units)),
    }
    proce_work = {
        "encode": lambda: codec.encode(frame),
        "decode": lambda: codec.decode(rows, layout),
    }
    frame_bytes = int(frame.memory_usage(deep=True).sum())
    megabytes = frame_bytes / 1e6
    print(f"{ROWS:,} rows x {frame.shape[1]} features, {megabytes:.0f} MB as a frame, one thread")
    print("| direction | proce, s | scikit-learn, s | ratio (at most 1.5) | peak / frame (3) |")
    print("|---|---|---|---|---|")
    for direction in ("encode", "decode"):
        proce = cpu_seconds(proce_work[direction])
        sklearn = cpu_seconds(sklearn_work[direction])
        memory = peak_bytes(proce_work[direction]) / frame_bytes
        ratio = proce / sklearn
        print(f"| {direction} | {proce:.3f} | {sklearn:.3f} | {ratio:.2f} | {memory:.2f} |")


if __name__ == "__main__":
    main()
