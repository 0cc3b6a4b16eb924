"""How surely a model gives the target (Eq. 2)."""

from torch import Tensor

MIN_PROBABILITY = 1e-12  # a probability of zero costs no more than this one
_MAX_ENTRY = 1e6  # unit ranges


def prediction_loss(probabilities: Tensor, target: Tensor) -> Tensor:
    """Return ``-log p(target)`` (Eq. 2), ``(i, c)``, from probabilities ``(i, c, k)``."""
    return -target_probability(probabilities, target).clamp(min=MIN_PROBABILITY).log()


def target_probability(probabilities: Tensor, target: Tensor) -> Tensor:
    """Return the probability of each row's target: ``(i, …)`` from ``(i, …, k)``.

    Parameters
    ----------
    probabilities
        What the model gives for each class.
    target
        ``(i,)``, the wanted class of each row as a position.
    """
    return probabilities.gather(-1, target_index(target, probabilities)).squeeze(-1)


def clamp_for_model(rows: Tensor, known: Tensor) -> Tensor:
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
    return rows.clamp(min=-known, max=known)


def magnitude(rows: Tensor) -> Tensor:
    """Return how large the entries of rows ``(…, f)`` are, or may be for that matter."""
    return rows.abs().nan_to_num(nan=0.0).clamp(min=_MAX_ENTRY)


def target_index(target: Tensor, probabilities: Tensor) -> Tensor:
    """Return the target ``(i,)`` repeated for all candidates, ``(i, …, 1)``."""
    index = target.reshape(-1, *[1] * (probabilities.ndim - 1))
    return index.expand(*probabilities.shape[:-1], 1)
