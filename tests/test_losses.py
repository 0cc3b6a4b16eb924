"""The loss that a probability is, and back."""

import math

import numpy as np
import pytest

from proce.losses import chance_of_loss, loss_of_chance


def test_the_loss_is_minus_the_logarithm_and_has_an_end_where_there_is_no_chance() -> None:
    losses = loss_of_chance(np.array([1.0, 0.5, 0.0, math.nan]))
    assert losses[:3].tolist() == pytest.approx([0.0, math.log(2), -math.log(1e-12)])
    assert math.isnan(losses[3])


def test_the_chance_of_a_loss_is_the_one_that_it_came_from() -> None:
    chances = np.linspace(0, 1, 1001).reshape(7, 143)
    assert np.allclose(chance_of_loss(loss_of_chance(chances)), chances, rtol=1e-14, atol=2e-12)
