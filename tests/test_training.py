"""Training is bounded, stoppable, reproducible, and keeps the best weights."""

import pytest
import torch
from torch import nn

from proce.training import Rates, present_device, random_stream, train
from proce.training_settings import TrainingSettings

ROWS = torch.linspace(-1, 1, 200)[:, None]


def fitted(seed=0, progress=None, **settings):
    with random_stream(seed) as generator:
        network = nn.Sequential(nn.Linear(1, 8), nn.ReLU(), nn.Dropout(0.1), nn.Linear(8, 1))

        def loss(positions):
            return (network(ROWS[positions]) - ROWS[positions].abs()).square().mean()

        record = train(network, loss, 200, TrainingSettings(**settings), generator, progress)
    return network, record


@pytest.mark.parametrize("device", ["cpu", "nonsense", "cpu:x", ""])
def test_where_a_device_is_not_there_it_is_the_cpu(device):
    assert present_device(device) == "cpu"


def test_it_learns_and_leaves_the_network_ready_for_use():
    network, record = fitted(batch_size=16, learning_rate=1e-2)
    assert not network.training
    assert record.held_out_loss < 0.01
    assert record.best_epoch <= record.n_epochs <= 60


def test_the_same_seed_gives_the_same_weights_and_another_seed_others():
    first, second, other = (fitted(seed, n_epochs=3)[0] for seed in (1, 1, 2))
    same = zip(first.parameters(), second.parameters(), strict=True)
    assert all(torch.equal(a, b) for a, b in same)
    assert not torch.equal(next(first.parameters()), next(other.parameters()))


def test_the_global_stream_is_left_as_it_was():
    before = torch.random.get_rng_state()
    fitted(n_epochs=2)
    assert torch.equal(torch.random.get_rng_state(), before)


def test_the_caller_is_told_of_every_epoch_and_can_stop():
    told = []

    def stop_at_three(epoch):
        told.append(epoch.number)
        return epoch.number < 3

    _, record = fitted(progress=stop_at_three)
    assert told == [1, 2, 3]
    assert record.n_epochs == 3


def test_it_stops_when_nothing_improves():
    _, record = fitted(learning_rate=0.0, patience=2)
    assert record.n_epochs == 3
    assert record.best_epoch == 1


def slow_reference(**settings):
    """Train the same network by PyTorch's own optimiser and schedule."""
    settings = TrainingSettings(**settings)
    with random_stream(0) as generator:
        network = nn.Sequential(nn.Linear(1, 8), nn.ReLU(), nn.Dropout(0.1), nn.Linear(8, 1))
        order = torch.randperm(200, generator=generator)
        held_out, learned = order[:20], order[20:]
        optimiser = torch.optim.Adam(network.parameters(), lr=settings.learning_rate)
        schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(
            optimiser, factor=0.5, patience=settings.halve_after - 1
        )

        def loss(positions):
            return (network(ROWS[positions]) - ROWS[positions].abs()).square().mean()

        losses, rates = [], []
        for _ in range(settings.n_epochs):
            network.train()
            shuffled = learned[torch.randperm(180, generator=generator)]
            for batch in shuffled.split(settings.batch_size):
                optimiser.zero_grad()
                loss(batch).backward()
                optimiser.step()
            network.eval()
            with torch.no_grad():
                losses.append(float(loss(held_out) * 20) / 20)
            schedule.step(losses[-1])
            rates.append(optimiser.param_groups[0]["lr"])
    return losses, rates


def test_the_steps_and_the_rates_are_those_of_pytorch_s_own_optimiser():
    settings = {"n_epochs": 30, "batch_size": 16, "learning_rate": 0.05, "halve_after": 2}
    told = []
    fitted(progress=lambda epoch: told.append(epoch.held_out_loss), patience=30, **settings)
    losses, rates = slow_reference(**settings)
    assert rates[-1] < rates[0] / 2  # so that both kinds of step were taken
    assert told == pytest.approx(losses, rel=1e-4)  # NumPy rounds a product and a sum each


def test_weights_have_memory_of_their_own_after_training():
    network, _ = fitted(n_epochs=1)
    storages = {weight.untyped_storage().data_ptr() for weight in network.parameters()}
    assert len(storages) == len(list(network.parameters()))
    assert all(weight.grad is None for weight in network.parameters())


def test_a_cosine_rises_over_a_tenth_of_the_steps_and_falls_to_nothing():
    rates = Rates(TrainingSettings(learning_rate=2.0, schedule="cosine"), n_steps=19)
    taken = [rates.next() for _ in range(19)]
    assert taken[:2] == pytest.approx([1.0, 2.0])  # a twentieth and a tenth of the way
    assert taken[10] == pytest.approx(1.0)  # at 0.55, in the middle of the rest
    assert taken[-1] < 0.02
    assert taken[1:] == sorted(taken[1:], reverse=True)
