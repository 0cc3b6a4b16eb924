"""The gradient of the loss: by hand, for every row alone, and where there is hardly a chance."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from torch import Tensor, nn

from proce.classifier import TrainedNetwork, as_classifier, fit_network
from proce.methods.published.wachter import loss_gradient
from proce.schema import Codec, Continuous, Schema
from proce.training_settings import TrainingSettings

FRAME = pd.DataFrame(np.random.default_rng(0).random((200, 3)), columns=["a", "b", "c"])
CODEC = Codec.fit(Schema([Continuous(name) for name in FRAME]), FRAME)
WEIGHTS = np.array([3.0, -1.0, 0.5])


class Scored(nn.Module):
    def forward(self, inputs: Tensor) -> Tensor:
        return inputs @ torch.tensor(WEIGHTS, dtype=inputs.dtype) - 1


@pytest.fixture(scope="module")
def network() -> TrainedNetwork:
    label = (FRAME["a"] > FRAME["b"]).astype(int)
    return fit_network(CODEC, FRAME, label, settings=TrainingSettings(n_epochs=3))


@pytest.mark.parametrize("loss", ["squared", "cross_entropy"])
def test_the_slope_by_hand(loss: str) -> None:
    """With p = 1 / (1 + exp(-s)): -(1 - p) for -log p, and -2 (1 - p)² p for (1 - p)²."""
    model: Any = as_classifier(Scored(), CODEC, output="logit")
    points = CODEC.encode(FRAME)[:70]
    p = 1 / (1 + np.exp(1 - points @ WEIGHTS))
    slope = -(1 - p) if loss == "cross_entropy" else -2 * (1 - p) ** 2 * p
    found = loss_gradient(model, points, np.ones(70, np.int64), loss)
    assert found == pytest.approx(slope[:, None] * WEIGHTS, abs=1e-6)


def test_a_row_with_hardly_a_chance_is_still_pulled() -> None:
    model: Any = as_classifier(Scored(), CODEC, output="logit")
    hopeless = np.array([[0.0, 150.0, 0.0]])  # a probability of 1e-66
    found = loss_gradient(model, hopeless, np.array([1]), "cross_entropy")
    assert found == pytest.approx(-WEIGHTS[None])


def test_a_rows_gradient_is_the_same_to_the_last_bit_in_any_batch(network: TrainedNetwork) -> None:
    points, target = CODEC.encode(FRAME), np.arange(200) % 2
    together = loss_gradient(network, points, target, "cross_entropy")
    for rows in (slice(0, 1), slice(63, 66), slice(40, 180)):
        part = loss_gradient(network, points[rows], target[rows], "cross_entropy")
        assert np.array_equal(part, together[rows])
    nothing = loss_gradient(network, points[:0], target[:0], "cross_entropy")
    assert nothing.shape == (0, 3)
