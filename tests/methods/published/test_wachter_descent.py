"""The first steps of the descent and its gradient: by hand, and for every row alone."""

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from torch import Tensor, nn

from proce.arrays import Floats
from proce.classifier import TrainedNetwork, as_classifier, fit_network
from proce.methods import Wachter
from proce.methods.calls.options import Options
from proce.methods.published.published import open_call
from proce.methods.published.task import Task
from proce.methods.published.wachter import Descent, FeasibleSet, loss_gradient
from proce.schema import Categorical, Codec, Continuous, Schema
from proce.training_settings import TrainingSettings

FRAME = pd.DataFrame(
    {
        "pay": [0.0, 2.0, 4.0, 6.0, 10.0],  # the median is 4, the deviation from it 2: 0.2
        "rent": [0.0, 1.0, 5.0, 9.0, 10.0],  # 4: 0.4
        "job": ["clerk", "nurse", "guard", "clerk", "nurse"],
    }
)
SCHEMA = Schema(
    [
        Continuous("pay", (-10, 20)),
        Continuous("rent", (0, 10)),
        Categorical("job", ("clerk", "guard", "nurse")),
    ]
)
PAY, RENT, NURSE = 3.0, -1.0, 0.25  # of the score


class Scored(nn.Module):
    def forward(self, inputs: Tensor) -> Tensor:
        return PAY * inputs[:, 0] + RENT * inputs[:, 1] + NURSE * inputs[:, 4] - 1


def posed(row: dict[str, object], loss: str) -> tuple[Task, FeasibleSet, Descent]:
    method = Wachter(Scored(), SCHEMA).fit(FRAME)
    common, (relaxed, distance) = method.common_, method.prepared_
    call = open_call(common, Options(), pd.DataFrame([row]), None)
    task = Task.of(common, call, np.array([0]))
    feasible = relaxed.feasible_set(task.genome)
    return task, feasible, Descent(task, distance, loss)


CLERK = {"pay": 0.0, "rent": 5.0, "job": "clerk"}  # a score of -1.5
P = 1 / (1 + math.exp(1.5))


@pytest.mark.parametrize(
    ("loss", "slope"), [("cross_entropy", 1 - P), ("squared", 2 * (1 - P) ** 2 * P)]
)
def test_the_smallest_trade_off_is_where_the_best_feature_pays_for_itself(
    loss: str, slope: float
) -> None:
    """Pay gains 3 a unit and costs 1 / 0.2: 0.6 a cost; rent gains 0.4, a nurse 0.25."""
    _, feasible, descent = posed(CLERK, loss)
    assert descent.smallest_trade_off(feasible).item() == pytest.approx(1 / (slope * 0.6))


def test_a_feature_without_room_does_not_count() -> None:
    """Rent is at its least, so the next best after pay is the job."""
    task, feasible, descent = posed(CLERK | {"rent": 0.0}, "cross_entropy")
    feasible.movable[:, 0] = False
    p = 1 / (1 + math.exp(1))
    assert descent.smallest_trade_off(feasible).item() == pytest.approx(1 / ((1 - p) * 0.25))
    assert task.call.evaluations == 1


def test_below_the_smallest_trade_off_nothing_moves_and_above_it_the_best_feature_alone() -> None:
    task, feasible, descent = posed(CLERK, "cross_entropy")
    smallest, everyone = descent.smallest_trade_off(feasible), np.array([0])

    def first_step(trade_off: Floats) -> list[float]:
        points = descent.run(
            feasible, feasible.start, trade_off, everyone, n_steps=1, step_size=0.05
        )
        return (points - feasible.start)[0].tolist()

    assert first_step(0.99 * smallest) == [0] * 5
    assert first_step(1.01 * smallest) == pytest.approx([0.05, 0, 0, 0, 0])  # Adam's first step
    assert first_step(1.6 * smallest)[:2] == pytest.approx([0.05, -0.05])  # 0.6 / 0.4 is 1.5
    assert task.call.evaluations == 4


