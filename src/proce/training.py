"""How our own networks are trained: mini-batches, held-out rows, the best weights kept."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass

import torch
from torch import Tensor, nn

Loss = Callable[[Tensor], Tensor]  # row positions -> mean loss of these rows


@dataclass(frozen=True, slots=True)
class TrainingSettings:
    """How long and how fast a network learns.

    Attributes
    ----------
    n_epochs
        At most this many passes over the training rows.
    batch_size
        Rows per step.
    learning_rate
        Adam's at the start.
    patience
        Epochs without improvement on the held-out rows after which training stops.
    held_out
        The share of the rows that are only looked at, to know when to stop.
    halve_after
        Epochs without improvement after which the learning rate is halved.
    """

    n_epochs: int = 60
    batch_size: int = 256
    learning_rate: float = 2e-3
    patience: int = 6
    held_out: float = 0.1
    halve_after: int = 2


@dataclass(frozen=True, slots=True)
class Epoch:
    """What a progress callback is told after each pass; returning False stops the training."""

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
    """Draw from a stream of one's own: PyTorch's global stream is as before afterwards.

    Layers initialise and drop out from the global stream and take no generator, so it is
    replaced for as long as the context is open.
    """
    generator = torch.Generator().manual_seed(seed)
    with torch.random.fork_rng(devices=[]):
        torch.random.set_rng_state(generator.get_state())
        yield generator


def train(
    network: nn.Module,
    loss: Loss,
    n_rows: int,
    settings: TrainingSettings,
    generator: torch.Generator,
    progress: EpochCallback | None = None,
) -> TrainingRecord:
    """Minimise a loss by Adam; leave the network in evaluation mode with its best weights.

    Parameters
    ----------
    network
        Trained in place.
    loss
        The mean loss of the rows at the given positions; the network is in training or in
        evaluation mode when it is called.
    n_rows
        How many rows there are; positions run from 0.
    settings
        How long and how fast.
    generator
        Splits and shuffles.
    progress
        Called after each epoch; stops the training by returning False.
    """
    start = time.perf_counter()
    shuffled = torch.randperm(n_rows, generator=generator)
    n_held_out = min(max(1, round(settings.held_out * n_rows)), n_rows - 1)
    held_out, seen = shuffled[:n_held_out], shuffled[n_held_out:]
    optimiser = torch.optim.Adam(network.parameters(), lr=settings.learning_rate)
    schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(
        optimiser, factor=0.5, patience=settings.halve_after - 1
    )
    best_loss, best_epoch, best_weights = float("inf"), 0, deepcopy(network.state_dict())
    epoch = 0
    for epoch in range(1, settings.n_epochs + 1):
        network.train()
        order = seen[torch.randperm(len(seen), generator=generator)]
        for batch in torch.split(order, settings.batch_size):
            if len(batch) == 1 < len(seen):
                continue  # a batch norm has no spread to learn from a single row
            optimiser.zero_grad()
            torch.autograd.backward(loss(batch))
            optimiser.step()
        network.eval()
        with torch.no_grad():
            parts = [loss(part) * len(part) for part in torch.split(held_out, 4096)]
            now = float(torch.stack(parts).sum()) / len(held_out)
        schedule.step(now)
        if now < best_loss:
            best_loss, best_epoch, best_weights = now, epoch, deepcopy(network.state_dict())
        told = progress(Epoch(epoch, settings.n_epochs, now)) if progress else None
        if told is False or epoch - best_epoch >= settings.patience:
            break
    network.load_state_dict(best_weights)
    network.eval()
    return TrainingRecord(epoch, best_epoch, best_loss, time.perf_counter() - start)
