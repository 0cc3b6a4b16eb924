"""The three losses of a counterfactual (Eq. 10), in the order in which every array holds them."""

from enum import IntEnum

import numpy as np

from proce.arrays import Array
from proce.compiled.elementary import exponentials, logarithms


class Loss(IntEnum):
    """Where a loss stands in the last axis of an array ``(…, 3)``; all are minimised."""

    PREDICTION = 0
    PROTOTYPE = 1
    DISTANCE = 2


MIN_CHANCE = 1e-12  # a chance of zero costs no more than this one
LOSS_NAMES = tuple(loss.name.lower() for loss in Loss)


def target_probability(probabilities: Array, target: Array) -> Array:
    """Return the probability of each row's target: ``(i, …)`` from ``(i, …, k)``.

    Shapes: target ``(i,)``.
    """
    own: Array = probabilities[np.arange(len(probabilities)), ..., target]
    return own


def loss_of_chance(chances: Array) -> Array:
    """Return ``-log p`` (Eq. 2) of the target's probabilities; no chance costs a finite loss."""
    return -logarithms(np.maximum(chances, MIN_CHANCE))


def prediction_loss(probabilities: Array, target: Array) -> Array:
    """Return ``-log p(target)`` (Eq. 2), ``(i, c)``, from probabilities ``(i, c, k)``."""
    return loss_of_chance(target_probability(probabilities, target))


def chance_of_loss(losses: Array) -> Array:
    """Return the target's probabilities of prediction losses; undoes :func:`loss_of_chance`."""
    return exponentials(-losses)
