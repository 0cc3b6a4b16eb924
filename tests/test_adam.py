"""Adam moves by a rate that the sizes of gradients cancel out of."""

import numpy as np
import pytest

from proce.adam import Adam


def test_two_steps_by_hand():
    """The means are halved at each step, and brought back to the gradients' size by 1 - 0.5^n."""
    adam = Adam(np.zeros(1), np.zeros(1), 0.5, 0.5, 0.0)
    one, two = np.array([1.0]), np.array([2.0])
    assert adam.step(one, one, 0.1).item() == pytest.approx(0.1)
    mean, square = (0.5 * 0.5 + 0.5 * 2) / 0.75, (0.5 * 0.5 + 0.5 * 4) / 0.75
    assert adam.step(two, two**2, 0.1).item() == pytest.approx(0.1 * mean / np.sqrt(square))


def test_entries_that_share_their_squares_keep_the_ratio_of_their_gradients():
    adam = Adam(np.zeros(2), np.zeros(2))
    moved = adam.step(np.array([1.0, -4.0]), np.array([16.0, 16.0]), 0.2)
    assert moved == pytest.approx([0.05, -0.2])
