"""Does advice survive a new model, and what does it cost? The table of ``docs/howto/robust.md``.

Run: ``python benchmarks/robust.py --out FILE [--data loan adult] [--seeds 0 1] [--rows 40]``.
Rejected test rows are explained as the closest, with the default margin, and with ``robust=0.95``
under 20 refits. Five further refits that nobody has seen, on other draws and with other seeds, say
how much survives. The networks of the paper are trained by ``fit_network`` and given as a list;
boosted trees are refitted by the explainer itself.

Every cell that is done is one line of JSON in ``--out`` and is not run again. ``--table`` prints
the table of such a file and runs nothing.
"""

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import train_test_split

from proce.classifier import Classifier, as_classifier, fit_network, kept_by
from proce.classifier.refits import ModelRefits, read_known_labels
from proce.datasets import Dataset, load_dataset
from proce.explanation import Explanations
from proce.losses import Loss
from proce.methods import ProCE, SearchSettings
from proce.metrics import bootstrap_refits
from proce.schema import Codec, Continuous

NETWORKS = ("loan", "adult", "simple_bn", "sangiovese", "law")
BOOSTED = ("german_credit", "credit_card")
CELLS = (
    *((name, kind) for name in NETWORKS for kind in ("first", "second")),
    *((name, "boosting") for name in BOOSTED),
)
MAX_TRAINING_ROWS = 4_000  # 26 models are trained in a cell
N_MODELS, N_UNSEEN = 20, 5
UNSEEN_SEED, SEEN_SEED = 30_000, 50_000
ROBUST = 0.95


@dataclass(frozen=True)
class Line:
    """What one way of asking came to in a cell; lists have an entry for each rejected row.

    Attributes
    ----------
    data, model, seed
        The data set, the kind of model, and the seed of the split.
    way
        ``closest``, ``margin`` or ``robust``.
    found
        Whether the row has a counterfactual.
    survives
        The share of the unseen refits under which it keeps its class; None without one.
    told
        The share of the known refits, as the result tells it.
    distance
        Its distance.
    cpu_ms
        What the explanation of one row took, in milliseconds of CPU time.
    fit_cpu_seconds
        What all models and the explainer took to fit.
    """

    data: str
    model: str
    seed: int
    way: str
    found: list[bool]
    survives: list[float | None]
    told: list[float | None]
    distance: list[float | None]
    cpu_ms: float
    fit_cpu_seconds: float


@dataclass(frozen=True)
class Cell:
    """An explainer, the rows that its model rejects, and other models, known and unseen."""

    explainer: ProCE
    rejected: Any
    models: Any
    unseen: Sequence[Classifier]


def prepare(name: str, kind: str, seed: int, n_rows: int) -> Cell:
    """Split the data, train everything, and draw the rows to explain."""
    data = load_dataset(name)
    train, test, label, _ = train_test_split(
        data.frame, data.label, test_size=0.2, random_state=seed
    )
    train, label = train.iloc[:MAX_TRAINING_ROWS], label.iloc[:MAX_TRAINING_ROWS]
    if kind == "boosting":
        return _boosted(data, train, test, label, seed, n_rows)
    codec = Codec.fit(data.schema, train)
    encoded, labels = codec.encode(train), label.to_numpy()

    def fit(rows: Any, own_seed: int) -> Any:
        return fit_network(
            codec,
            encoded[rows],
            labels[rows],
            architecture=kind,
            balanced=name == "law",
            seed=own_seed,
        )

    model = fit(np.arange(len(labels)), seed)
    models = bootstrap_refits(fit, labels, n_refits=N_MODELS, seed=SEEN_SEED + seed)
    unseen = bootstrap_refits(fit, labels, n_refits=N_UNSEEN, seed=UNSEEN_SEED + seed)
    explainer = ProCE(model, data.schema, data.graph, data.rules, seed=seed).fit(train)
    adapted = [as_classifier(refit, explainer.fitted_.codec) for refit in unseen]
    rejected = test[model.predict(codec.encode(test)) == 0].head(n_rows)
    return Cell(explainer, rejected, list(models), adapted)


def _boosted(data: Dataset, train: Any, test: Any, label: Any, seed: int, n_rows: int) -> Cell:
    import pandas as pd

    levels = {
        feature.name: pd.CategoricalDtype(list(feature.levels))
        for feature in data.schema
        if not isinstance(feature, Continuous) and isinstance(feature.levels[0], str)
    }
    train, test = train.astype(levels), test.astype(levels)
    model = HistGradientBoostingClassifier(random_state=seed).fit(train, label)
    explainer = ProCE(model, data.schema, data.graph, data.rules, seed=seed, models=N_MODELS)
    fitted = explainer.fit(train, label).fitted_
    assert fitted.model_refits is not None, "trees can be fitted again"
    fitted.model_refits.first(N_MODELS)
    labels = read_known_labels(label, fitted.classifier, len(train))
    unseen = ModelRefits(fitted.classifier, fitted.rows, labels, seed=UNSEEN_SEED + seed)
    rejected = test[model.predict(test) != 1].head(n_rows)
    return Cell(explainer, rejected, N_MODELS, unseen.first(N_UNSEEN))


