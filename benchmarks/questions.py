"""Slow models on real data: how often they are asked, and how much of the time is their own.

Run: ``PROCE_DATA=... python benchmarks/questions.py [--rows 64]`` (lightgbm: the ``bench`` extra).
The two real credit data sets, LightGBM and HistGradientBoosting, CPU time of one thread, rows that
the model expects to default, ``n=4``. Target: half of the time of the first full version, which
took 35 to 58 ms a row.
"""

import argparse
import time
from typing import Any

import lightgbm
import torch
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

from proce import ProCE
from proce.datasets import load_dataset

SEED = 78
MAX_ROWS = 10_000  # of a data set, to train on and to draw from
TARGET = 0  # pays


class Watched:
    """Counts what models of a kind are asked, and how long they take to answer."""

    def __init__(self, kind: type, method: str) -> None:
        self.n_answers, self.seconds = 0, 0.0
        original = getattr(kind, method)

        def answer(model: Any, rows: Any, **options: Any) -> Any:
            start = time.process_time()
            told = original(model, rows, **options)
            self.seconds += time.process_time() - start
            self.n_answers += len(rows)
            return told

        setattr(kind, method, answer)

    def forget(self) -> None:
        """Count from nothing again."""
        self.n_answers, self.seconds = 0, 0.0


def models() -> dict[str, Any]:
    """Return the models, not trained."""
    return {
        "LightGBM": lightgbm.LGBMClassifier(
            n_estimators=60, random_state=SEED, n_jobs=1, verbose=-1
        ),
        "HistGradientBoosting": HistGradientBoostingClassifier(
            random_state=SEED, categorical_features="from_dtype"
        ),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=64)
    n_rows = parser.parse_args().rows
    torch.set_num_threads(1)
    watches = {
        "LightGBM": Watched(lightgbm.Booster, "predict"),
        "HistGradientBoosting": Watched(HistGradientBoostingClassifier, "predict_proba"),
    }
    print("| data, model | graph | ms a row | questions a row | own answers, ms | share | found |")
    print("|---|---|---|---|---|---|---|")
    for name in ("credit_card", "german_credit"):
        data = load_dataset(name)
        drawn = data.frame.sample(min(len(data.frame), MAX_ROWS), random_state=SEED)
        train, test, label, _ = train_test_split(
            drawn, data.label[drawn.index], test_size=0.3, random_state=SEED
        )
        for kind, model in models().items():
            model.fit(train, label)
            rejected = test[model.predict(test) != TARGET].head(n_rows)
            watched = watches[kind]
            explainer = ProCE(model, data.recourse_schema, seed=SEED).fit(train)
            for graph in (None, data.graph):
                asked = explainer if graph is None else explainer.with_graph(graph)
                asked.explain(rejected.head(2), target=TARGET)
                watched.forget()
                start = time.process_time()
                result = asked.explain(rejected, target=TARGET)
                seconds = time.process_time() - start
                found = sum(item.outcome == "found" for item in result)
                n = len(rejected)
                print(
                    f"| {name}, {kind} | {'no' if graph is None else 'yes'} |"
                    f" {seconds / n * 1e3:.1f} | {watched.n_answers / n:,.0f} |"
                    f" {watched.seconds / n * 1e3:.1f} | {watched.seconds / seconds:.0%} |"
                    f" {found} of {n} |",
                    flush=True,
                )


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
