"""Growing Spheres finds the near side of the boundary, and changes no more than it must."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtri

from proce.methods import GrowingSpheres, GrowingSpheresSettings
from proce.methods.published import growing_spheres
from proce.methods.published.growing_spheres import Shells, points_in_shells, write_candidates
from proce.schema import Categorical, Continuous, Schema

from ...compiled.parts import whole
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


def test_rows_drawn_a_few_at_a_time_get_the_same() -> None:
    method = GrowingSpheres(bank, SCHEMA, QUICK).fit(TRAINING)
    rows = refused(people(80, seed=4), 7)
    together = method.explain(rows).counterfactuals()
    assert len(together) == 7
    method.cells_at_once = 2 * QUICK.n_candidates * len(SCHEMA)  # two rows at a time
    assert method.explain(rows).counterfactuals().equals(together)


radius_in_shell = whole(growing_spheres.radius_in_shell)


def test_radii_by_hand() -> None:
    """Between 1 and 2 in the plane half of the area lies within √2.5; in space an eighth
    of a ball lies within half of its radius."""
    assert radius_in_shell(1.0, 2.0, 2, 0.5) == pytest.approx(2.5**0.5)
    assert radius_in_shell(0.0, 3.0, 3, 0.125) == pytest.approx(1.5)


def test_points_are_those_of_the_formula() -> None:
    draws = np.random.default_rng(0).uniform(0.01, 0.99, (3, 7, 5))
    movable = np.array([[True] * 4, [True, False, True, False], [False, True, False, False]])
    inner, outer = np.array([0.0, 0.4, 1.0]), np.array([0.1, 0.5, 3.0])
    direction = ndtri(draws[..., :-1]) * movable[:, None]
    direction /= np.linalg.norm(direction, axis=-1, keepdims=True)
    n, hollow = movable.sum(-1)[:, None], (inner / outer) ** movable.sum(-1)
    share = hollow[:, None] + (1 - hollow[:, None]) * draws[..., -1]
    expected = direction * (outer[:, None] * share ** (1 / n))[..., None]
    assert points_in_shells(draws, Shells(movable, inner, outer)) == pytest.approx(expected)


def test_a_row_gets_the_same_points_in_any_batch() -> None:
    draws = np.random.default_rng(1).uniform(0.01, 0.99, (6, 9, 4))
    movable, radii = np.ones((6, 3), np.bool_), np.full(6, 0.2)
    together = points_in_shells(draws, Shells(movable, radii, 2 * radii))
    for row in range(6):
        only = slice(row, row + 1)
        shell = Shells(movable[only], radii[only], 2 * radii[only])
        alone = points_in_shells(draws[only], shell)
        assert np.array_equal(alone, together[only])


def test_where_nothing_is_asked_for_there_is_nothing() -> None:
    draws = np.zeros((0, 5, 3))
    points = points_in_shells(draws, Shells(np.zeros((0, 2), np.bool_), np.zeros(0), np.zeros(0)))
    assert points.shape == (0, 5, 2)


def test_candidates_move_by_the_upper_half_of_a_word_and_choose_levels_by_the_lower() -> None:
    words = np.random.default_rng(2).integers(0, 2**64, (2, 400, 4), np.uint64)
    before, reach = np.array([[0.5, 2.0, 1.0], [0.1, 0.0, -1.0]]), np.array([1.0, 1.0, 4.0])
    movable, n_levels = np.array([[True, True, False], [True] * 3]), np.array([0, 3, 3])
    shells = Shells(movable, np.array([0.2, 0.4]), np.array([0.9, 1.5]))
    rows = np.repeat(before[:, None], 400, axis=1)
    write_candidates(words, shells, n_levels, reach, rows)
    draws = (words >> np.uint64(32)).astype(float) / 2**32
    draws[..., :-1] += 2.0**-33
    offset, lower = points_in_shells(draws, shells), words % 2**32 / 2**32
    assert np.array_equal(rows[..., 0], before[:, :1] + offset[..., 0])
    moves = np.abs(offset) >= 0.5
    others = np.floor(2 * lower)  # of three levels, without a person's own 2, and then 0
    assert np.array_equal(rows[0, :, 1], np.where(moves[0, :, 1], others[0, :, 1], 2))
    assert np.array_equal(rows[1, :, 1], np.where(moves[1, :, 1], 1 + others[1, :, 1], 0))
    assert (rows[0, :, 2] == 1).all()
    unknown = np.where(moves[1, :, 2], np.floor(3 * lower[1, :, 2]), -1)
    assert np.array_equal(rows[1, :, 2], unknown)
    assert set(unknown) == {-1, 0, 1, 2}  # from no level to any, also to the first
