"""The gradient of Wachter's loss with respect to the input of a network, by PyTorch."""

from itertools import chain

import numpy as np
import torch
from torch import Tensor

from proce.arrays import Floats, Ints
from proce.classifier import TrainedNetwork
from proce.classifier.adapters.from_torch import TorchClassifier

_BLOCK_ROWS = 64  # of one shape, because the last bits of a matrix product depend on its shape


def loss_gradient(
    classifier: TrainedNetwork | TorchClassifier, points: Floats, target: Ints, loss: str
) -> Floats:
    """Return the gradient ``(n, w)`` of the loss of the target's probability.

    Parameters
    ----------
    classifier
        The network. A row's gradient does not depend on the other rows.
    points
        ``(n, w)``, inputs of the network.
    target
        ``(n,)``, the wanted classes.
    loss
        ``squared``, (1 - p)², or ``cross_entropy``, -log p.
    """
    network = classifier.module if isinstance(classifier, TrainedNetwork) else classifier
    points = np.ascontiguousarray(points)
    gradient = np.empty_like(points)
    for start in range(0, len(points), _BLOCK_ROWS):
        block = slice(start, start + _BLOCK_ROWS)
        n_padding = _BLOCK_ROWS - len(points[block])
        inputs = np.pad(points[block], ((0, n_padding), (0, 0)), mode="edge")
        wanted = np.pad(target[block], (0, n_padding), mode="edge")
        gradient[block] = _of_block(network, inputs, wanted, loss)[: len(points[block])]
    return gradient


def _of_block(network: TorchClassifier, points: Floats, target: Ints, loss: str) -> Floats:
    module = network.module
    parts = chain(module.parameters(), module.buffers(), [torch.zeros(())])
    like = next(part for part in parts if part.is_floating_point())
    inputs = torch.from_numpy(points).to(like, copy=True).requires_grad_()
    with torch.enable_grad():
        answer = network.probabilities(inputs)
        wanted = torch.from_numpy(target).to(answer.device)
        total = _losses(answer.gather(1, wanted[:, None]), loss).sum()  # rows do not interact
    (gradient,) = torch.autograd.grad(total, inputs)
    return gradient.cpu().double().numpy()


def _losses(chances: Tensor, loss: str) -> Tensor:
    if loss == "squared":
        return (1 - chances) ** 2
    return -chances.clamp(min=torch.finfo(chances.dtype).tiny).log()
