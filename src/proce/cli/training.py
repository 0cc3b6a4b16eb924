"""Train a model for ``proce fit`` where the person has none."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from proce.cli.console import ProgressBars
from proce.cli.data import TrainingData
from proce.errors import ModelError
from proce.schema import Codec, Continuous, Schema

if TYPE_CHECKING:
    import pandas as pd

_TEST_SHARE = 0.2  # of the rows, kept out of training to see how good the model is


@dataclass(frozen=True, eq=False)
class ModelAndRows:
    """A trained model, and the rows it was trained on in the dtypes that it takes."""

    model: Any
    frame: "pd.DataFrame"  # the rows it was trained on
    label: "pd.Series[Any] | None" = None
    notes: tuple[str, ...] = ()  # what a person should know of the training


def train_model(kind: str, rows: TrainingData, seed: int, progress: ProgressBars) -> ModelAndRows:
    """Train a model on most of the rows, and note how often it is right on the others."""
    from proce.classifier.labels import read_labels

    if rows.label is None:
        raise ModelError(f"train:{kind} needs labels; name their column with --label.")
    read_labels(rows.label, len(rows.frame))  # refuses missing labels, and a single class
    order = np.random.default_rng(seed).permutation(len(rows.frame))
    test, train = np.split(order, [int(len(order) * _TEST_SHARE)])
    train.sort()
    frame, label = rows.frame.iloc[train], rows.label.iloc[train]
    model, seen = TRAINERS[kind](rows.schema, frame, label, seed, progress)
    if not len(test):
        return ModelAndRows(model, seen, label)
    codec = Codec.fit(rows.schema, seen)
    note = _test_note(kind, model, codec, rows.frame.iloc[test], rows.label.iloc[test].tolist())
    return ModelAndRows(model, seen, label, (note,))


def _test_note(
    kind: str, model: Any, codec: Codec, frame: "pd.DataFrame", labels: list[Any]
) -> str:
    """Say how often the model is right on test rows, and whether guessing would do as well."""
    from proce.classifier import as_classifier

    classifier = as_classifier(model, codec)
    codes = classifier.predict(codec.encode(frame)).tolist()
    predicted = [classifier.classes[code] for code in codes]
    accuracy = np.mean([guess == label for guess, label in zip(predicted, labels, strict=True)])
    majority_share = max(labels.count(label) for label in set(labels)) / len(labels)
    note = (
        f"train:{kind} is right in {accuracy:.1%} of {len(labels):,} rows that were set aside;"
        f" always saying the most frequent class would be right in {majority_share:.1%}."
    )
    if accuracy <= majority_share:
        note += " It has learned nothing of use: give it more rows, or train another."
    return note


def _train_mlp(
    schema: Schema, frame: Any, label: Any, seed: int, progress: ProgressBars
) -> tuple[Any, Any]:
    """Train the network of the paper's first classifier."""
    from proce.classifier import fit_network

    codec = Codec.fit(schema, frame)
    return fit_network(codec, frame, label, seed=seed, progress=progress.training), frame


def _train_boosting(
    schema: Schema, frame: Any, label: Any, seed: int, _progress: ProgressBars
) -> tuple[Any, Any]:
    """Train scikit-learn's boosted trees; levels that are text go in as categories."""
    import pandas as pd
    from sklearn.ensemble import HistGradientBoostingClassifier

    categories = {
        feature.name: pd.CategoricalDtype(list(feature.levels))
        for feature in schema
        if not isinstance(feature, Continuous)
        and len(feature.columns) == 1
        and isinstance(feature.levels[0], str)
    }
    seen = frame.astype(categories)
    try:
        model = HistGradientBoostingClassifier(random_state=seed % 2**32).fit(seen, label)
    except ValueError as error:
        raise ModelError(f"train:boosting cannot learn from these rows: {error}.") from error
    return model, seen


Trainer = Callable[[Schema, Any, Any, int, ProgressBars], tuple[Any, Any]]
TRAINERS: dict[str, Trainer] = {"mlp": _train_mlp, "boosting": _train_boosting}
