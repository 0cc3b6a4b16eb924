"""The labels of the training rows, and the refits of the model that were made with them."""

import numpy as np

from proce.arrays import Array
from proce.classifier import Classifier, as_classifier
from proce.classifier.adapters.from_sklearn import SklearnClassifier
from proce.classifier.refits import ModelRefits
from proce.classifier.skops_files import estimator_bytes, estimator_of
from proce.errors import PersistenceError

_LABELS = "labels"
_REFIT = "model_refit."


def refit_arrays(refits: ModelRefits | None, *, rows: bool, models: bool) -> dict[str, Array]:
    """Return what is kept of refits, by the name of the array.

    Parameters
    ----------
    refits
        The refits of an explainer's model, or ``None``.
    rows
        Whether labels are kept, which are of use with the training rows only.
    models
        Whether the refits that were made are kept too, as files of scikit-learn's estimators.
    """
    if refits is None:
        return {}
    arrays = {_LABELS: refits.labels} if rows and len(refits.labels) else {}
    for number, refit in enumerate(refits.kept if models else ()):
        assert isinstance(refit, SklearnClassifier), "only such models are fitted again"
        content = np.frombuffer(estimator_bytes(refit.model), dtype=np.uint8)
        arrays[f"{_REFIT}{number}"] = content.copy()
    return arrays


def load_refits(
    arrays: dict[str, Array],
    classifier: Classifier,
    rows: Array,
    threshold: float | None,
    seed: int,
) -> ModelRefits | None:
    """Return the refits of a saved explainer; ``None`` where neither labels nor refits were kept.

    Parameters
    ----------
    arrays
        The arrays of the folder.
    classifier, rows
        The model, and the training rows, none where they were left out.
    threshold, seed
        Those of the explainer.
    """
    names = [f"{_REFIT}{number}" for number in range(len(arrays))]
    saved = [arrays[name] for name in names if name in arrays]
    labels = arrays.get(_LABELS, np.empty(0, dtype=np.int64))
    if not isinstance(classifier, SklearnClassifier) or not (len(saved) or len(labels)):
        return None
    known = labels.dtype == np.int64 and labels.shape in ((len(rows),), (0,))
    if not known or bool(((labels < 0) | (labels >= len(classifier.classes))).any()):
        raise PersistenceError("the labels of the training rows are damaged.")
    models = [estimator_of(content.tobytes()) for content in saved]
    kept = [as_classifier(model, classifier.codec, threshold) for model in models]
    if any(refit.classes != classifier.classes for refit in kept):
        raise PersistenceError("the refits of the model are damaged.")
    return ModelRefits(classifier, rows[: len(labels)], labels, threshold, seed, kept)
