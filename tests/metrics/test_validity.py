"""Is the class reached (Eq. 19), and do effects follow their causes (Eq. 20)?"""

import doctest
import itertools
import math

import numpy as np
import pandas as pd
import pytest

from proce.errors import ModelError, RuleError
from proce.metrics import (
    bootstrap_refits,
    causal_constraint_validity,
    target_class_validity,
    validity,
)
from proce.schema import Codec, Continuous, Ordinal, Rule, Schema

A, B, C, RANK = range(4)
FRAME = pd.DataFrame(
    {"a": [0.0, 10], "b": [0.0, 10], "c": [0.0, 10], "rank": ["low", "high"]}, index=[0, 1]
)
CODEC = Codec.fit(
    Schema(
        [*(Continuous(name) for name in "abc"), Ordinal("rank", ("low", "middle", "high"))],
    ),
    FRAME,
)


class SaysA:
    """Its second class where a is above one half."""

    def predict(self, rows):
        return (rows[:, A] > 0.5).astype(np.int64)


def rule(text) -> Rule:
    return Rule.parse(text, CODEC)


def flags(*values) -> np.ndarray:
    return np.array(values, dtype=np.bool_)


def rows_at(*moves, start=0.5) -> tuple[np.ndarray, np.ndarray]:
    """Rows in the middle, and the same moved by a, b and c, and by ranks."""
    change = np.array([[*move, 0][:4] for move in moves], dtype=np.float64)
    before = np.full_like(change, start)
    before[:, RANK] = 1
    return before, before + change


def test_a_row_without_a_counterfactual_stays_in_the_denominator():
    rows = np.zeros((4, 4), dtype=np.float64)
    rows[:, A] = np.array([0.9, 0.1, 0.9, 0.1])
    target = np.array([1, 1, 1, 0])
    assert target_class_validity(SaysA(), rows, flags(1, 1, 0, 1), target) == 0.5
    assert target_class_validity(SaysA(), rows, flags(0, 0, 0, 0), target) == 0


def test_class_validity_agrees_with_a_loop():
    draw = np.random.default_rng(0)
    rows, found = draw.random((60, 4)), draw.random(60) < 0.8
    target = draw.integers(2, size=60)
    hits = 0
    for row, there, wanted in zip(rows.tolist(), found.tolist(), target.tolist(), strict=True):
        hits += there and (row[A] > 0.5) == wanted
    assert target_class_validity(SaysA(), rows, found, target) == pytest.approx(hits / 60)


def measured(rules, before, after, found=None, **options):
    found = np.ones(len(before), dtype=np.bool_) if found is None else found
    return causal_constraint_validity(
        [rule(text) for text in rules], before, after, found, **options
    )


@pytest.mark.parametrize(
    ("moves", "triggered", "valid"),
    [
        ((0.1, 0.2, 0.1), True, True),  # all up
        ((-0.1, -0.2, -0.3), True, True),  # all down
        ((0.1, 0.2, 0.0), True, False),  # the effect stays
        ((0.1, 0.2, -0.1), True, False),  # the effect turns back
        ((0.1, -0.2, 0.1), False, True),  # the causes part
        ((0.1, 0.0, -0.1), False, True),  # one cause stays
        ((0.0, 0.0, 0.3), False, True),  # nothing happened to the causes
        ((0.1, 0.2, 1e-12), True, False),  # rounding is no movement
    ],
)
def test_a_condition_speaks_where_all_causes_move_the_same_way(moves, triggered, valid):
    result = measured(["a, b ~> c"], *rows_at(moves))
    assert (result.triggered, result.valid) == (triggered, valid)


def test_shares_are_of_all_rows_and_satisfied_is_of_those_triggered():
    before, after = rows_at((0.1, 0.1, 0.1), (0.1, 0.1, -0.1), (0.1, -0.1, 0), (0.1, 0.1, 0.1))
    result = measured(["a, b ~> c"], before, after, flags(1, 1, 1, 0))
    assert (result.valid, result.triggered, result.satisfied) == (0.5, 0.5, 0.5)


