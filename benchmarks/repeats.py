"""Whether time and memory stay the same when a call is repeated a thousand times in one process.

Run: ``python benchmarks/repeats.py [--calls 1000] [--only explain what_if] [--trace]``. For each
call: the median time of the last tenth of the calls over that of the second tenth, and by how much
the process grew between the two, in bytes a call. Targets: time at most 1.2 times, and growth under
1,000 bytes a call (a page of memory now and then; what a call returns is dropped). ``--trace``
names the lines that hold more memory at the end than before.
"""

import argparse
import gc
import resource
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import torch
from sklearn.ensemble import HistGradientBoostingClassifier

from proce import ProCE, SearchSettings, load_dataset
from proce.explanation import Explanations
from proce.latent import AutoEncoderSettings
from proce.training_settings import TrainingSettings

SMALL = SearchSettings(
    population_size=16,
    n_offspring=16,
    n_generations=6,
    n_refits=0,
    autoencoder=AutoEncoderSettings(training=TrainingSettings(n_epochs=2)),
)
SLOW = {"fit": 10, "make and drop": 10, "save_html": 5, "plots": 5}  # so many times fewer calls
N_LINES = 8  # of a trace


def resident_bytes() -> int:
    """Return the memory of this process now."""
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * resource.getpagesize()


def calls_of(folder: Path) -> dict[str, Callable[[int], Any]]:
    """Return what is repeated, by name; each takes the number of the call."""
    from matplotlib import pyplot

    data = load_dataset("loan", n=400)
    trees = HistGradientBoostingClassifier(max_iter=10, categorical_features="from_dtype")
    model = trees.fit(data.frame, data.label)

    def fitted(**options: Any) -> ProCE:
        return ProCE(model, data.recourse_schema, settings=SMALL, **options).fit(data.frame)

    plain = fitted()
    causal = fitted(graph=data.graph, rules=data.rules)
    rows = data.frame[model.predict(data.frame) == 0]
    result = causal.explain(rows[:3])
    text = result.to_json()
    changes = {"savings": float(rows["savings"].iloc[0]) + 1_000}

    def row(number: int) -> Any:
        return rows.iloc[[number % len(rows)]]

    def plots(_: int) -> None:
        for draw in (result.plot_changes, result.plot_cohort, result[0].plot_graph):
            pyplot.close(draw().figure)

    def make_and_drop(number: int) -> None:
        fitted(graph=data.graph, rules=data.rules, seed=number).explain(row(number))

    def save_and_load(_: int) -> None:
        ProCE.load(causal.save(folder / "saved"))

    return {
        "explain": lambda number: plain.explain(row(number)),
        "explain, graph and rules": lambda number: causal.explain(row(number)),
        "explain, own rules": lambda number: plain.explain(
            row(number), rules=[f"cf.savings <= {100_000 + number}"]
        ),
        "what_if": lambda number: causal.what_if(row(number), changes),
        "sentences": lambda _: [item.sentences() for item in result],
        "frames": lambda _: (result.to_frame(), result.changes(), result.summary()),
        "to_json, from_json": lambda _: Explanations.from_json(text).to_json(),
        "save_html": lambda _: result.save_html(folder / "page.html"),
        "plots": plots,
        "save, load": save_and_load,
        "fit": lambda number: fitted(graph=data.graph, seed=number),
        "make and drop": make_and_drop,
    }


def measure(call: Callable[[int], Any], n_calls: int) -> tuple[float, float, float]:
    """Return milliseconds a call, the ratio of the times, and the growth in bytes a call."""
    tenth = max(1, n_calls // 10)
    times: list[float] = []
    sizes: list[int] = []
    for number in range(10 * tenth):
        started = time.process_time()
        call(number)
        times.append(time.process_time() - started)
        if (number + 1) % tenth == 0:
            gc.collect()
            sizes.append(resident_bytes())
    second, last = times[tenth : 2 * tenth], times[-tenth:]
    growth = (sizes[-1] - sizes[1]) / (8 * tenth)
    return median(times) * 1e3, median(last) / median(second), growth


def trace(call: Callable[[int], Any], n_calls: int) -> None:
    """Print the lines that hold more memory after some calls than before."""
    tracemalloc.start(6)
    for number in range(n_calls):
        call(number)
    gc.collect()
    before = tracemalloc.take_snapshot()
    for number in range(n_calls):
        call(number)
    gc.collect()
    grown = tracemalloc.take_snapshot().compare_to(before, "lineno")
    tracemalloc.stop()
    for line in [line for line in grown if line.size_diff > 0][:N_LINES]:
        where = line.traceback[-1]
        print(f"    {line.size_diff / n_calls:9.0f} bytes a call  {where.filename}:{where.lineno}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--calls", type=int, default=1_000)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--trace", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        for name, call in calls_of(Path(folder)).items():
            if options.only and name not in options.only:
                continue
            n_calls = max(10, options.calls // SLOW.get(name, 1))
            milliseconds, ratio, growth = measure(call, n_calls)
            print(
                f"{name:26} {n_calls:5} calls of {milliseconds:7.1f} ms; last tenth / second:"
                f" {ratio:.2f}; growth: {growth:8.0f} bytes a call",
                flush=True,
            )
            if options.trace:
                trace(call, max(10, n_calls // 10))


if __name__ == "__main__":
    main()
