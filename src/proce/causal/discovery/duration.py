"""How long a discovery will take, from a small part of it."""

import math
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from proce.causal.discovery.lingam import evidence

LONG = 60.0  # seconds from which on it is worth saying
_FEW = 30  # features up to which every algorithm is quick
_SIZES = (20, 40)  # features of the timed searches


def seconds_of_lingam(rows: NDArray[np.float64]) -> float:
    """Return an estimate for DirectLiNGAM without knowledge.

    It compares each feature that is left with all that are left, one feature less each time.
    """
    n_features = rows.shape[1]
    if n_features <= _FEW:
        return 0.0
    few = np.asfortranarray((rows - rows.mean(0))[:, :_FEW])
    few /= np.maximum(few.std(0), 1e-12)
    start = time.perf_counter()
    evidence(few, np.arange(_FEW))
    per_pair = (time.perf_counter() - start) / _FEW**2
    return float(per_pair * n_features**3 / 3)


def seconds_of_search(n_features: int, search: Callable[[list[int]], object]) -> float:
    """Return a rough estimate, from how a search of some features grows with their number."""
    if n_features <= 2 * _FEW:
        return 0.0
    seconds = []
    for size in _SIZES:
        chosen = np.linspace(0, n_features - 1, size).astype(int).tolist()
        start = time.perf_counter()
        search(chosen)
        seconds.append(max(time.perf_counter() - start, 1e-3))
    growth = math.log(seconds[1] / seconds[0]) / math.log(_SIZES[1] / _SIZES[0])
    return seconds[1] * float((n_features / _SIZES[1]) ** min(max(growth, 2.5), 4.5))


def advice(seconds: float, shape: tuple[int, ...], n_resamples: int, n_jobs: int) -> str | None:
    """Say how long it will take and how to reduce it, where that is long."""
    n_rows, n_features = shape
    total = seconds * (1 + n_resamples / min(n_jobs, max(1, n_resamples)))
    if total < LONG:
        return None
    text = (
        f"Discovery over {n_features} features and {n_rows:,} rows will take about {_words(total)}"
    )
    if n_resamples:
        text += f": {1 + n_resamples} searches of {_words(seconds)}, {n_jobs} at a time"
    text += (
        ". To reduce it, keep the features that matter: time grows with the third power of their"
        " number or faster"
    )
    if n_rows > 2_000:
        text += "; sample the rows, as in frame.sample(2000)"
    if n_resamples:
        text += "; lower bootstrap, or raise n_jobs"
    return text + "."


def _words(seconds: float) -> str:
    for unit, size in (("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(1.0, seconds):.0f} s"
