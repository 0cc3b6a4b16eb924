"""Every method on the same people: time, validity, distance and changes, one counterfactual each.

Run: ``PROCE_DATA=... python benchmarks/methods.py`` (PyGAD and dice-ml: the ``bench`` extra).
Adult, 8 features, the paper's first classifier, 30 rejected people, one thread, default settings,
no method gets a causal graph or rules. CPU time, that of processes which a method starts included.
Target: no method of ours above 0.5 s a row.
"""

import os
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from sklearn.model_selection import train_test_split

from proce.classifier import TrainedNetwork, fit_network
from proce.datasets import Dataset, load_dataset
from proce.explanation import Explanations
from proce.methods import (
    Cchvae,
    Certifai,
    Dice,
    Face,
    GrowingSpheres,
    Method,
    Nearest,
    ProCE,
    Wachter,
)
from proce.objective import MixedDistance
from proce.schema import Codec, Schema

ROWS = 30
PUBLISHED: tuple[tuple[str, type, dict[str, str]], ...] = (  # label, class, settings
    ("Wachter", Wachter, {}),
    ("Growing Spheres", GrowingSpheres, {}),
    ("CERTIFAI", Certifai, {}),
    ("DiCE, random", Dice, {"method": "random"}),
    ("DiCE, genetic", Dice, {"method": "genetic"}),
    ("FACE", Face, {}),
    ("C-CHVAE", Cchvae, {}),
    ("Nearest", Nearest, {}),
)


@dataclass(frozen=True)
class Setting:
    """What every method gets: a model, the rows it was trained on, and people it rejects."""

    model: TrainedNetwork
    codec: Codec
    schema: Schema
    train: Any
    rejected: Any

    @classmethod
    def of(cls, data: Dataset) -> "Setting":
        """Train the classifier, and take the first people of the test rows whom it rejects."""
        train, test, label, _ = train_test_split(
            data.frame, data.label, test_size=0.2, random_state=0
        )
        codec = Codec.fit(data.schema, train)
        model = fit_network(codec, train, label)
        rejected = test[(model.predict(codec.encode(test)) == 0).numpy()][:ROWS]
        return cls(model, codec, data.schema, train, rejected)


def cpu(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the CPU time of a call and of the processes that it started, and what it returned."""
    start = sum(os.times()[:4])
    result = work()
    return sum(os.times()[:4]) - start, result


def make_methods(setting: Setting) -> Iterator[tuple[str, Method]]:
    """Yield the methods with their labels."""
    yield "ProCE", ProCE(setting.model, setting.schema, causal="off")
    for label, method, settings in PUBLISHED:
        yield label, method(setting.model, setting.schema, method.Settings(**settings))


def table_line(label: str, method: Method, setting: Setting) -> str:
    """Fit, explain, and return a line of the table."""
    fit, _ = cpu(lambda: method.fit(setting.train))
    method.explain(setting.rejected[:1], target=1, n=1)  # compiles, so that this is not timed
    seconds, result = cpu(lambda: method.explain(setting.rejected, target=1, n=1))
    distance, changed = mean_changes(result, setting.codec)
    n_found = sum(len(item) > 0 for item in result)
    return (
        f"| {label} | {fit:.1f} | {seconds / ROWS * 1e3:.0f} | {n_found / ROWS:.0%} |"
        f" {distance:.3f} | {changed:.2f} |"
    )


def mean_changes(result: Explanations, codec: Codec) -> tuple[float, float]:
    """Return the means of Gower's distance and of the number of changed features, where found."""
    answered = [item for item in result if len(item)]
    if not answered:
        return float("nan"), float("nan")
    rows = torch.stack([item.rows[0] for item in answered])
    gaps = MixedDistance.gower(codec)(rows, torch.stack([item.factual for item in answered]))
    return float(gaps.mean()), float((gaps > 0).double().sum(-1).mean())


def main() -> None:
    """Measure and print."""
    torch.set_num_threads(1)
    setting = Setting.of(load_dataset("adult"))
    print("| method | fit, s | ms a row | found | distance | changed |")
    print("|---|---|---|---|---|---|")
    for label, method in make_methods(setting):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # those of the packages behind a method
                print(table_line(label, method, setting), flush=True)
        except ImportError as error:
            print(f"{label} is skipped: {error}", file=sys.stderr)


if __name__ == "__main__":
    main()
