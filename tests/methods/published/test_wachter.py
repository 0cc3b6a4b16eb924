"""Wachter's descent ends at the known optimum, and at rows that hold after rounding."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from torch import Tensor, nn

from proce import Codec, ModelInterfaceError, as_classifier
from proce.methods import Wachter, WachterSettings
from proce.schema import Continuous, Schema

from ...worlds import SCHEMA, bank, one, people, refused

TRAINING = people(400)
QUICK = WachterSettings(n_steps=25, n_refinements=2)


class Bank(nn.Module):
    """The bank of these people as a network on the one-hot encoding."""

    def __init__(self) -> None:
        super().__init__()
        ends = TRAINING[["savings", "debt"]].agg(["min", "max"]).to_numpy(float)
        self.register_buffer("low", torch.tensor(ends[0]))
        self.register_buffer("span", torch.tensor(ends[1] - ends[0]))

    def forward(self, inputs: Tensor) -> Tensor:
        savings, debt = (self.low + self.span * inputs[:, 1:3]).unbind(1)
        high, owns = inputs[:, 5], inputs[:, 7]
        return (savings - debt) / 25 + 0.5 * owns + 0.5 * high - 0.75


def linear(weights: Any, bias: float) -> nn.Module:
    network = nn.Sequential(nn.Linear(len(weights), 1)).double()
    with torch.no_grad():
        network[0].weight[:] = torch.tensor(weights)
        network[0].bias[:] = bias
    return network


def plane(weights: Any) -> tuple[pd.DataFrame, nn.Module, Any]:
    """Return rows from 0 to 1, a linear network, and how far below its plane each score is."""
    draw = np.random.default_rng(0)
    values = draw.random((200, len(weights))) ** np.arange(1, len(weights) + 1)
    values[0], values[1] = 0.0, 1.0
    bias = -float(np.quantile(values @ weights, 0.6))
    frame = pd.DataFrame(values, columns=[f"x{number}" for number in range(len(weights))])
    return frame, linear(weights, bias), -(values @ weights + bias)


def wide(frame: pd.DataFrame) -> Schema:
    return Schema([Continuous(name, (-9, 10)) for name in frame])


@pytest.mark.parametrize("loss", ["cross_entropy", "squared"])
def test_on_a_linear_model_it_comes_near_the_optimum_of_its_distance(loss: Any) -> None:
    """L1 over the median deviations is least where the one feature moves that gains most for
    its cost, |weight| times deviation; it has to gain the whole score that is lacking."""
    weights = np.array([4.0, -6.0, 5.0])
    frame, network, lacking = plane(weights)
    away = (frame - frame.median()).abs().median().to_numpy()
    rows, least = frame[lacking > 0.1], lacking[lacking > 0.1] / np.max(np.abs(weights) * away)
    settings = WachterSettings(loss=loss)
    result = Wachter(network, wide(frame), settings).fit(frame).explain(rows, n=1)
    moved = np.abs(result.counterfactuals().to_numpy() - rows.to_numpy()) / away
    assert len(moved) == len(rows) > 50
    assert (moved.sum(1) / least).mean() < 1.02
    assert (moved.sum(1) / least).max() < 1.1


def test_where_one_feature_decides_it_comes_near_the_orthogonal_projection() -> None:
    frame, network, lacking = plane(np.array([0.0, 8.0, 0.0]))
    rows = frame[lacking > 0.1]
    result = Wachter(network, wide(frame)).fit(frame).explain(rows, n=1)
    moved = np.linalg.norm(result.counterfactuals().to_numpy() - rows.to_numpy(), axis=1)
    assert (moved / (lacking[lacking > 0.1] / 8)).max() < 1.1
    assert set(result.changes()["feature"]) == {"x1"}


def test_rows_hold_after_rounding() -> None:
    rows = refused(people(80, seed=4), 20)
    result = Wachter(Bank(), SCHEMA, QUICK).fit(TRAINING).explain(rows)
    assert (result.outcomes()["outcome"] == "found").all()
    assert (result.outcomes()["n_counterfactuals"] == 1).all()
    frame = result.counterfactuals()
    assert len(frame) == 20
    assert (bank(frame)[:, 1] > 0.5).all()
    assert (frame[["age", "savings", "debt"]] % 1 == 0).all(axis=None)
    assert (frame["home"].to_numpy() == rows["home"].to_numpy()).all()


class ByLevel(nn.Module):
    """Approves whoever has the highest school; as weights of levels, or as one number."""

    def __init__(self, column: int, least: float) -> None:
        super().__init__()
        self.column, self.least = column, least

    def forward(self, inputs: Tensor) -> Tensor:
        return 6 * (inputs[:, self.column] - self.least) + 0 * inputs[:, 0]


@pytest.mark.parametrize(("encoding", "column", "least"), [("one_hot", 5, 0.8), ("label", 3, 1.7)])
def test_a_level_is_reached_through_its_relaxation(
    encoding: str, column: int, least: float
) -> None:
    """The relaxed point flips before its rounded row does; then λ is raised further."""
    codec = Codec.fit(SCHEMA, TRAINING)
    model = as_classifier(ByLevel(column, least), codec, encoding=encoding, output="logit")
    rows = pd.concat([one(school="none"), one(school="basic")])
    result = Wachter(model, SCHEMA).fit(TRAINING).explain(rows)
    assert result.counterfactuals()["school"].tolist() == ["high", "high"]
    assert result.changes()["feature"].tolist() == ["school", "school"]


def test_one_way_actions_bind_on_request_alone() -> None:
    """Older is better for this network, younger is what a one-way schema forbids."""
    frame = TRAINING[["age", "savings"]]
    schema = Schema([SCHEMA["age"], SCHEMA["savings"]])
    network = linear(np.array([-9.0, 0.0]), 3.0)
    row = pd.DataFrame({"age": [60], "savings": [20]})
    loose = Wachter(network, schema, QUICK).fit(frame).explain(row)
    bound = Wachter(network, schema, QUICK, respect_schema=True).fit(frame).explain(row)
    assert loose.counterfactuals()["age"].tolist()[0] < 60
    assert bound[0].outcome == "not_found"


def test_what_breaks_a_rule_does_not_count() -> None:
    """A rule that asks for more than the class does: λ is raised until it holds, too."""
    rows = refused(people(80, seed=4), 10)
    rule = "cf.savings - cf.debt >= 40"
    free = Wachter(Bank(), SCHEMA, QUICK).fit(TRAINING).explain(rows).counterfactuals()
    ruled = Wachter(Bank(), SCHEMA, QUICK, reject_by=[rule]).fit(TRAINING).explain(rows)
    assert len(free) == len(rows)
    assert (free["savings"] - free["debt"] < 40).all()
    after = ruled.counterfactuals()
    assert len(after) == len(rows)
    assert (after["savings"] - after["debt"]).between(40, 45).all()


@pytest.mark.parametrize("most", [1, 100, 400])
def test_it_asks_no_more_than_it_may(most: int) -> None:
    """A gradient is an evaluation, too."""
    rows = refused(people(80, seed=4), 5)
    result = Wachter(Bank(), SCHEMA, QUICK).fit(TRAINING).explain(rows, max_evaluations=most)
    assert 0 < result.provenance.evaluations <= most * len(rows)
    failed = [item for item in result if item.outcome == "not_found"]
    assert bool(failed) == (most == 1)
    assert all("max_evaluations" in item.notes[-1] for item in failed)


def test_a_caller_who_stops_gets_what_was_found() -> None:
    rounds: list[int] = []
    rows = refused(people(80, seed=4), 12)
    method = Wachter(Bank(), SCHEMA, QUICK).fit(TRAINING)
    result = method.explain(rows, progress=lambda p: rounds.append(p.generation) or len(rounds) < 3)
    assert max(rounds) == 2  # the first report is of no round
    found = [item for item in result if item.outcome == "found"]
    assert found
    assert all("stopped early" in item.notes[-1] for item in found)


def test_a_flat_model_leaves_nothing_to_follow() -> None:
    class Flat(nn.Module):
        def forward(self, inputs: Tensor) -> Tensor:
            return inputs[:, 0] * 0 - 1

    result = Wachter(Flat(), SCHEMA).fit(TRAINING).explain(one())
    assert result[0].outcome == "not_found"
    assert "no gradient to follow" in result[0].notes[0]


def test_a_plane_out_of_reach_is_an_outcome() -> None:
    frame = TRAINING[["age", "savings"]]
    schema = Schema([SCHEMA["age"], SCHEMA["savings"]])
    method = Wachter(linear(np.array([1.0, 1.0]), -20.0), schema, QUICK).fit(frame)
    result = method.explain(frame.head(2))
    assert (result.outcomes()["outcome"] == "not_found").all()
    assert "did not flip up to λ" in result[0].notes[0]


class Detached(nn.Module):
    def forward(self, inputs: Tensor) -> Tensor:
        return inputs[:, 0].detach() - 0.5


def as_input(frame: pd.DataFrame) -> Any:
    return frame[["age", "savings"]].to_numpy() / 100


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (bank, "has none.*Use GrowingSpheres"),
        (Detached(), "without detach"),
        (
            as_classifier(linear([1.0, 1.0], -1.0), Codec.fit(SCHEMA, TRAINING), encoding=as_input),
            "encoding='one_hot' or 'label'",
        ),
    ],
    ids=["function", "detached", "frame"],
)
def test_a_model_without_a_gradient_is_refused_at_fit(model: Any, reason: str) -> None:
    with pytest.raises(ModelInterfaceError, match=reason):
        Wachter(model, SCHEMA).fit(TRAINING)
