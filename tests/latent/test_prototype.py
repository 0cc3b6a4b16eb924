"""A prototype is the mean of the K nearest latents predicted as the target, found exactly."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from proce.errors import ModelError
from proce.latent import PrototypeIndex


def test_by_hand():
    latents = torch.tensor([[0.0, 0.0], [1.0, 0.0], [3.0, 4.0], [0.0, 2.0], [9.0, 9.0]])
    index = PrototypeIndex(latents, torch.tensor([0, 1, 1, 1, 1]), classes=["no", "yes"])
    found = index.prototype(torch.zeros(1, 2), target=1, n_neighbours=2)
    assert found.neighbours.tolist() == [[1, 3]]  # row 0 is nearer, but not of the class
    assert found.latents.tolist() == [[0.5, 1.0]]


def test_ties_go_to_the_earlier_row():
    latents = torch.tensor([[1.0], [-1.0], [1.0], [-1.0], [5.0]])
    index = PrototypeIndex(latents, torch.zeros(5, dtype=torch.long), classes=[0])
    assert index.prototype(torch.zeros(1, 1), 0, 3).neighbours.tolist() == [[0, 1, 2]]


def test_many_equal_rows_are_taken_in_order():
    latents = torch.cat([torch.ones(500, 3), torch.zeros(500, 3)])
    index = PrototypeIndex(latents, torch.zeros(1000, dtype=torch.long), classes=[0])
    found = index.prototype(torch.tensor([[0.1, 0.0, 0.0], [0.9, 1.0, 1.0]]), 0, 4)
    assert found.neighbours.tolist() == [[500, 501, 502, 503], [0, 1, 2, 3]]


def test_a_class_with_fewer_rows_gives_what_it_has():
    index = PrototypeIndex(torch.eye(3), torch.tensor([0, 2, 2]), classes=["a", "b", "c"])
    found = index.prototype(torch.zeros(1, 3), target=2, n_neighbours=10)
    assert found.neighbours.tolist() == [[1, 2]]


def test_a_class_without_rows_is_named():
    index = PrototypeIndex(torch.eye(3), torch.tensor([0, 2, 2]), classes=["a", "b", "c"])
    with pytest.raises(ModelError, match="no training row is predicted as 'b'"):
        index.prototype(torch.zeros(1, 3), target=1, n_neighbours=1)


@given(
    st.integers(1, 40),
    st.integers(1, 5),
    st.integers(1, 12),
    st.integers(1, 60),
    st.booleans(),
    st.integers(0, 2**32),
)
def test_it_agrees_with_a_slow_search(n_rows, size, k, n_queries, coarse, seed):
    generator = torch.Generator().manual_seed(seed)
    draw = torch.randn(n_rows + n_queries, size, generator=generator)
    draw = (draw * 2).round() if coarse else draw  # whole numbers tie often
    latents, queries = draw[:n_rows], draw[n_rows:]
    predicted = torch.randint(2, (n_rows,), generator=generator)
    predicted[0] = 1
    index = PrototypeIndex(latents, predicted, classes=[0, 1])
    found = index.prototype(queries, 1, k)
    for query, neighbours, mean in zip(queries, found.neighbours, found.latents, strict=True):
        distance = [
            (float((query.double() - latent.double()).square().sum()), row)
            for row, latent in enumerate(latents)
            if predicted[row] == 1
        ]
        expected = [row for _, row in sorted(distance)[:k]]
        assert neighbours.tolist() == expected
        torch.testing.assert_close(mean, latents[expected].mean(0))


def test_queries_are_answered_in_bounded_blocks():
    generator = torch.Generator().manual_seed(0)
    latents = torch.randn(100, 4, generator=generator)
    queries = torch.randn(50, 4, generator=generator)
    predicted = torch.zeros(100, dtype=torch.long)
    whole = PrototypeIndex(latents, predicted, classes=[0]).prototype(queries, 0, 5)
    blocks = PrototypeIndex(latents, predicted, classes=[0], block_bytes=100 * 4 * 7)
    assert torch.equal(blocks.prototype(queries, 0, 5).neighbours, whole.neighbours)


def test_an_index_tells_what_it_was_made_of():
    latents = torch.tensor([[0.0], [1.0], [2.0], [3.0]])
    predicted = torch.tensor([2, 0, 2, 0])
    index = PrototypeIndex(latents, predicted, ("a", "b", "c"))
    assert torch.equal(index.members[0], latents)
    assert torch.equal(index.members[1], predicted)
