"""How the time of ``explain`` grows with the search, and how much of it a user's own model takes.

Run: ``python benchmarks/growth.py``. Targets: time at most linear in generations and population;
with HistGradientBoosting as the model at most twice the time of its ``predict_proba`` calls alone.
How time and memory grow with the table and the rows is measured by ``benchmarks/scaling.py``.
"""

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
from sklearn.ensemble import HistGradientBoostingClassifier
from threadpoolctl import threadpool_limits

from proce.classifier import fit_network
from proce.datasets import load_dataset
from proce.methods import ProCE, SearchSettings
from proce.schema import Codec

GENERATIONS, POPULATIONS = (20, 40, 80), (50, 100, 200)


def cpu(work: Callable[[], Any]) -> float:
    """Return the CPU time of a call."""
    start = time.process_time()
    work()
    return time.process_time() - start


def exponent(sizes: tuple[int, ...], seconds: list[float]) -> float:
    """Return the slope of time over size, both as logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def main() -> None:
    """Measure and print."""
    torch.set_num_threads(1)
    data = load_dataset("loan", n=20_000)
    train, label = data.frame[:4_000], data.label[:4_000]
    codec = Codec.fit(data.recourse_schema, train)
    network = fit_network(codec, train, label)
    others = data.frame[4_000:]
    rejected = others[network.predict(codec.encode(others)) == 0]

    def fit_explainer(model: Any = network, **settings: Any) -> ProCE:
        full_length = SearchSettings(stop_improvement=None, **settings)
        return ProCE(model, data.recourse_schema, data.graph, data.rules, settings=full_length).fit(
            train
        )

    fit_explainer().explain(rejected[:2])  # loads the kernels
    longer = [fit_explainer(n_generations=n) for n in GENERATIONS]
    by_generations = [cpu(partial(other.explain, rejected[:64], n=1)) for other in longer]
    larger = [fit_explainer(population_size=n, n_offspring=n) for n in POPULATIONS]
    by_population = [cpu(partial(other.explain, rejected[:64], n=1)) for other in larger]
    print("| grows with | sizes | CPU, s | exponent |")
    print("|---|---|---|---|")
    for name, sizes, seconds in (
        ("generations", GENERATIONS, by_generations),
        ("population", POPULATIONS, by_population),
    ):
        shown = ", ".join(f"{second:.1f}" for second in seconds)
        print(f"| {name} | {sizes} | {shown} | {exponent(sizes, seconds):.2f} |", flush=True)

    with threadpool_limits(1):
        trees = HistGradientBoostingClassifier(random_state=0).fit(train, label)
        n_answers, answer_seconds = 0, 0.0
        original = trees.predict_proba

        def timed(frame: Any) -> Any:
            nonlocal n_answers, answer_seconds
            start = time.process_time()
            answer = original(frame)
            answer_seconds += time.process_time() - start
            n_answers += len(frame)
            return answer

        trees.predict_proba = timed
        over_trees = fit_explainer(trees)
        refused = others[original(others)[:, 1] < 0.5].head(64)
        n_answers, answer_seconds = 0, 0.0
        total = cpu(lambda: over_trees.explain(refused, n=1))
    ratio = total / answer_seconds
    print(
        f"\nHistGradientBoosting, 64 rows: {total:.1f} s, of which its own {n_answers:,} answers"
        f" {answer_seconds:.1f} s: ratio {ratio:.2f} (at most 2)",
        flush=True,
    )


if __name__ == "__main__":
    main()