def test_without_anything_triggered_there_is_no_share_satisfied():
    result = measured(["a ~> c"], *rows_at((0, 0, 0)))
    assert (result.valid, result.triggered) == (1, 0)
    assert math.isnan(result.satisfied)


def test_an_ordinal_effect_moves_by_ranks():
    result = measured(["a ~> rank"], *rows_at((0.1, 0, 0, 1), (0.1, 0, 0, -1)))
    assert (result.valid, result.triggered) == (0.5, 1)


def test_a_row_must_obey_every_condition():
    rules = ["a ~> c", "b ~> c"]
    before, after = rows_at((0.1, 0.1, 0.1), (0.1, -0.1, 0.1), (0.1, 0, 0.1))
    result = measured(rules, before, after)
    assert (result.valid, result.triggered) == (pytest.approx(2 / 3), 1)


def test_any_other_rule_is_triggered_by_its_premise():
    rules = ["cf.rank > x.rank => cf.a > x.a"]
    before, after = rows_at((0.1, 0, 0, 1), (0, 0, 0, 1), (-0.1, 0, 0, 0), (0, 0, 0, -1))
    result = measured(rules, before, after)
    assert (result.valid, result.triggered, result.satisfied) == (0.75, 0.5, 0.5)


def test_a_rule_without_a_premise_always_speaks():
    result = measured(["cf.a >= x.a"], *rows_at((0.1, 0, 0), (-0.1, 0, 0)))
    assert (result.valid, result.triggered, result.satisfied) == (0.5, 1, 0.5)


def test_read_strictly_the_effect_moves_as_its_prediction_does():
    mechanisms = {"c": lambda rows: rows[..., A] - 2 * rows[..., B]}
    before, after = rows_at(
        (0.1, 0.1, -0.1),  # the prediction falls, and so does c
        (0.1, 0.1, 0.1),
        (0.2, 0.1, 0.0),  # the prediction stays, and so does c
        (0.2, 0.1, 0.3),
        (0.0, -0.1, 0.2),
    )
    result = measured(["a, b ~> c"], before, after, reading="strict", mechanisms=mechanisms)
    assert (result.valid, result.triggered, result.satisfied) == (0.6, 1, 0.6)


def test_read_strictly_a_condition_speaks_where_a_rule_of_a_search_does():
    """Where nothing is predicted both are silent; a small move is enough for the measure alone."""
    mechanisms = {"c": lambda rows: np.where(rows[..., A] > 0.55, np.nan, rows[..., A])}
    before, after = rows_at((0.1, 0, -0.1), (0.05, 0, 0.001), (0.05, 0, 0.003), (0.05, 0, -0.1))
    result = measured(["a ~> c"], before, after, reading="strict", mechanisms=mechanisms)
    assert (result.triggered, result.valid) == (0.75, 0.75)
    assert rule("a ~> c").holds(before, after, mechanisms).tolist() == [True, False, True, False]


def test_both_readings_see_what_is_next_to_the_grid_on_the_grid():
    """A person is shown the point of the grid: nothing moved."""
    codec = Codec.fit(Schema([Continuous("a"), Continuous("c", step=1)]), FRAME[["a", "c"]])
    before, after = np.array([[0.5, 0.5]]), np.array([[0.6, 0.5 + 5e-8]])
    follows, mechanisms = Rule.parse("a ~> c", codec), {"c": lambda rows: rows[..., 0]}
    by_direction = causal_constraint_validity([follows], before, after, flags(1))
    strictly = causal_constraint_validity(
        [follows], before, after, flags(1), reading="strict", mechanisms=mechanisms
    )
    assert (by_direction.triggered, by_direction.valid) == (1, 0)
    assert (strictly.triggered, strictly.valid) == (1, 0)


