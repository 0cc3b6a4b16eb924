"""The nearest misses of rows are those of their first search."""

import numpy as np

from proce.methods.phases.shortlist import NearestMisses


def test_the_first_misses_of_a_row_are_kept() -> None:
    misses = NearestMisses(5)
    assert not misses.has(np.arange(5)).any()
    misses.add(np.array([3, 1]), np.array([[[3.0]], [[1.0]]]))
    misses.add(np.array([1, 0]), np.array([[[9.0]], [[0.0]]]))
    misses.add(np.array([], dtype=np.int64), np.zeros((0, 7, 2)))  # of no row
    assert misses.has(np.arange(5)).tolist() == [True, True, False, True, False]
    assert misses.genes(np.array([0, 1, 3]))[:, 0, 0].tolist() == [0.0, 1.0, 3.0]
