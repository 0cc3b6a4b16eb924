"""How the networks of this package are trained.

Training runs over mini-batches, watches held-out rows and keeps the weights that were best on them.
"""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from proce.adam import Adam
from proce.training_settings import Epoch, EpochCallback, TrainingRecord, TrainingSettings

_DEVICES = ("cpu", "cuda")
_HELD_OUT_BATCH = 4_096  # rows
_WARM_UP_SHARE = 0.1  # of all steps, over which the rate of a cosine rises
_MIN_IMPROVEMENT = 1e-4  # of the best loss: less does not keep the rate where it is

BatchLoss = Callable[[Tensor], Tensor]  # row positions -> mean loss of these rows


def has_device(device: Any) -> bool:
    """Whether networks can learn on a device: ``cpu``, or ``cuda`` on a machine that has one."""
    try:
        if isinstance(device, str | torch.device) and torch.device(device).type in _DEVICES:
            torch.empty(0, device=device)
            return True
    except (RuntimeError, AssertionError):
        pass
    return False


def present_device(device: str) -> str:
    """Return a device, or ``cpu`` where it is not there."""
    return device if has_device(device) else "cpu"


@contextmanager
def random_stream(seed: int) -> Iterator[torch.Generator]:
    """Yield a generator, and let PyTorch's global stream draw from the same seed meanwhile."""
    # Layers initialise and drop out from the global stream and take no generator, so that stream is
    # replaced for as long as the context is open, and put back afterwards.
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
    """Minimise a loss by Adam; leave the network in evaluation mode with its best weights."""
    start = time.perf_counter()
    shuffled = torch.randperm(n_rows, generator=generator)
    n_held_out = min(max(1, round(settings.held_out * n_rows)), n_rows - 1)
    held_out, learned = shuffled[:n_held_out], shuffled[n_held_out:]
    optimiser = _Optimiser(network)
    rates = Rates(settings, -(-len(learned) // settings.batch_size) * settings.n_epochs)
    best_loss, best_epoch, best_weights = float("inf"), 0, deepcopy(network.state_dict())
    epoch = 0
    for epoch in range(1, settings.n_epochs + 1):
        network.train()
        order = learned[torch.randperm(len(learned), generator=generator)]
        for batch in torch.split(order, settings.batch_size):
            if len(batch) == 1 < len(learned):
                continue  # a batch norm has no spread to learn from a single row
            optimiser.gradient.zero_()
            torch.autograd.backward(loss(batch))
            optimiser.step(rates.next())
        network.eval()
        with torch.no_grad():
            parts = [loss(part) * len(part) for part in torch.split(held_out, _HELD_OUT_BATCH)]
            held_out_loss = float(torch.stack(parts).sum()) / len(held_out)
        rates.see(held_out_loss)
        if held_out_loss < best_loss:
            best_loss, best_epoch = held_out_loss, epoch
            best_weights = deepcopy(network.state_dict())
        report = Epoch(epoch, settings.n_epochs, held_out_loss)
        is_stopped = progress is not None and progress(report) is False
        if is_stopped or epoch - best_epoch >= settings.patience:
            break
    network.load_state_dict(best_weights)
    optimiser.let_go()
    network.eval()
    return TrainingRecord(epoch, best_epoch, best_loss, time.perf_counter() - start)


class _Optimiser:
    """Adam over all weights of a network as one vector."""

    # It takes the steps of ``torch.optim.Adam``, which imports PyTorch's compiler: more than a
    # second before the first of them.

    def __init__(self, network: nn.Module) -> None:
        self.parameters = [weight for weight in network.parameters() if weight.requires_grad]
        self.values = torch.cat([weight.detach().flatten() for weight in self.parameters])
        self.gradient = torch.zeros_like(self.values)
        zeros = self.gradient.cpu().numpy()
        self.adam = Adam(zeros.copy(), zeros.copy())
        sizes = [weight.numel() for weight in self.parameters]
        parts = zip(torch.split(self.values, sizes), torch.split(self.gradient, sizes), strict=True)
        for weight, (values, gradient) in zip(self.parameters, parts, strict=True):
            weight.data, weight.grad = values.view_as(weight), gradient.view_as(weight)

    def step(self, rate: float) -> None:
        """Move all weights against their gradient."""
        gradient = self.gradient.cpu().numpy()
        moved = self.adam.step(gradient, np.square(gradient), rate)
        self.values -= torch.from_numpy(moved).to(self.values)

    def let_go(self) -> None:
        """Give every weight a memory of its own again."""
        for weight in self.parameters:
            weight.data, weight.grad = weight.detach().clone(), None


class Rates:
    """The learning rate of each step."""

    def __init__(self, settings: TrainingSettings, n_steps: int) -> None:
        self.settings, self.n_steps, self.n_taken = settings, n_steps, 0
        self.rate = settings.learning_rate
        self.best_loss, self.n_bad_epochs = float("inf"), 0

    def next(self) -> float:
        """Return the rate of the next step."""
        if self.settings.schedule == "plateau":
            return self.rate
        self.n_taken += 1
        done = self.n_taken / (self.n_steps + 1)
        if done < _WARM_UP_SHARE:
            return self.rate * done / _WARM_UP_SHARE
        falling = (done - _WARM_UP_SHARE) / (1 - _WARM_UP_SHARE)
        return self.rate * (1 + math.cos(math.pi * falling)) / 2

    def see(self, held_out_loss: float) -> None:
        """Take note of the loss after an epoch; a plateau halves the rate."""
        if held_out_loss < self.best_loss * (1 - _MIN_IMPROVEMENT):
            self.best_loss, self.n_bad_epochs = held_out_loss, 0
            return
        self.n_bad_epochs += 1
        if self.n_bad_epochs >= self.settings.halve_after:
            self.rate, self.n_bad_epochs = self.rate / 2, 0
