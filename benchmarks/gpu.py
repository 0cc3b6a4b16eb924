"""ProCE on a CUDA device: microseconds a row from frame to result, its parts, and its quality.

Run: ``PROCE_DATA=... python benchmarks/gpu.py`` on a machine with a CUDA device. The package need
not be installed: the script runs from a source tree wherever torch, numpy, numba, pandas and
scikit-learn are. Adult, 8 features, the paper's first classifier (``--data loan`` needs no files).
Rows beyond those that the model rejects are made of them: numbers move by up to 2% of their range.

Targets: 40 microseconds a row at 100,000 rows and more without causes, 100 with graph and rules;
fronts within 1% of the hypervolume that the CPU finds, and the same promises kept.
"""

import argparse
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest import mock

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

import numpy as np
import pandas as pd
import torch
from sklearn.model_selection import train_test_split

from proce.classifier import fit_network
from proce.datasets import load_dataset
from proce.losses import Loss
from proce.methods import ProCE
from proce.methods.explaining import proce_call
from proce.methods.searching import solve
from proce.schema import Codec

QUALITY_ROWS = 128
STAGES = (  # of a call, in the order in which they come: where they are looked up, and their names
    (proce_call.ProceCall, "query", "prototypes and noise"),
    (solve, "_scan", "scan"),
    (solve, "search", "search"),
    (solve, "make_shortlist", "prune, polish, choose"),
    (solve, "_checked", "last check"),
    (proce_call, "drop_needless", "needless actions"),
    (proce_call, "describe", "what is told beside"),
    (proce_call.ProceCall, "result", "result"),
)


def wait() -> None:
    """Wait until the device has done all of its work."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the wall-clock time of a call, and what it returned."""
    wait()
    start = time.perf_counter()
    result = work()
    wait()
    return time.perf_counter() - start, result


def posed(name: str, device: str) -> tuple[pd.DataFrame, dict[str, ProCE]]:
    """Return the rejected rows of a data set, and explainers without and with causes."""
    data = load_dataset(name)
    train, test, label, _ = train_test_split(data.frame, data.label, test_size=0.2, random_state=0)
    codec = Codec.fit(data.schema, train)
    model = fit_network(codec, train, label)
    rows = pd.concat([test, train])
    rejected = rows[(model.predict(codec.encode(rows)) == 0).numpy()]
    plain = ProCE(model, data.schema, causal="off", device=device).fit(train)
    full = ProCE(model, data.schema, data.graph, data.rules, device=device).fit(train)
    return rejected, {"no causes, no rules": plain, "graph and rules": full}


def many(rows: pd.DataFrame, explainer: ProCE, n_rows: int) -> pd.DataFrame:
    """Return as many rejected rows as are asked for, no two of them made of the same draws."""
    if n_rows <= len(rows):
        return rows[:n_rows]
    draw = np.random.default_rng(0)
    made = rows.iloc[draw.integers(len(rows), size=3 * n_rows)].reset_index(drop=True)
    for name in made.columns[[made[column].dtype.kind in "if" for column in made]]:
        low, high = rows[name].min(), rows[name].max()
        moved = made[name] + draw.uniform(-0.02, 0.02, len(made)) * (high - low)
        moved = moved.clip(low, high)
        is_whole = made[name].dtype.kind == "i"
        made[name] = (moved.round() if is_whole else moved).astype(made[name].dtype)
    classifier, codec = explainer.fitted_.classifier, explainer.fitted_.codec
    return made[(classifier.predict(codec.encode(made)) == 0).numpy()][:n_rows]


def measure(name: str, explainer: ProCE, frame: pd.DataFrame) -> None:
    """Print one line: how long a call takes for so many rows, and what it finds."""
    on_device = explainer.device != "cpu"
    if on_device:
        torch.cuda.reset_peak_memory_stats()
    seconds, result = timed(lambda: explainer.explain(frame, n=1))
    peak = torch.cuda.max_memory_allocated() / 2**30 if on_device else 0.0
    found = len(set(result.rows.counterfactuals.owner.tolist())) / len(frame)
    each = seconds / len(frame) * 1e6
    print(
        f"| {name} | {len(frame):,} | {seconds:.2f} | {each:.1f} | {found:.1%} | {peak:.1f} |",
        flush=True,
    )


