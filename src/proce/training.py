"""How the networks of this package are trained.

Training runs over mini-batches, watches held-out rows and keeps the weights that were best on them.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass

import torch
from torch import Tensor, nn

_HELD_OUT_BATCH = 4_096  # rows

BatchLoss = Callable[[Tensor], Tensor]  # row positions -> mean loss of these rows


@dataclass(frozen=True, slots=True)
class TrainingSettings:
    """How long and how fast a network learns.

    Attributes
    ----------
    n_epochs
        The largest number of passes over the training rows.
    batch_size
        The number of rows per step.
    learning_rate
        The learning rate of Adam at the start.
    patience
        The number of epochs without improvement on the held-out rows after which training stops.
    held_out
        The share of the rows that are not learned from; their loss says when to stop.
    halve_after
        The number of epochs without improvement after which the learning rate is halved.
    """

    n_epochs: int = 60
    batch_size: int = 256
    learning_rate: float = 2e-3
    patience: int = 6
    held_out: float = 0.1
    halve_after: int = 2


@dataclass(frozen=True, slots=True)
class Epoch:
    """What a progress callback gets after each epoch; it stops the training by returning False."""

    number: int
    n_epochs: int
    held_out_loss: float


@dataclass(frozen=True, slots=True)
class TrainingRecord:
    """How a training went."""

    n_epochs: int
    best_epoch: int
    held_out_loss: float
    elapsed_seconds: float


EpochCallback = Callable[[Epoch], object]


@contextmanager
def random_stream(seed: int) -> Iterator[torch.Generator]:
    """Yield a generator, and let PyTorch's global stream draw from the same seed meanwhile.

    Layers initialise and drop out from the global stream and take no generator, so that stream is
    replaced for as long as the context is open, and put back afterwards.
    """
    generator = torch.Generator().manual_seed(seed)
    with torch.random.fork_rng(devices=[]):
        torch.random.set_rng_state(generator.get_state())
        yield generator


def train(
    network: nn.Module,
    loss: BatchLoss,
    n_rows: int,
    settings: TrainingSettings,
    generator: torch.Generator,
    progress: EpochCallback | None = None,
) -> TrainingRecord:
    """Minimise a loss by Adam; leave the network in evaluation mode with its best weights.

    Parameters
    ----------
    network
        The network, which is trained in place.
    loss
        Returns the mean loss of the rows at the given positions; the network is in training or in
        evaluation mode when it is called.
    n_rows
        How many rows there are; positions run from 0.
    settings
        How long and how fast the network learns.
    generator
        Draws the split into training and held-out rows, and the order of the batches.
    progress
        Called after each epoch; stops the training by returning False.
    """
    start = time.perf_counter()
    shuffled = torch.randperm(n_rows, generator=generator)
    n_held_out = min(max(1, round(settings.held_out * n_rows)), n_rows - 1)
    held_out, learned = shuffled[:n_held_out], shuffled[n_held_out:]
    optimiser = torch.optim.Adam(network.parameters(), lr=settings.learning_rate)
    schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(
        optimiser, factor=0.5, patience=settings.halve_after - 1
    )
    best_loss, best_epoch, best_weights = float("inf"), 0, deepcopy(network.state_dict())
    epoch = 0
    for epoch in range(1, settings.n_epochs + 1):
        network.train()
        order = learned[torch.randperm(len(learned), generator=generator)]
        for batch in torch.split(order, settings.batch_size):
            if len(batch) == 1 < len(learned):
                continue  # a batch norm has no spread to learn from a single row
            optimiser.zero_grad()
            torch.autograd.backward(loss(batch))
            optimiser.step()
        network.eval()
        with torch.no_grad():
            parts = [loss(part) * len(part) for part in torch.split(held_out, _HELD_OUT_BATCH)]
            held_out_loss = float(torch.stack(parts).sum()) / len(held_out)
        schedule.step(held_out_loss)
        if held_out_loss < best_loss:
            best_loss, best_epoch = held_out_loss, epoch
            best_weights = deepcopy(network.state_dict())
        report = Epoch(epoch, settings.n_epochs, held_out_loss)
        is_stopped = progress is not None and progress(report) is False
        if is_stopped or epoch - best_epoch >= settings.patience:
            break
    network.load_state_dict(best_weights)
    network.eval()
    return TrainingRecord(epoch, best_epoch, best_loss, time.perf_counter() - start)
