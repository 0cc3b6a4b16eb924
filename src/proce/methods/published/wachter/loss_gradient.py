"""The gradient of Wachter's loss with respect to the input of a network, by PyTorch."""

import torch
from torch import Tensor

from proce.arrays import Floats, Ints
from proce.classifier import TrainedNetwork
from proce.classifier.adapters.from_torch import TorchClassifier


def loss_gradient(
    classifier: TrainedNetwork | TorchClassifier, points: Floats, target: Ints, loss: str
) -> Floats:
    """Return the gradient ``(n, w)`` of the loss of the target's probability.

    Shapes: target ``(n,)``.
    """
    network = classifier.module if isinstance(classifier, TrainedNetwork) else classifier
    # A probability too small for the weights' numbers still has a logarithm with a gradient, so
    # the loss is differentiated as a whole.
    return network.loss_gradient(points, target, _LOSSES[loss])


def _squared(chances: Tensor) -> Tensor:
    return (1 - chances) ** 2


def _cross_entropy(chances: Tensor) -> Tensor:
    # `losses.loss_of_chance` ends at 1e-12, where there would be no gradient to follow any more.
    return -chances.clamp(min=torch.finfo(chances.dtype).tiny).log()


_LOSSES = {"squared": _squared, "cross_entropy": _cross_entropy}
