"""Growing Spheres finds the near side of the boundary, and changes no more than it must."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from proce import SearchError
from proce.methods import GrowingSpheres, GrowingSpheresSettings
from proce.schema import Categorical, Continuous, Schema

from ...worlds import SCHEMA, WatchedBank, bank, one, people, refused

TRAINING = people(400)
QUICK = GrowingSpheresSettings(n_candidates=300, max_rounds=40)


def on_the_unit_range(n_features: int) -> pd.DataFrame:
    """Return rows whose features go from 0 to 1, so that entries are raw units."""
    draw = np.random.default_rng(0)
    rows = draw.random((300, n_features))
    rows[0], rows[1] = 0.0, 1.0
    return pd.DataFrame(rows, columns=[f"x{number}" for number in range(n_features)])


def linear(weights: Any, bias: float) -> Any:
    """Return a model that says yes on one side of a plane."""

    def ask(frame: pd.DataFrame) -> Any:
        return 1 / (1 + np.exp(-8 * (frame.to_numpy(float) @ np.asarray(weights) + bias)))

    return ask


@pytest.mark.parametrize("n_features", [2, 3, 4])
def test_on_a_linear_model_it_comes_near_the_orthogonal_projection(n_features: int) -> None:
    """For rows within the first radius of the plane the ball shrinks, for others it grows."""
    frame = on_the_unit_range(n_features)
    weights = np.random.default_rng(n_features).uniform(0.5, 2, n_features)
    bias = -float(np.quantile(frame.to_numpy() @ weights, 0.6))
    distance = -(frame.to_numpy() @ weights + bias) / np.linalg.norm(weights)
    rows, orthogonal = frame[distance > 0.003], distance[distance > 0.003]
    assert orthogonal.min() < 0.05 < 0.2 < orthogonal.max()
    wide = Schema([Continuous(name, (-5, 6)) for name in frame])  # or projections lie outside
    result = GrowingSpheres(linear(weights, bias), wide).fit(frame).explain(rows, n=1)
    moved = np.linalg.norm(result.counterfactuals().to_numpy() - rows.to_numpy(), axis=1)
    assert len(moved) == len(rows)
    assert (moved / orthogonal).mean() < 1.1
    assert (moved / orthogonal).max() < 1.25


def test_only_what_decides_is_changed() -> None:
    """Two of three features do nothing: they are put back."""
    frame = on_the_unit_range(3)
    rows = frame[frame["x1"] < 0.4].head(10)
    result = GrowingSpheres(linear([0, 1, 0], -0.5), settings=QUICK).fit(frame).explain(rows, n=1)
    assert set(result.changes()["feature"]) == {"x1"}
    assert len(result.changes()) == 10


def test_a_feature_that_must_stay_does_not_end_the_sparsity_pass() -> None:
    """The smaller move decides and stays; the larger one does nothing and is still put back."""

    def ask(frame: pd.DataFrame) -> Any:
        return np.where((frame["near"] > 0.52) & (frame["level"] == "b"), 0.9, 0.1)

    draw = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "near": draw.random(200),
            "level": draw.choice(["a", "b"], 200),
            "idle": draw.choice(["a", "b"], 200),
        }
    )
    schema = Schema(
        [Continuous("near"), Categorical("level", ("a", "b")), Categorical("idle", ("a", "b"))]
    )
    rows = pd.DataFrame({"near": [0.5] * 8, "level": ["a"] * 8, "idle": ["a"] * 8})
    rows["near"] -= np.arange(8) / 1000
    result = GrowingSpheres(ask, schema, QUICK).fit(frame).explain(rows, n=1)
    assert (result.outcomes()["outcome"] == "found").all()
    assert set(result.changes()["feature"]) == {"near", "level"}


def test_levels_are_drawn_from_their_levels_once_the_radius_reaches_them() -> None:
    draw = np.random.default_rng(0)
    jobs = ["clerk", "driver", "nurse"]
    frame = pd.DataFrame({"pay": draw.random(100), "job": draw.choice(jobs, 100)})
    schema = Schema([Continuous("pay"), Categorical("job", tuple(jobs))])
    asked: list[pd.DataFrame] = []

    def ask(rows: pd.DataFrame) -> Any:
        asked.append(rows)
        return np.where(rows["job"] == "nurse", 0.9, 0.1)

    method = GrowingSpheres(ask, schema, QUICK).fit(frame)
    row = pd.DataFrame({"pay": [0.5], "job": ["clerk"]})
    asked.clear()
    result = method.explain(row)
    assert result.counterfactuals()["job"].tolist() == ["nurse"]
    assert result.counterfactuals()["pay"].tolist() == [0.5]
    shells = [rows["job"].value_counts() for rows in asked if len(rows) == QUICK.n_candidates]
    before = [shell for shell in shells if len(shell) == 1]
    assert len(before) == 5  # the ball to 0.1, and the shells to 0.5: half-way to a level
    assert all(set(shell.index) <= {*jobs} for shell in shells)


def test_limits_hold_while_it_draws() -> None:
    rows = refused(people(80, seed=4), 15)
    model = WatchedBank()
    method = GrowingSpheres(model, SCHEMA, QUICK, respect_schema=True).fit(TRAINING)
    model.frames.clear()
    result = method.explain(rows, ranges={"savings": (0, 60)})
    frame = result.to_frame()
    before = rows.loc[frame.index]
    assert len(frame) > 5
    assert (frame["home"].to_numpy() == before["home"].to_numpy()).all()
    assert (frame["age"] >= before["age"]).all()
    assert (frame["debt"] <= before["debt"]).all()
    assert (frame["savings"] <= 60).all()
    drawn = pd.concat(model.frames[1:])  # the first are the rows
    assert len(drawn) > QUICK.n_candidates
    assert (drawn["savings"] <= 60).all()


def test_the_papers_behaviour_ignores_one_way_actions() -> None:
    """Less debt and more savings are the way; a younger age is drawn as well as an older one."""
    young = Schema([*SCHEMA.features[1:], SCHEMA["age"]])

    def youth(frame: pd.DataFrame) -> Any:
        return 1 / (1 + np.exp(frame["age"].to_numpy(float) - 35))

    loose = GrowingSpheres(youth, young, QUICK).fit(TRAINING[[*young.names]])
    bound = GrowingSpheres(youth, young, QUICK, respect_schema=True).fit(TRAINING[[*young.names]])
    row = one(age=45)[[*young.names]]
    assert loose.explain(row).counterfactuals()["age"].tolist()[0] < 36
    assert bound.explain(row)[0].outcome == "not_found"
    assert "No candidate within" in bound.explain(row)[0].notes[0]


def test_what_breaks_a_rule_does_not_count() -> None:
    rows = refused(people(80, seed=4), 10)
    rule = "cf.savings <= x.savings"
    free = GrowingSpheres(bank, SCHEMA, QUICK).fit(TRAINING).explain(rows, n=1)
    ruled = GrowingSpheres(bank, SCHEMA, QUICK, reject_by=[rule]).fit(TRAINING).explain(rows, n=1)
    assert (free.counterfactuals()["savings"].to_numpy() > rows["savings"].to_numpy()).any()
    after = ruled.to_frame()
    assert len(after) > 3
    assert (after["savings"] <= rows["savings"].iloc[after["row"]].to_numpy()).all()


@pytest.mark.parametrize("most", [1, 50, 1000])
def test_it_asks_no_more_than_it_may(most: int) -> None:
    rows = refused(people(80, seed=4), 5)
    method = GrowingSpheres(bank, SCHEMA, QUICK).fit(TRAINING)
    result = method.explain(rows, max_evaluations=most)
    assert 0 < result.provenance.evaluations <= most * len(rows)
    failed = [item for item in result if item.outcome == "not_found"]
    assert failed or most == 1000
    assert all("max_evaluations" in item.notes[-1] for item in failed)


def test_time_that_is_up_is_an_outcome() -> None:
    method = GrowingSpheres(bank, SCHEMA, QUICK).fit(TRAINING)
    result = method.explain(refused(people(80, seed=4), 5), budget_seconds=1e-9)
    assert (result.outcomes()["outcome"] == "out_of_time").all()


def test_a_caller_who_stops_gets_what_was_found() -> None:
    rounds: list[int] = []
    method = GrowingSpheres(bank, SCHEMA, QUICK).fit(TRAINING)
    rows = refused(people(80, seed=4), 12)
    result = method.explain(rows, progress=lambda p: rounds.append(p.generation) or len(rounds) < 5)
    assert max(rounds) == 4  # the first report is of no round
    outcomes = result.outcomes()["outcome"].tolist()
    assert {*outcomes} == {"found", "out_of_time"}


def test_a_row_that_a_range_moves_across_the_boundary_needs_no_more() -> None:
    method = GrowingSpheres(bank, SCHEMA, QUICK).fit(TRAINING)
    row = one(savings=20, debt=40)
    result = method.explain(row, ranges={"savings": (90, 100)}, n=1)
    assert result.changes()["feature"].tolist() == ["savings"]
    assert result.counterfactuals()["savings"].tolist() == [90]


def test_a_row_that_cannot_move_says_so() -> None:
    method = GrowingSpheres(bank, SCHEMA, QUICK).fit(TRAINING)
    result = method.explain(one(), vary=["savings"], ranges={"savings": (20, 20)})
    assert result[0].outcome == "not_found"
    assert result[0].notes == ("No feature of this row may move.",)


@pytest.mark.parametrize(
    "wrong",
    [
        {"n_candidates": 0},
        {"n_candidates": 1.5},
        {"max_rounds": True},
        {"first_radius": 0},
        {"first_radius": "far"},
        {"first_radius": float("nan")},
        {"first_radius": float("inf")},
    ],
)
def test_settings_that_cannot_be_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(SearchError, match=next(iter(wrong))):
        GrowingSpheresSettings(**wrong)


def test_rows_drawn_a_few_at_a_time_get_the_same() -> None:
    method = GrowingSpheres(bank, SCHEMA, QUICK).fit(TRAINING)
    rows = refused(people(80, seed=4), 7)
    together = method.explain(rows).counterfactuals()
    assert len(together) == 7
    method.cells_at_once = 2 * QUICK.n_candidates * len(SCHEMA)  # two rows at a time
    assert method.explain(rows).counterfactuals().equals(together)
