"""The nearest misses of rows are those of their first search."""

import torch

from proce.methods.diagnosing.misses import NearestMisses


def test_the_first_misses_of_a_row_are_kept() -> None:
    misses = NearestMisses(5)
    assert not misses.has(torch.arange(5)).any()
    misses.add(torch.tensor([3, 1]), torch.tensor([[[3.0]], [[1.0]]]))
    misses.add(torch.tensor([1, 0]), torch.tensor([[[9.0]], [[0.0]]]))
    misses.add(torch.tensor([], dtype=torch.long), torch.zeros(0, 7, 2))  # of no row
    assert misses.has(torch.arange(5)).tolist() == [True, True, False, True, False]
    assert misses.genes(torch.tensor([0, 1, 3]))[:, 0, 0].tolist() == [0.0, 1.0, 3.0]
