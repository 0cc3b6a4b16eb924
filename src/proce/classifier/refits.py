"""Fit a model again on resampled rows, to see how much of what it says is chance."""

from dataclasses import dataclass, field
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd

from proce.arrays import Array
from proce.classifier.accept import as_classifier
from proce.classifier.adapters.from_sklearn import SklearnClassifier
from proce.classifier.classifier import Classifier, distinct_labels, position_of
from proce.errors import ModelError, first_line

_SEED_NAMES = ("random_state", "random_seed")
_LIST = "give fitted models of your own instead: models=[...]."


@dataclass(frozen=True, eq=False)
class ModelRefits:
    """An estimator that is fitted again on rows drawn with replacement; each refit once."""

    # The drawn rows keep the share of every class. The estimator itself is never fitted: each refit
    # is a clone of it with the same parameters and a seed of its own.

    classifier: Classifier  # the adapted estimator
    rows: Array  # the training rows ``(n, f)``; empty where they are not known any more
    labels: Array  # the class of each row ``(n,)``, as a position among the classes
    # The decision threshold that the explainer was given, or ``None``
    threshold: float | None = None
    seed: int = 0  # the seed of the draws
    # The refits that were made or loaded so far
    kept: list[Classifier] = field(default_factory=list)

    def first(self, n: int) -> tuple[Classifier, ...]:
        """Return the first ``n`` refits; those that are not there yet are fitted."""
        while len(self.kept) < n:
            self.kept.append(self._fit(len(self.kept)))
        return tuple(self.kept[:n])

    def _fit(self, number: int) -> Classifier:
        adapted = self.classifier
        if not isinstance(adapted, SklearnClassifier):
            raise ModelError(
                "only an estimator of scikit-learn's kind can be fitted again, and the model is"
                f" none; {_LIST}"
            )
        if not len(self.rows):
            raise ModelError(
                f"more than {number} refits of {adapted.name} are wanted, and without its training"
                f" rows no more can be fitted. Ask for at most {number}, or {_LIST}"
            )
        drawn = draw_within_classes(self.labels, np.random.default_rng([self.seed, number]))
        frame = adapted.codec.decode(self.rows[drawn], adapted.layout)
        opened: nw.DataFrame[Any] = nw.from_native(frame, eager_only=True)
        known = getattr(adapted.model, "classes_", np.asarray(adapted.classes))
        labels = np.asarray(known)[self.labels[drawn]]
        refit = _clone(adapted, self.seed + 1 + number)
        try:
            refit.fit(opened.to_numpy() if adapted.as_array else frame, labels)
        except Exception as error:
            raise ModelError(
                f"{adapted.name} cannot be fitted again on resampled training rows:"
                f" {first_line(error)}. Fit it again yourself, and {_LIST}"
            ) from error
        return as_classifier(refit, adapted.codec, self.threshold)


def read_known_labels(label: Any, classifier: Classifier, n_rows: int) -> Array:
    """Return the class of each training row as a position ``(n,)``."""
    unique, inverse = distinct_labels(label, "y", n_rows)
    try:
        positions = [position_of(value, classifier.classes) for value in unique]
    except ModelError as error:
        raise ModelError(
            f"y is not of the model's classes: {error} Leave y out if the model is not to be fitted"
            " again."
        ) from error
    return np.array(positions)[inverse]


def require_same_order(frame: Any, label: Any) -> None:
    """Refuse labels whose index names the rows of a frame in another order than the frame has."""
    # Labels belong to rows by position, so such labels would belong to other rows. Labels with any
    # other index, or without one, are taken as they stand.
    if not isinstance(frame, pd.DataFrame) or not isinstance(label, pd.Series | pd.DataFrame):
        return
    rows, own = frame.index, label.index
    if rows.equals(own) or not rows.is_unique or len(rows) != len(own):
        return
    if own.is_unique and bool(own.isin(rows).all()):
        raise ModelError(
            "y has the rows of X in another order, as its index says, and labels are taken by"
            " position. Give y.loc[X.index]; or y.to_numpy() if the order is right as it is."
        )


def can_refit(classifier: Classifier) -> bool:
    """Whether a model is an estimator that can be cloned and fitted again."""
    if not isinstance(classifier, SklearnClassifier):
        return False
    return hasattr(classifier.model, "fit") and hasattr(classifier.model, "get_params")


def draw_within_classes(labels: Array, generator: np.random.Generator) -> Array:
    """Return positions of as many rows as there are, drawn with replacement in each class."""
    # So no class dies out. ``labels`` are ``(n,)``, of any kind.
    members = [np.flatnonzero(labels == label) for label in np.unique(labels)]
    drawn = [generator.choice(rows, len(rows)) for rows in members]
    return np.concatenate(drawn)


def _clone(adapted: SklearnClassifier, seed: int) -> Any:
    """Return an unfitted copy of an estimator in which everything random has another seed."""
    from sklearn.base import clone

    try:
        copy = clone(adapted.model)
        parameters = copy.get_params()
    except Exception as error:
        raise ModelError(f"{adapted.name} cannot be cloned: {error}. Please {_LIST}") from error
    seeds = {name: seed for name in parameters if name.split("__")[-1] in _SEED_NAMES}
    return copy.set_params(**seeds) if seeds else copy