def test_the_strict_reading_needs_the_mechanism_of_each_effect():
    with pytest.raises(RuleError, match=r"rule 'a, b ~> c' needs the mechanism of 'c'.*reading="):
        measured(["a, b ~> c"], *rows_at((0.1, 0.1, 0.1)), reading="strict")
    assert measured(["cf.a >= x.a"], *rows_at((0.1, 0, 0)), reading="strict").valid == 1


def test_an_unknown_reading_is_refused():
    with pytest.raises(RuleError, match="reading is 'lenient'; expected 'direction' or 'strict'"):
        measured(["a ~> c"], *rows_at((0.1, 0, 0.1)), reading="lenient")


@pytest.mark.parametrize("missing", [A, C])
@pytest.mark.parametrize("reading", ["direction", "strict"])
def test_a_condition_is_silent_where_a_cell_that_it_names_is_missing(missing, reading):
    before, after = rows_at((0.1, 0, -0.1))
    before[0, missing] = after[0, missing] = np.nan
    mechanisms = {"c": lambda rows: np.nan_to_num(rows[..., A])}
    result = measured(["a ~> c"], before, after, reading=reading, mechanisms=mechanisms)
    assert (result.valid, result.triggered) == (1, 0)


def test_a_missing_level_neither_moved_nor_stayed():
    before, after = rows_at((0.1, 0, 0))
    before[0, RANK] = after[0, RANK] = -1
    assert measured(["a ~> rank"], before, after).valid == 1


def sign(change) -> int:
    return 0 if abs(change) < 1e-9 else (1 if change > 0 else -1)


def test_causal_validity_agrees_with_a_loop():
    steps = (-0.1, 0.0, 0.1)
    moves = list(itertools.product(steps, steps, steps, (-1, 0, 1)))
    before, after = rows_at(*moves)
    found = np.arange(len(moves)) % 5 > 0
    rules = ["a, b ~> c", "c ~> rank", "cf.rank > x.rank => cf.a > x.a"]
    result = measured(rules, before, after, found)
    valid = triggered = satisfied = 0
    for (a, b, c, rank), there in zip(moves, found.tolist(), strict=True):
        speaks = [sign(a) == sign(b) != 0, sign(c) != 0, rank > 0]
        holds = [sign(c) == sign(a), sign(rank) == sign(c), a > 0]
        broken = any(s and not h for s, h in zip(speaks, holds, strict=True))
        valid += there and not broken
        triggered += there and any(speaks)
        satisfied += there and any(speaks) and not broken
    assert result.valid == pytest.approx(valid / len(moves))
    assert result.triggered == pytest.approx(triggered / len(moves))
    assert result.satisfied == pytest.approx(satisfied / triggered)


def test_refits_get_as_many_rows_of_each_class_as_there_were():
    label = np.array([0] * 30 + [1] * 3)
    drawn = bootstrap_refits(lambda rows, seed: (rows, seed), label, n_refits=4, seed=7)
    assert [seed for _, seed in drawn] == [8, 9, 10, 11]
    assert [np.bincount(label[rows]).tolist() for rows, _ in drawn] == [[30, 3]] * 4
    assert max(len(set(rows.tolist())) for rows, _ in drawn) < 33  # with replacement
    assert not np.array_equal(drawn[0][0], drawn[1][0])


def test_the_same_seed_gives_the_same_rows():
    label = ["yes", "no"] * 20
    one, again = (bootstrap_refits(lambda rows, _: rows.tolist(), label, seed=3) for _ in range(2))
    assert one == again
    assert one != bootstrap_refits(lambda rows, _: rows.tolist(), label, seed=4)


def test_what_cannot_be_refitted_is_refused():
    with pytest.raises(ModelError, match="n_refits is 0; expected a whole number from 1"):
        bootstrap_refits(lambda rows, seed: None, [0, 1], n_refits=0)
    with pytest.raises(ModelError, match=r"shape \(1, 2\); expected one label for each"):
        bootstrap_refits(lambda rows, seed: None, [[0, 1]])


def test_the_docstring_shows_real_output():
    outcome = doctest.testmod(validity)
    assert outcome.attempted == 1
    assert outcome.failed == 0
