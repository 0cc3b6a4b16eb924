"""What is tried of candidates, and what is kept of it, agrees with slow loops."""

import numpy as np
import pytest

from proce.arrays import Array
from proce.methods.phases import prune
from proce.methods.phases.candidates import CandidateBatch, adopt_closer
from proce.methods.phases.polish import write_scaled_changes
from proce.methods.phases.scan import move_beside

N, F = 40, 6
SEEDS = range(5)


def acting(draw: np.random.Generator, *shape: int) -> Array:
    """Return flags of cells that are done by hand, of which every candidate has some."""
    by_hand = draw.random((*shape, F)) < 0.5
    by_hand[..., 0] |= ~by_hand.any(-1)
    return by_hand


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("n_turns", [1, 3])
def test_numbers_have_their_turns_to_be_drawn_in(seed: int, n_turns: int) -> None:
    draw = np.random.default_rng(seed)
    rows, expected = draw.random((2, N, 1, F))
    is_number = np.array([True, True, False, True, True, True])
    by_hand = draw.random((N, 1, F)) < 0.8
    by_hand[..., :2], by_hand[..., 3] = True, True  # numbers enough for all turns
    own, others, alike = np.array([0.5, 0.0, 1.3]), np.array([1.0, 1.2, 0.5]), np.array([0.9])
    shape = N, n_turns * len(own) + len(alike), F
    drawn, shared = np.empty(shape), np.tile(alike, (N, 1))
    pairs = np.column_stack([own, others])
    write_scaled_changes(rows, by_hand & is_number, expected, pairs, shared, drawn)
    for n in range(N):
        moved, shares = np.flatnonzero(by_hand[n, 0] & is_number), []
        for turn in moved[:n_turns]:
            for mine, theirs in zip(own, others, strict=True):
                shares.append(np.where(np.arange(F) == turn, mine, theirs))
        shares += [np.full(F, share) for share in alike]
        for v, share in enumerate(shares):
            nearer = expected[n, 0] + share * (rows[n, 0] - expected[n, 0])
            assert (
                drawn[n, v].tolist()
                == np.where(np.isin(np.arange(F), moved), nearer, rows[n, 0]).tolist()
            )


@pytest.mark.parametrize("seed", SEEDS)
def test_every_base_gets_every_move_that_its_row_has(seed: int) -> None:
    draw = np.random.default_rng(seed)
    rows, by_hand = draw.random((N, 3, F)), acting(draw, N, 3)
    values, moved = draw.random((N, 4)), draw.integers(F, size=(N, 4))
    can_move = draw.random((N, 4)) < 0.7
    beside, acts = np.empty((N, 12, F)), np.empty((N, 12, F), np.bool_)
    move_beside(rows, by_hand, values, moved, can_move, beside, acts)
    for n, b, m in np.ndindex(N, 3, 4):
        row, flags = rows[n, b].copy(), by_hand[n, b].copy()
        if can_move[n, m]:
            row[moved[n, m]], flags[moved[n, m]] = values[n, m], True
        assert np.array_equal(beside[n, 4 * b + m], row)
        assert np.array_equal(acts[n, 4 * b + m], flags)


