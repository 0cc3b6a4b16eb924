"""The three losses of a counterfactual (Eq. 10), in the order in which every array holds them."""

from enum import IntEnum


class Loss(IntEnum):
    """Where a loss stands in the last axis of an array ``(…, 3)``; all are minimised."""

    PREDICTION = 0
    PROTOTYPE = 1
    DISTANCE = 2


LOSS_NAMES = tuple(loss.name.lower() for loss in Loss)
