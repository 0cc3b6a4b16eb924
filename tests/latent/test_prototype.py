"""A prototype is the mean of the K nearest latents predicted as the target, found exactly."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proce.errors import ModelError
from proce.latent import PrototypeIndex, autoencoder


def test_by_hand():
    latents = np.array([[0.0, 0.0], [1.0, 0.0], [3.0, 4.0], [0.0, 2.0], [9.0, 9.0]], np.float32)
    index = PrototypeIndex(latents, np.array([0, 1, 1, 1, 1]), classes=["no", "yes"])
    found = index.prototype(np.zeros((1, 2), np.float32), target=1, n_neighbours=2)
    assert found.neighbours.tolist() == [[1, 3]]  # row 0 is nearer, but not of the class
    assert found.latents.tolist() == [[0.5, 1.0]]


def test_ties_go_to_the_earlier_row():
    latents = np.array([[1.0], [-1.0], [1.0], [-1.0], [5.0]], np.float32)
    index = PrototypeIndex(latents, np.zeros(5, np.int64), classes=[0])
    assert index.prototype(np.zeros((1, 1), np.float32), 0, 3).neighbours.tolist() == [[0, 1, 2]]


def test_many_equal_rows_are_taken_in_order():
    latents = np.repeat(np.array([[1.0] * 3, [0.0] * 3], np.float32), 500, axis=0)
    index = PrototypeIndex(latents, np.zeros(1000, np.int64), classes=[0])
    found = index.prototype(np.array([[0.1, 0.0, 0.0], [0.9, 1.0, 1.0]], np.float32), 0, 4)
    assert found.neighbours.tolist() == [[500, 501, 502, 503], [0, 1, 2, 3]]


def test_a_class_with_fewer_rows_gives_what_it_has_and_one_without_rows_is_named():
    index = PrototypeIndex(
        np.eye(3, dtype=np.float32), np.array([0, 2, 2]), classes=["a", "b", "c"]
    )
    found = index.prototype(np.zeros((1, 3), np.float32), target=2, n_neighbours=10)
    assert found.neighbours.tolist() == [[1, 2]]
    with pytest.raises(ModelError, match="no training row is predicted as 'b'"):
        index.prototype(np.zeros((1, 3), np.float32), target=1, n_neighbours=1)


@given(
    st.integers(1, 40),
    st.integers(1, 5),
    st.integers(1, 12),
    st.integers(1, 60),
    st.booleans(),
    st.integers(0, 2**32),
)
def test_it_agrees_with_a_slow_search(n_rows, size, k, n_queries, coarse, seed):
    generator = np.random.default_rng(seed)
    draw = generator.standard_normal((n_rows + n_queries, size), np.float32)
    draw = (draw * 2).round() if coarse else draw  # whole numbers tie often
    latents, queries = draw[:n_rows], draw[n_rows:]
    predicted = generator.integers(2, size=n_rows)
    predicted[0] = 1
    index = PrototypeIndex(latents, predicted, classes=[0, 1])
    found = index.prototype(queries, 1, k)
    for query, neighbours, mean in zip(queries, found.neighbours, found.latents, strict=True):
        distance = [
            (np.square(query.astype(np.float64) - latent).sum(), row)
            for row, latent in enumerate(latents)
            if predicted[row] == 1
        ]
        expected = [row for _, row in sorted(distance)[:k]]
        assert neighbours.tolist() == expected
        np.testing.assert_allclose(mean, latents[expected].mean(0), rtol=1e-5, atol=1e-6)


def test_of_no_rows_there_are_no_prototypes():
    index = PrototypeIndex(np.eye(3, dtype=np.float32), np.zeros(3, np.int64), classes=[0])
    found = index.prototype(np.empty((0, 3), np.float32), target=0, n_neighbours=2)
    assert found.latents.shape == (0, 3)
    assert found.neighbours.shape == (0, 2)


def test_queries_are_answered_in_bounded_blocks(monkeypatch):
    generator = np.random.default_rng(0)
    latents = generator.standard_normal((100, 4), np.float32)
    queries = generator.standard_normal((50, 4), np.float32)
    predicted = np.zeros(100, np.int64)
    index = PrototypeIndex(latents, predicted, classes=[0])
    whole = index.prototype(queries, 0, 5).neighbours
    monkeypatch.setattr(autoencoder, "_BLOCK_BYTES", 100 * 4 * 7)
    assert np.array_equal(index.prototype(queries, 0, 5).neighbours, whole)


def test_an_index_tells_what_it_was_made_of():
    latents = np.array([[0.0], [1.0], [2.0], [3.0]], np.float32)
    predicted = np.array([2, 0, 2, 0])
    index = PrototypeIndex(latents, predicted, ("a", "b", "c"))
    assert np.array_equal(index.members[0], latents)
    assert np.array_equal(index.members[1], predicted)
