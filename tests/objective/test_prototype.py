"""How typical a candidate is of the target class (Eq. 6), and how a query finds that out."""

from dataclasses import replace

import numpy as np
import pytest

from proce.arrays import Array
from proce.compiled.cells import CellKind
from proce.compiled.row_network import CellInput, RowNetwork
from proce.latent import PrototypeIndex
from proce.objective import InstanceBatch


class Copies:
    """An encoder whose latents are the first two entries of a row, repeated."""

    def __init__(self, times=1):
        weights = np.tile(np.eye(6, 2), times)
        inputs = [CellInput(CellKind.NUMBER, own[None], None) for own in weights]
        self.arrays = RowNetwork.of(inputs, np.zeros(2 * times), False, [])


def loss_of(world, rows, prototype, autoencoder) -> Array:
    """The prototype loss of rows ``(i, c, f)``, of which the missing features are 0."""
    whole = np.zeros((*rows.shape[:2], 6))
    whole[..., : rows.shape[-1]] = rows
    problem = world.problem(whole[:, 0], "off")
    batch = replace(problem.batch, prototype=prototype)
    return replace(problem, autoencoder=autoencoder, batch=batch).typicality_loss(whole)


def test_the_loss_is_the_mean_squared_distance_of_the_latents(world):
    rows = np.array([[[1.0, 2], [0, 0]], [[3, 1], [1, 1]]])
    prototype = np.array([[1.0, 0.0], [1.0, 1.0]], dtype=np.float32)
    loss = loss_of(world, rows, prototype, Copies())
    assert loss.tolist() == [[2, 0.5], [2, 0]]  # (0 + 4) / 2, (1 + 0) / 2; (4 + 0) / 2, nothing


def test_a_larger_latent_space_does_not_change_the_scale(world):
    rows = np.array([[[1.0, 2], [0, 4]]])
    one, eight = (
        loss_of(world, rows, np.array([[1.0, 0.5] * times], dtype=np.float32), Copies(times))
        for times in (1, 8)
    )
    np.testing.assert_allclose(one, eight)


def test_a_candidate_that_encodes_onto_its_prototype_costs_nothing(world):
    rows = world.random_rows(5)
    prototype = world.autoencoder.encode(rows)
    loss = loss_of(world, rows[:, None], prototype, world.autoencoder)
    assert loss.ravel().tolist() == pytest.approx([0] * 5)


def test_losses_agree_with_a_loop(world):
    rows = world.random_rows(60).reshape(6, 10, 6)
    prototype = np.linspace(-1, 1, 18, dtype=np.float32).reshape(6, 3)
    loss = loss_of(world, rows, prototype, world.autoencoder)
    assert loss.dtype == np.float64
    for i in range(6):
        for c in range(10):
            latent = world.autoencoder.encode(rows[i, c]).tolist()
            pairs = zip(latent, prototype[i].tolist(), strict=True)
            expected = sum((a - b) ** 2 for a, b in pairs) / 3
            assert loss[i, c].item() == pytest.approx(expected, rel=1e-5)


@pytest.fixture(scope="module")
def training(world):
    rows = world.random_rows(40, seed=1)
    predicted = (rows[:, 2] > 0.5).astype(np.int64)
    return rows, predicted, PrototypeIndex(world.autoencoder.encode(rows), predicted, ("no", "yes"))


def posed(world, index, factual, target, keys=None):
    keys = np.arange(len(factual)) if keys is None else keys
    return InstanceBatch.of(
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
    factual, target = world.random_rows(8, seed=2), np.array([0, 1] * 4)
    batch = posed(world, index, factual, target)
    latents, own = world.autoencoder.encode(rows), world.autoencoder.encode(factual)
    for i in range(8):
        members = [n for n in range(40) if predicted[n] == target[i]]
        nearest = sorted(members, key=lambda n: float(np.square(latents[n] - own[i]).sum()))[:3]
        assert batch.neighbours[i].tolist() == nearest
        np.testing.assert_allclose(batch.prototype[i], latents[nearest].mean(0))


def test_a_row_is_posed_alike_alone_and_among_others(world, training):
    factual, target = world.random_rows(8, seed=2), np.array([0, 1] * 4)
    keys = np.arange(8) * 7
    together = posed(world, training[2], factual, target, keys)
    some = np.array([5, 2])
    alone = posed(world, training[2], factual[some], target[some], keys[some])
    taken = together.take(some)
    for name in ("factual", "target", "prototype", "neighbours", "residual", "keys"):
        assert np.array_equal(getattr(taken, name), getattr(alone, name))


def test_a_class_with_few_rows_gives_all_of_them_as_neighbours(world):
    rows = world.random_rows(40, seed=3)
    predicted = np.zeros(40, dtype=np.int64)
    predicted[[4, 7]] = 1
    index = PrototypeIndex(world.autoencoder.encode(rows), predicted, (0, 1))
    batch = posed(world, index, world.random_rows(2, seed=2), np.array([0, 1]))
    assert (batch.neighbours[0] >= 0).all()
    assert set(batch.neighbours[1, :2].tolist()) == {4, 7}
    assert batch.neighbours[1, 2] == -1


def test_without_a_causal_model_there_is_no_noise(world, training):
    factual = world.random_rows(2)
    batch = InstanceBatch.of(
        factual,
        np.array([0, 0]),
        np.arange(2),
        autoencoder=world.autoencoder,
        index=training[2],
        n_neighbours=3,
        scm=None,
        seed=0,
    )
    assert batch.residual.shape == (2, 0)
