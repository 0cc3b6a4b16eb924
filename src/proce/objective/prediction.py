"""How surely a model gives the target (Eq. 2)."""

import numpy as np

from proce.arrays import Array
from proce.losses import loss_of_chance, target_probability

_MAX_ENTRY = 1e6  # unit ranges


def prediction_loss(probabilities: Array, target: Array) -> Array:
    """Return ``-log p(target)`` (Eq. 2), ``(i, c)``, from probabilities ``(i, c, k)``."""
    return loss_of_chance(target_probability(probabilities, target))


def clamp_for_model(rows: Array, known: Array) -> Array:
    """Return rows without entries so far from all known rows that a model could fail on them.

    Equations can lead anywhere. A candidate that ends far outside of the training rows is not
    allowed anyway, but the model is asked about it together with all others.

    Parameters
    ----------
    rows
        ``(…, f)``.
    known
        The :func:`magnitude` of what is there, in a shape that broadcasts to the rows.
    """
    least = known.min(initial=np.inf)
    if -least <= rows.min(initial=0.0) and rows.max(initial=0.0) <= least:  # no copy is needed
        return rows
    return np.clip(rows, -known, known)


def magnitude(rows: Array) -> Array:
    """Return how large the entries of rows ``(…, f)`` are, or may be for that matter."""
    return np.maximum(np.nan_to_num(np.abs(rows), nan=0.0), _MAX_ENTRY)
