"""Train a model where the person has none."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from proce.cli.console import Bars
from proce.cli.data import TrainingData
from proce.errors import ModelError
from proce.schema import Codec, Continuous, Schema

if TYPE_CHECKING:
    import pandas as pd

_SET_ASIDE = 0.2  # of the rows, to see how good the model is


@dataclass(frozen=True, eq=False)
class Trained:
    """A model, the rows it was trained on, and what to tell of it."""

    model: Any
    frame: "pd.DataFrame"
    notes: tuple[str, ...] = ()


def trained(kind: str, rows: TrainingData, seed: int, progress: Bars) -> Trained:
    """Train a model on most of the rows, and say how it does on the others."""
    from proce.classifier.networks import read_labels

    if rows.label is None:
        raise ModelError(f"train:{kind} needs labels; name their column with --label.")
    read_labels(rows.label, len(rows.frame))  # refuses missing labels, and a single class
    order = np.random.default_rng(seed).permutation(len(rows.frame))
    aside, kept = np.split(order, [int(len(order) * _SET_ASIDE)])
    kept.sort()
    frame, label = rows.frame.iloc[kept], rows.label.iloc[kept]
    model, seen = TRAINERS[kind](rows.schema, frame, label, seed, progress)
    if not len(aside):
        return Trained(model, seen)
    codec = Codec.fit(rows.schema, seen)
    from proce.classifier import as_classifier

    classifier = as_classifier(model, codec)
    said = classifier.predict(codec.encode(rows.frame.iloc[aside])).tolist()
    truth = rows.label.iloc[aside].tolist()
    right = np.mean(
        [classifier.classes[at] == label for at, label in zip(said, truth, strict=True)]
    )
    usual = max(truth.count(each) for each in set(truth)) / len(truth)
    note = (
        f"train:{kind} is right in {right:.1%} of {len(aside):,} rows that were set aside; always"
        f" saying the most frequent class would be right in {usual:.1%}."
    )
    if right <= usual:
        note += " It has learned nothing of use: give it more rows, or train another."
    return Trained(model, seen, (note,))


def _mlp(schema: Schema, frame: Any, label: Any, seed: int, progress: Bars) -> tuple[Any, Any]:
    from proce.classifier import fit_network

    codec = Codec.fit(schema, frame)
    return fit_network(codec, frame, label, seed=seed, progress=progress.training), frame


def _boosting(
    schema: Schema, frame: Any, label: Any, seed: int, _progress: Bars
) -> tuple[Any, Any]:
    """Train scikit-learn's boosted trees; levels of text go in as categories."""
    import pandas as pd
    from sklearn.ensemble import HistGradientBoostingClassifier

    texts = {
        feature.name: pd.CategoricalDtype(list(feature.levels))
        for feature in schema
        if not isinstance(feature, Continuous)
        and len(feature.columns) == 1
        and isinstance(feature.levels[0], str)
    }
    seen = frame.astype(texts)
    try:
        model = HistGradientBoostingClassifier(random_state=seed).fit(seen, label)
    except ValueError as error:
        raise ModelError(f"train:boosting cannot learn from these rows: {error}.") from error
    return model, seen


Trainer = Callable[[Schema, Any, Any, int, Bars], tuple[Any, Any]]
TRAINERS: dict[str, Trainer] = {"mlp": _mlp, "boosting": _boosting}