@pytest.mark.parametrize("seed", SEEDS)
def test_actions_are_left_out_one_by_one_and_then_those_that_are_worth_least(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An action is worth what the model loses without it, for the distance that is saved."""
    draw = np.random.default_rng(seed)
    rows, by_hand = draw.random((N, 1, F)), acting(draw, N, 1)
    most = int(by_hand.sum(-1).max())
    tried = []

    def evaluate(problem, rows, acts):
        tried.append((rows, acts))
        prediction, distance = np.round(draw.random((2, *acts.shape[:2])), 1)  # ties are common
        prediction[draw.random(prediction.shape) < 0.1] = np.nan  # a model that gives no number
        nothing = np.zeros_like(prediction)
        return CandidateBatch(rows, acts, rows, prediction, distance, nothing)

    monkeypatch.setattr(prune, "evaluate", evaluate)
    own = CandidateBatch(rows, by_hand, rows, *draw.random((2, N, 1)), np.zeros((N, 1)))
    whole = prune._shorter(None, own)
    (each, flags), (more, fewer) = tried
    assert whole.rows.shape[1] == most + most - 1
    for n in range(N):
        acts = np.flatnonzero(by_hand[n, 0])
        lost = np.maximum(whole.prediction[n, :most] - own.prediction[n], 0)
        worth = lost / np.maximum(own.distance[n] - whole.distance[n, :most], 1e-9)
        order = np.argsort(np.nan_to_num(worth[: len(acts)], nan=np.inf), kind="stable")
        for v in range(most):
            without = by_hand[n, 0] & (np.arange(F) != acts[v] if v < len(acts) else True)
            assert np.array_equal(flags[n, v], without)
            assert np.array_equal(each[n, v], rows[n, 0])
        for v in range(most - 1):
            without = by_hand[n, 0] & ~np.isin(np.arange(F), acts[order[: v + 2]])
            assert np.array_equal(fewer[n, v], without)
            assert np.array_equal(more[n, v], rows[n, 0])


def of_distances(*columns: list[float]) -> CandidateBatch:
    """Return candidates that are feasible, each with its distance as its only cell."""
    distance = np.array(columns)
    rows, acts = distance[..., None], np.ones((*distance.shape, 1), np.bool_)
    nothing = np.zeros_like(distance)
    return CandidateBatch(rows, acts, rows.copy(), nothing, distance, nothing.copy())


def test_the_closest_feasible_variant_takes_the_place_of_a_candidate() -> None:
    best = of_distances([5.0], [5.0], [5.0])
    variants = of_distances([4.0, 3.0, 3.0, 1.0], [5.0, 6.0, 7.0, 8.0])
    variants.violation[0, 3] = 0.1
    after, replaced = adopt_closer(best, np.array([2, 0]), variants, 1e-9)
    assert after.distance[:, 0].tolist() == [5.0, 5.0, 3.0]
    assert after.rows[:, 0, 0].tolist() == [5.0, 5.0, 3.0]
    assert replaced.tolist() == [2]
    assert best.distance[:, 0].tolist() == [5.0, 5.0, 5.0]


def drawn_trials(draw: np.random.Generator, n: int, c: int) -> CandidateBatch:
    """Return candidates with many ties, some of them infeasible and some without a number."""
    prediction, distance = np.round(draw.random((2, n, c)), 1)
    prediction[draw.random((n, c)) < 0.1], distance[draw.random((n, c)) < 0.1] = np.nan, np.nan
    violation = np.where(draw.random((n, c)) < 0.3, 0.1, 0.0)
    by_hand = draw.random((n, c, F)) < 0.5
    return CandidateBatch(
        draw.random((n, c, F)), by_hand, draw.random((n, c, F)), prediction, distance, violation
    )


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("shorter", [False, True])
def test_what_is_kept_agrees_with_a_loop(seed: int, shorter: bool) -> None:
    draw = np.random.default_rng(seed)
    best, variants = drawn_trials(draw, N, 1), drawn_trials(draw, N // 2, 7)
    best.distance[:] = 0.6
    places = draw.permutation(N)[: N // 2]
    gain = -np.inf if shorter else 1e-9
    after, replaced = adopt_closer(best, places, variants, gain, shorter=shorter)
    expected = []
    for n, place in enumerate(places.tolist()):
        distance = variants.feasible_distance[n].copy()
        if shorter:
            distance[variants.by_hand[n].sum(-1) >= best.by_hand[place, 0].sum()] = np.inf
        which = int(distance.argmin())  # of equally close ones the first
        if np.isfinite(distance[which]) and distance[which] < best.distance[place, 0] - gain:
            expected.append(place)
            for kept, tried in zip(after.columns, variants.columns, strict=True):
                assert np.array_equal(kept[place, 0], tried[n, which])
    assert replaced.tolist() == expected
    others = np.setdiff1d(np.arange(N), expected)
    for kept, own in zip(after.columns, best.columns, strict=True):
        assert np.array_equal(kept[others], own[others], equal_nan=True)
