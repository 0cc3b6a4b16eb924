"""Training is bounded, stoppable, reproducible, and keeps the best weights."""

import torch
from torch import nn

from proce.training import TrainingSettings, random_stream, train

ROWS = torch.linspace(-1, 1, 200)[:, None]


def fitted(seed=0, progress=None, **settings):
    with random_stream(seed) as generator:
        network = nn.Sequential(nn.Linear(1, 8), nn.ReLU(), nn.Dropout(0.1), nn.Linear(8, 1))

        def loss(positions):
            return (network(ROWS[positions]) - ROWS[positions].abs()).square().mean()

        record = train(network, loss, 200, TrainingSettings(**settings), generator, progress)
    return network, record


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
