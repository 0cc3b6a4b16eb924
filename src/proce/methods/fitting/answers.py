"""How a model answers about training rows: with labels, or otherwise each time."""

import logging

import numpy as np

from proce.arrays import Array
from proce.classifier import Classifier

_log = logging.getLogger(__name__)
_N_ASKED, _MIN_ASKED = 256, 20  # training rows, to see how a model answers
_MAX_DIFFERENCE = 1e-6  # of two answers about the same rows: processors add up in any order


def warn_of_answers(classifier: Classifier, rows: Array) -> None:
    """Warn of a model that answers with labels, or otherwise when it is asked again.

    Parameters
    ----------
    classifier
        The model.
    rows
        ``(n, f)``, the training rows, of which the first are asked about twice.
    """
    sample = rows[:_N_ASKED]
    answers = classifier.predict_proba(sample)
    _warn_of_differences(answers, classifier.predict_proba(sample))
    if len(sample) >= _MIN_ASKED and bool(are_labels(answers).all()):
        _log.warning(
            "The model gave probabilities of 0 and 1 alone for %d training rows, as if they were"
            " labels. Nothing then says which change comes nearer to the decision, so that a search"
            " may miss what there is, and every chance that is told is 0%% or 100%%. Give the"
            " model's own probabilities, such as predict_proba, or a calibrated model.",
            len(sample),
        )


def are_labels(probabilities: Array) -> Array:
    """Return flags for probabilities that leave no doubt."""
    return (probabilities == 0) | (probabilities == 1)


def _warn_of_differences(first: Array, second: Array) -> None:
    """Warn of a model whose answers about the same rows, in the same order, are not the same."""
    difference = np.abs(first - second).max(-1)
    n_different = int((difference > _MAX_DIFFERENCE).sum())
    if n_different:
        _log.warning(
            "The model is not repeatable: asked twice about the same %d training rows, it answered"
            " otherwise for %d of them, by up to %.2g in a probability. What is found holds for the"
            " answer that was given last; the next one may be another, so no advice is sure. Take"
            " chance out of the model: fix its seed, switch dropout off, or average its answers.",
            len(first),
            n_different,
            float(difference.max()),
        )
