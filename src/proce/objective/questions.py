"""How a model is asked about the candidates of a search."""

import numpy as np

from proce.arrays import Array, flatten
from proce.classifier import Classifier, PredictionCache, model_inputs, predict_inputs
from proce.objective.prediction import clamp_for_model
from proce.objective.query import Query
from proce.schema import Codec


def ask_about_candidates(
    classifier: Classifier, rows: Array, query: Query, codec: Codec, answers: PredictionCache | None
) -> Array:
    """Return the class probabilities ``(i, c, k)`` that a model gives candidates ``(i, c, f)``.

    A cell that is as it was goes to the model as it came in, bit for bit.

    Parameters
    ----------
    classifier
        The model.
    rows
        The candidates, in the entries of the codec.
    query
        The rows whose candidates they are.
    codec
        The features and their scale.
    answers
        What the model has answered already; the same candidate of the same row is not asked about
        again. ``None`` to ask about all.
    """
    near = clamp_for_model(rows, np.maximum(query.magnitude, codec.largest))
    raw = None if query.raw is None else query.raw[:, None]
    values = flatten(model_inputs(classifier, near, query.factual[:, None], raw, codec), 0, 1)
    if answers is None:
        chances = predict_inputs(classifier, values)
    else:
        owners = np.broadcast_to(query.keys[:, None], rows.shape[:-1]).ravel()
        chances = answers.ask(values, owners, lambda some: predict_inputs(classifier, some))
    return chances.reshape(*rows.shape[:-1], -1)