def measure(name: str, kind: str, seed: int, n_rows: int) -> Iterator[Line]:
    """Yield what the three ways of asking come to."""
    start = time.process_time()
    cell = prepare(name, kind, seed, n_rows)
    fit_seconds = time.process_time() - start
    fitted = cell.explainer.fitted_
    for way in ("closest", "margin", "robust"):
        margin = 0.0 if way == "closest" else SearchSettings().margin
        cell.explainer.fitted_ = replace(fitted, settings=replace(fitted.settings, margin=margin))
        start = time.process_time()
        result = cell.explainer.explain(
            cell.rejected,
            target=1,
            n=1,
            robust=ROBUST if way == "robust" else None,
            models=cell.models,
            keep_front=False,
        )
        cpu_ms = 1_000 * (time.process_time() - start) / max(1, len(cell.rejected))
        yield Line(
            name,
            kind,
            seed,
            way,
            [len(item) > 0 for item in result],
            _survival(result, cell.unseen),
            [float(item.robustness[0]) / N_MODELS if len(item) else None for item in result],
            [float(item.losses[0, Loss.DISTANCE]) if len(item) else None for item in result],
            cpu_ms,
            fit_seconds,
        )


def _survival(result: Explanations, unseen: Sequence[Classifier]) -> list[float | None]:
    survives: list[float | None] = []
    for item in result:
        if len(item):
            way, target = item.rows[:1], np.array([item.target])
            kept = kept_by(unseen, lambda model, way=way: model.predict_proba(way), target)
            survives.append(float(kept.mean()))
        else:
            survives.append(None)
    return survives


def print_table(lines: Sequence[dict[str, Any]]) -> None:
    """Print one line for each data set and model, over all splits."""
    names = "data set|model|rows|survive: closest|margin 0.1|robust|all five|told|found"
    names += "|distance: margin 0.1|robust|CPU ms: margin 0.1|robust"
    print(f"| {names.replace('|', ' | ')} |")
    print("|---" * 13 + "|")
    means = []
    for name, kind in CELLS:
        own = [line for line in lines if (line["data"], line["model"]) == (name, kind)]
        if not own:
            continue
        closest, margin, robust = (
            [line for line in own if line["way"] == way] for way in ("closest", "margin", "robust")
        )
        survives = [share for share in _column(robust, "survives") if share is not None]
        means.append(np.mean(survives))
        distances = zip(_column(margin, "distance"), _column(robust, "distance"), strict=True)
        before, after = np.mean([pair for pair in distances if None not in pair], axis=0)
        print(
            f"| {name} | {kind} | {len(_column(robust, 'found'))} |"
            f" {_percent(_column(closest, 'survives'))} |"
            f" {_percent(_column(margin, 'survives'))} | {_percent(survives)} |"
            f" {_percent([float(share == 1) for share in survives])} |"
            f" {_percent(_column(robust, 'told'))} | {_percent(_column(robust, 'found'))} |"
            f" {before:.3f} | {after:.3f} |"
            f" {np.mean([line['cpu_ms'] for line in margin]):.0f} |"
            f" {np.mean([line['cpu_ms'] for line in robust]):.0f} |"
        )
    print(f"Mean over {len(means)} cells: {_percent(means)}; the least {_percent([min(means)])}.")


def _column(lines: Sequence[dict[str, Any]], name: str) -> list[Any]:
    return [value for line in lines for value in line[name]]


def _percent(values: Sequence[float | None]) -> str:
    known = [value for value in values if value is not None]
    return f"{100 * np.mean(known):.1f}%" if known else "-"


def main() -> None:
    """Measure the cells that are not done yet, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--data", nargs="+", default=[*NETWORKS, *BOOSTED])
    parser.add_argument("--models", nargs="+", default=["first", "second", "boosting"])
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    parser.add_argument("--rows", type=int, default=40)
    parser.add_argument("--table", action="store_true")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    text = asked.out.read_text("utf-8") if asked.out.exists() else ""
    lines = [json.loads(line) for line in text.splitlines()]
    done = {(line["data"], line["model"], line["seed"]) for line in lines}
    for seed in [] if asked.table else asked.seeds:
        for name, kind in CELLS:
            if name not in asked.data or kind not in asked.models or (name, kind, seed) in done:
                continue
            measured = [asdict(line) for line in measure(name, kind, seed, asked.rows)]
            with asked.out.open("a", encoding="utf-8") as file:
                file.writelines(json.dumps(line) + "\n" for line in measured)
            lines += measured
    print_table(lines)


if __name__ == "__main__":
    main()
