"""How typical a candidate is of the target class (Eq. 6), and how a query finds that out."""

import pytest
import torch

from proce.latent import PrototypeIndex
from proce.objective import pose_query
from proce.objective.prototype import prototype_loss


class Copies:
    """An encoder whose latents are the first entries of a row, repeated."""

    def __init__(self, times=1):
        self.times = times

    def encoder_arrays(self, device):
        return None  # it has no kernel

    def encode(self, rows):
        return rows[..., :2].float().repeat(*[1] * (rows.ndim - 1), self.times)


def numbers(values) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64)


def test_the_loss_is_the_mean_squared_distance_of_the_latents():
    rows = numbers([[[1, 2], [0, 0]], [[3, 1], [1, 1]]])
    prototype = torch.tensor([[1.0, 0.0], [1.0, 1.0]])
    loss = prototype_loss(rows, prototype, Copies())
    assert loss.tolist() == [[2, 0.5], [2, 0]]  # (0 + 4) / 2, (1 + 0) / 2; (4 + 0) / 2, nothing


def test_a_larger_latent_space_does_not_change_the_scale():
    rows = numbers([[[1, 2], [0, 4]]])
    losses = [
        prototype_loss(rows, torch.tensor([[1.0, 0.5] * times]), Copies(times)) for times in (1, 8)
    ]
    torch.testing.assert_close(losses[0], losses[1])


def test_a_candidate_that_encodes_onto_its_prototype_costs_nothing(world):
    rows = world.random_rows(5)
    loss = prototype_loss(rows[:, None], world.autoencoder.encode(rows), world.autoencoder)
    assert loss.flatten().tolist() == pytest.approx([0] * 5)


def test_losses_agree_with_a_loop(world):
    rows = world.random_rows(60).reshape(6, 10, 6)
    prototype = torch.linspace(-1, 1, 18).reshape(6, 3)
    loss = prototype_loss(rows, prototype, world.autoencoder)
    assert loss.dtype == torch.float64
    for i in range(6):
        for c in range(10):
            latent = world.autoencoder.encode(rows[i, c]).tolist()
            pairs = zip(latent, prototype[i].tolist(), strict=True)
            expected = sum((a - b) ** 2 for a, b in pairs) / 3
            assert loss[i, c].item() == pytest.approx(expected, rel=1e-5)


@pytest.fixture(scope="module")
def training(world):
    rows = world.random_rows(40, seed=1)
    predicted = (rows[:, 2] > 0.5).long()
    return rows, predicted, PrototypeIndex(world.autoencoder.encode(rows), predicted, ("no", "yes"))


def posed(world, index, factual, target, keys=None):
    keys = torch.arange(len(factual)) if keys is None else keys
    return pose_query(
        factual,
        target,
        keys,
        autoencoder=world.autoencoder,
        index=index,
        n_neighbours=3,
        scm=world.scm,
        seed=0,
    )


def test_a_prototype_is_the_mean_of_the_nearest_rows_predicted_as_the_target(world, training):
    rows, predicted, index = training
    factual, target = world.random_rows(8, seed=2), torch.tensor([0, 1] * 4)
    query = posed(world, index, factual, target)
    latents, own = world.autoencoder.encode(rows), world.autoencoder.encode(factual)
    for i in range(8):
        members = [n for n in range(40) if predicted[n] == target[i]]
        nearest = sorted(members, key=lambda n: float((latents[n] - own[i]).square().sum()))[:3]
        assert query.neighbours[i].tolist() == nearest
        torch.testing.assert_close(query.prototype[i], latents[nearest].mean(0))


def test_a_row_is_posed_alike_alone_and_among_others(world, training):
    factual, target = world.random_rows(8, seed=2), torch.tensor([0, 1] * 4)
    keys = torch.arange(8) * 7
    together = posed(world, training[2], factual, target, keys)
    some = torch.tensor([5, 2])
    alone = posed(world, training[2], factual[some], target[some], keys[some])
    taken = together.take(some)
    for name in ("factual", "target", "prototype", "neighbours", "residual", "keys"):
        assert torch.equal(getattr(taken, name), getattr(alone, name))


def test_a_class_with_few_rows_gives_all_of_them_as_neighbours(world):
    rows = world.random_rows(40, seed=3)
    predicted = torch.zeros(40, dtype=torch.long)
    predicted[[4, 7]] = 1
    index = PrototypeIndex(world.autoencoder.encode(rows), predicted, (0, 1))
    query = posed(world, index, world.random_rows(2, seed=2), torch.tensor([0, 1]))
    assert (query.neighbours[0] >= 0).all()
    assert set(query.neighbours[1, :2].tolist()) == {4, 7}
    assert query.neighbours[1, 2] == -1


def test_without_a_causal_model_there_is_no_noise(world, training):
    factual = world.random_rows(2)
    query = pose_query(
        factual,
        torch.tensor([0, 0]),
        torch.arange(2),
        autoencoder=world.autoencoder,
        index=training[2],
        n_neighbours=3,
        scm=None,
        seed=0,
    )
    assert query.residual.shape == (2, 0)
