"""Every method on the same people: time, validity, distance and changes, one counterfactual each.

Run: ``PROCE_DATA=... python benchmarks/methods.py`` (PyGAD and dice-ml: the ``bench`` extra).
Adult, 8 features, the paper's first classifier, 30 rejected people, one thread; all methods by
default, then each with some of its settings. No method gets a causal graph or rules. CPU time, that
of processes which a method starts included. Target: no method of ours above 0.5 s a row.
"""

import sys
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from cpu_time import cpu_seconds
from sklearn.model_selection import train_test_split

from proce.classifier import TrainedNetwork, fit_network
from proce.datasets import Dataset, load_dataset
from proce.explanation import Explanations
from proce.latent import VariationalSettings
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
from proce.schema import Codec, MixedDistance

ROWS, FEW = 30, 5  # the second where a row takes seconds
HEAD = "| | fit, s | ms a row | found | Gower distance | features changed | evaluations |"


@dataclass(frozen=True)
class Use:
    """A line of a table: a method and how it is used.

    Attributes
    ----------
    title
        The method, which is the heading of its table.
    label
        How it is used; ``default`` stands in the table of all methods, too.
    method
        The class.
    settings, options
        Of the settings class, and of the method itself.
    recourse
        Whether only what people can act on may be acted on.
    rows
        How many people.
    """

    title: str
    label: str
    method: Any
    settings: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    recourse: bool = False
    rows: int = ROWS


RESPECTING = {"respect_schema": True}
USES = (
    Use("ProCE", "default", ProCE, options={"causal": "off"}),
    Use("Wachter", "default", Wachter),
    Use("Wachter", '`loss="squared"`', Wachter, {"loss": "squared"}),
    Use("Growing Spheres", "default", GrowingSpheres),
    Use("Growing Spheres", "`n_candidates=300`", GrowingSpheres, {"n_candidates": 300}),
    Use("CERTIFAI", "default", Certifai),
    Use("CERTIFAI", "`respect_schema=True`", Certifai, options=RESPECTING),
    Use("DiCE", "default", Dice),
    Use("DiCE", "`genetic`", Dice, {"method": "genetic"}),
    Use("DiCE", f"`gradient`, {FEW} rows", Dice, {"method": "gradient"}, rows=FEW),
    Use("DiCE", "`respect_schema=True`", Dice, options=RESPECTING),
    Use("FACE", "default", Face),
    Use("C-CHVAE", "default", Cchvae),
    Use("C-CHVAE", "`kl_weight=1`", Cchvae, {"network": VariationalSettings(kl_weight=1.0)}),
    Use("C-CHVAE", "`recourse_schema`", Cchvae, recourse=True),
    Use("Nearest", "default", Nearest),
    Use("Nearest", '`reward="proximity"`', Nearest, {"reward": "proximity"}),
    Use("Nearest", "`sparse=False`", Nearest, {"sparse": False}),
    Use("Nearest", "`recourse_schema`", Nearest, recourse=True),
)


@dataclass(frozen=True)
class Setting:
    """What every method gets: a model, the rows it was trained on, and people it rejects."""

    model: TrainedNetwork
    codec: Codec
    data: Dataset
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
        rejected = test[model.predict(codec.encode(test)) == 0][:ROWS]
        return cls(model, codec, data, train, rejected)


def cpu(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the CPU time of a call and of the processes that it started, and what it returned."""
    start = cpu_seconds()
    result = work()
    return cpu_seconds() - start, result


def figures(use: Use, setting: Setting) -> str:
    """Fit, explain, and return the figures of a line."""
    schema = setting.data.recourse_schema if use.recourse else setting.data.schema
    options = dict(use.options)
    if use.settings:
        options["settings"] = use.method.Settings(**use.settings)
    method: Method = use.method(setting.model, schema, **options)
    people = setting.rejected[: use.rows]
    fit, _ = cpu(lambda: method.fit(setting.train))
    method.explain(people[:1], target=1, n=1)  # compiles, so that this is not timed
    seconds, result = cpu(lambda: method.explain(people, target=1, n=1))
    distance, changed = mean_changes(result, setting.codec)
    n_found = sum(len(item) > 0 for item in result)
    return (
        f"{fit:.1f} | {seconds / use.rows * 1e3:,.0f} | {n_found / use.rows:.0%} |"
        f" {distance:.3f} | {changed:.2f} | {result.provenance.evaluations / use.rows:,.0f} |"
    )


def mean_changes(result: Explanations, codec: Codec) -> tuple[float, float]:
    """Return the means of Gower's distance and of the number of changed features, where found."""
    answered = [item for item in result if len(item)]
    if not answered:
        return float("nan"), float("nan")
    rows = np.stack([item.rows[0] for item in answered])
    gaps = MixedDistance.gower(codec)(rows, np.stack([item.factual for item in answered]))
    return float(gaps.mean()), float((gaps > 0).sum(-1).mean())


def main() -> None:
    """Measure and print: all methods by default, then each as its page shows it."""
    torch.set_num_threads(1)
    setting = Setting.of(load_dataset("adult"))
    tables: dict[str, list[tuple[str, str]]] = {"All": []}
    for use in USES:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # those of the packages behind a method
                line = figures(use, setting)
        except ImportError as error:
            print(f"{use.title} is skipped: {error}", file=sys.stderr)
            continue
        tables.setdefault(use.title, []).append((use.label, line))
        if use.label == "default":
            tables["All"].append((use.title, line))
    for heading, lines in tables.items():
        print_table(heading, lines)


def print_table(heading: str, lines: list[tuple[str, str]]) -> None:
    """Print lines under a heading."""
    print(f"### {heading}\n\n{HEAD}\n|{'---|' * HEAD[1:].count('|')}")
    for label, text in lines:
        print(f"| {label} | {text}")
    print()


if __name__ == "__main__":
    main()
