"""Fit the auto-encoder on Adult, and find prototypes beside scikit-learn's brute force.

Run: ``PROCE_DATA=... python benchmarks/latent.py``. Targets: 5 s of CPU time with default
settings and 15 s at latent 256, on one thread; 99.99% of held-out levels rebuilt and a root mean
squared error of at most 0.009 on the unit range; prototypes within twice the time of
``NearestNeighbors`` and 500 MB.
"""

import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from sklearn.model_selection import train_test_split
from sklearn.neighbors import NearestNeighbors

from proce.arrays import Array
from proce.datasets import load_dataset
from proce.latent import AutoEncoder, AutoEncoderSettings, PrototypeIndex, fit_autoencoder
from proce.schema import Codec, Continuous

REPEATS = 5


def cpu_seconds(work: Callable[[], object]) -> float:
    """Return the CPU time of one call."""
    start = time.process_time()
    work()
    return time.process_time() - start


def measure_reconstruction(autoencoder: AutoEncoder, rows: Array) -> tuple[float, float]:
    """Return the share of levels that are rebuilt, and the error of the numbers."""
    schema = autoencoder.codec.schema
    rebuilt = autoencoder.reconstruct(rows)
    numbers = [
        position for position, feature in enumerate(schema) if isinstance(feature, Continuous)
    ]
    error = np.sqrt(np.square(rebuilt.units - rows[:, numbers]).mean())
    right = [
        (rebuilt.probabilities[feature.name].argmax(-1) == rows[:, position]).mean()
        for position, feature in enumerate(schema)
        if position not in numbers
    ]
    return float(np.mean(right)), float(error)


def measure_fits() -> None:
    """Time the fit and measure the reconstruction of held-out rows."""
    data = load_dataset("adult")
    train, test = train_test_split(data.frame, test_size=0.2, random_state=0)
    codec = Codec.fit(data.schema, train)
    rows, held_out = codec.encode(train), codec.encode(test)
    print(f"Adult, {len(rows):,} training rows, one thread")
    print("| settings | latent | epochs | CPU, s | levels rebuilt | error of numbers |")
    print("|---|---|---|---|---|---|")
    for name, settings in {
        "default": AutoEncoderSettings(),
        "paper": AutoEncoderSettings.paper(),
        "latent 512": AutoEncoderSettings(latent_size=512),
    }.items():
        start = time.process_time()
        autoencoder, record = fit_autoencoder(codec, rows, settings)
        seconds = time.process_time() - start
        share, error = measure_reconstruction(autoencoder, held_out)
        size = autoencoder.latent_size
        print(
            f"| {name} | {size} | {record.n_epochs} | {seconds:.1f} | {share:.2%} | {error:.4f} |"
        )


def measure_prototypes() -> None:
    """Time 1,000 queries against 50,000 rows of latent 64."""
    draw = np.random.default_rng(0)
    latents = draw.standard_normal((50_000, 64), dtype=np.float32)
    queries = draw.standard_normal((1_000, 64), dtype=np.float32)
    index = PrototypeIndex(latents, np.zeros(50_000, dtype=np.int64), classes=[0])
    brute = NearestNeighbors(n_neighbors=10, algorithm="brute").fit(latents)
    index.prototype(queries, 0, 10)
    before = _resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    index.prototype(queries, 0, 10)
    memory = (_resident("VmHWM") - before) / 1e6
    ours = [cpu_seconds(lambda: index.prototype(queries, 0, 10)) for _ in range(REPEATS)]
    theirs = [cpu_seconds(lambda: brute.kneighbors(queries)) for _ in range(REPEATS)]
    proce, sklearn = statistics.median(ours), statistics.median(theirs)
    print("\n1,000 queries, 50,000 rows, latent 64, K = 10, one thread")
    print("| proce, s | scikit-learn, s | ratio (at most 2) | peak, MB (at most 500) |")
    print("|---|---|---|---|")
    print(f"| {proce:.3f} | {sklearn:.3f} | {proce / sklearn:.2f} | {memory:.0f} |")


def _resident(field: str) -> int:
    """Return a field of the process's memory status, in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(field)).split()[1]) * 1024


if __name__ == "__main__":
    from threadpoolctl import threadpool_limits

    torch.set_num_threads(1)
    with threadpool_limits(1):
        measure_prototypes()
        measure_fits()