def stages(name: str, explainer: ProCE, frame: pd.DataFrame) -> None:
    """Print how long each part of a call takes, in microseconds a row."""
    spent = dict.fromkeys((title for *_, title in STAGES), 0.0)

    def watched(work: Callable[..., Any], title: str) -> Callable[..., Any]:
        def run(*arguments: Any, **named: Any) -> Any:
            seconds, result = timed(lambda: work(*arguments, **named))
            spent[title] += seconds
            return result

        return run

    with ExitStack() as stack:
        for owner, attribute, title in STAGES:
            work = getattr(owner, attribute)
            stack.enter_context(mock.patch.object(owner, attribute, watched(work, title)))
        total, _ = timed(lambda: explainer.explain(frame, n=1))
    spent["all else"] = total - sum(spent.values())
    cells = ", ".join(f"{title} {s / len(frame) * 1e6:.1f}" for title, s in spent.items())
    print(f"- {name}, {len(frame):,} rows, {total / len(frame) * 1e6:.1f} in all: {cells}.")


def hypervolume(front: np.ndarray) -> float:
    """Return the volume that losses ``(n, 3)`` dominate below (1.1, 1.1, 1.1)."""
    front = front[(front < 1.1).all(1)]
    volume, heights = 0.0, np.unique(front[:, 2])
    for low, high in zip(heights, [*heights[1:], 1.1], strict=True):
        layer = front[front[:, 2] <= low, :2]
        edge, area = 1.1, 0.0
        for first, second in layer[np.lexsort((layer[:, 1], layer[:, 0]))]:
            area += (1.1 - first) * max(0.0, edge - second)
            edge = min(edge, second)
        volume += area * (high - low)
    return volume


def compare(name: str, explainer: ProCE, frame: pd.DataFrame) -> None:
    """Print what the device finds beside what the CPU finds for the same rows."""
    there = explainer.explain(frame, keep_front=True)
    fitted = explainer.fitted_
    explainer._set_fitted(type(fitted)(**{**fields_of(fitted), "device": "cpu"}))
    here = explainer.explain(frame, keep_front=True)
    explainer._set_fitted(fitted)
    ratios, distances = [], []
    for own, other in zip(there, here, strict=True):
        if len(own) and len(other) and own.front is not None and other.front is not None:
            fronts = [front.losses.numpy() for front in (own.front, other.front)]
            low = np.concatenate(fronts).min(0)
            span = np.maximum(np.concatenate(fronts).max(0) - low, 1e-12)
            volumes = [hypervolume((front - low) / span) for front in fronts]
            ratios.append(volumes[0] / volumes[1])
            distances.append([float(each.losses[0, Loss.DISTANCE]) for each in (own, other)])
    device, host = np.mean(distances, axis=0)
    n_found = [sum(len(each) > 0 for each in result) for result in (there, here)]
    print(
        f"| {name} | {n_found[0]} and {n_found[1]} of {len(frame)} | {device:.4f} | {host:.4f} |"
        f" {np.mean(ratios):.4f} |",
        flush=True,
    )


def fields_of(fitted: Any) -> dict[str, Any]:
    """Return the fields of a dataclass."""
    return {name: getattr(fitted, name) for name in fitted.__dataclass_fields__}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default="adult", help="adult, or loan, which needs no files")
    parser.add_argument("--rows", default="20000,100000", help="sizes of calls, by commas")
    parser.add_argument("--device", default="cuda", help="cuda, or cpu to try the script")
    parser.add_argument("--quality", type=int, default=QUALITY_ROWS, help="rows that are compared")
    options = parser.parse_args()
    rejected, explainers = posed(options.data, options.device)
    sizes = [int(size) for size in options.rows.split(",")]
    for explainer in explainers.values():
        explainer.explain(rejected[:64], n=1)  # compiles
    print("| problem | rows | s | µs a row | found | peak GB on the device |")
    print("|---|---|---|---|---|---|")
    for name, explainer in explainers.items():
        for size in sizes:
            measure(name, explainer, many(rejected, explainer, size))
    print("\nMicroseconds a row:\n")
    for name, explainer in explainers.items():
        stages(name, explainer, many(rejected, explainer, sizes[0]))
    print("\n| problem | found, device and CPU | mean distance | on the CPU | hypervolume |")
    print("|---|---|---|---|---|")
    for name, explainer in explainers.items():
        compare(name, explainer, rejected[: options.quality])


if __name__ == "__main__":
    main()