def test_the_weight_of_a_level_goes_to_the_level_that_gains() -> None:
    """Uncentred, the slope is -λ (1 - p) / 4 for a nurse, and -1, what leaving costs, for a clerk.

    Without the mean m of the three: clerk -1 - m, guard -m, nurse -s - m; the largest of them
    moves by the step. With s = 2, m = -1: clerk 0, guard 1, nurse -1. So the nurse gains 0.05 and
    the guard, who has no weight to lose, gives none: the projection takes 0.025 from both.
    """
    _, feasible, descent = posed(CLERK, "cross_entropy")
    feasible.movable[:, :2] = False
    trade_off = np.array([2 / ((1 - P) * NURSE)])
    points = descent.run(
        feasible, feasible.start, trade_off, np.array([0]), n_steps=1, step_size=0.05
    )
    assert points[0].tolist() == pytest.approx([0, 0.5, 0.975, 0, 0.025])


def test_a_number_that_returns_stops_at_its_own_value() -> None:
    """With a trade-off of next to nothing distance alone counts."""
    _, feasible, descent = posed(CLERK, "cross_entropy")
    away = feasible.start + np.array([0.03, -0.2, 0, 0, 0])
    trade_off = np.array([1e-9])
    points = descent.run(feasible, away, trade_off, np.array([0]), n_steps=1, step_size=0.05)
    assert points[0, 0] == feasible.start[0, 0]
    assert float(points[0, 1]) == pytest.approx(0.35)


CUBE = pd.DataFrame(np.random.default_rng(0).random((200, 3)), columns=["a", "b", "c"])
CUBE_CODEC = Codec.fit(Schema([Continuous(name) for name in CUBE]), CUBE)
WEIGHTS = np.array([3.0, -1.0, 0.5])


class Plane(nn.Module):
    def forward(self, inputs: Tensor) -> Tensor:
        return inputs @ torch.tensor(WEIGHTS, dtype=inputs.dtype) - 1


@pytest.fixture(scope="module")
def network() -> TrainedNetwork:
    label = (CUBE["a"] > CUBE["b"]).astype(int)
    return fit_network(CUBE_CODEC, CUBE, label, settings=TrainingSettings(n_epochs=3))


@pytest.mark.parametrize("loss", ["squared", "cross_entropy"])
def test_the_slope_by_hand(loss: str) -> None:
    """With p = 1 / (1 + exp(-s)): -(1 - p) for -log p, and -2 (1 - p)² p for (1 - p)²."""
    model: Any = as_classifier(Plane(), CUBE_CODEC, output="logit")
    points = CUBE_CODEC.encode(CUBE)[:70]
    p = 1 / (1 + np.exp(1 - points @ WEIGHTS))
    slope = -(1 - p) if loss == "cross_entropy" else -2 * (1 - p) ** 2 * p
    found = loss_gradient(model, points, np.ones(70, np.int64), loss)
    assert found == pytest.approx(slope[:, None] * WEIGHTS, abs=1e-6)


def test_a_row_with_hardly_a_chance_is_still_pulled() -> None:
    model: Any = as_classifier(Plane(), CUBE_CODEC, output="logit")
    hopeless = np.array([[0.0, 150.0, 0.0]])  # a probability of 1e-66
    found = loss_gradient(model, hopeless, np.array([1]), "cross_entropy")
    assert found == pytest.approx(-WEIGHTS[None])


def test_a_rows_gradient_is_the_same_to_the_last_bit_in_any_batch(network: TrainedNetwork) -> None:
    points, target = CUBE_CODEC.encode(CUBE), np.arange(200) % 2
    together = loss_gradient(network, points, target, "cross_entropy")
    for rows in (slice(0, 1), slice(63, 66), slice(40, 180)):
        part = loss_gradient(network, points[rows], target[rows], "cross_entropy")
        assert np.array_equal(part, together[rows])
    nothing = loss_gradient(network, points[:0], target[:0], "cross_entropy")
    assert nothing.shape == (0, 3)
