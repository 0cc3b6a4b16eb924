"""Where actions lead in the true world, in which numbers have steps."""

import math

import numpy as np
import pandas as pd
import pytest

from proce.causal import Additive, CausalGraph, StructuralCausalModel
from proce.datasets.worlds import Kind, random_world
from proce.metrics.recourse import limits_in_truth, reach
from proce.schema import Action, Codec, Continuous, Schema

# Pay is half of the hours, in tens; rent is twice the pay. All numbers run from 0 to 100.
TRAIN = pd.DataFrame({"hours": [0.0, 100.0], "pay": [0.0, 100.0], "rent": [0.0, 100.0]})
SCHEMA = Schema([Continuous("hours"), Continuous("pay", step=10), Continuous("rent")])
TRUTH = StructuralCausalModel(
    CausalGraph([("hours", "pay"), ("pay", "rent")]),
    {
        "pay": Additive(lambda parents: parents["hours"] / 2),
        "rent": Additive(lambda parents: 2 * parents["pay"]),
    },
    Codec.fit(SCHEMA, TRAIN),
)
PERSON = np.array([[0.20, 0.10, 0.25]], dtype=np.float64)  # rent is 5 more than it should


def after(hours: float, *, hold_pay: bool = False) -> list[float]:
    row = PERSON.copy()
    row[0, 0] = hours
    by_hand = np.array([[True, hold_pay, False]])
    noise = TRUTH.abduct(PERSON)
    reached = reach(TRUTH, PERSON, row[None], noise, by_hand[None])
    return (reached[0, 0] * 100).tolist()


def test_a_number_that_follows_is_rounded_before_others_follow_from_it():
    """Of 33 hours come 16.5, which is a pay of 20, and so a rent of 45."""
    assert [round(value, 9) for value in after(0.33)] == [33, 20, 45]


def test_what_is_done_by_hand_does_not_follow():
    assert [round(value, 9) for value in after(0.33, hold_pay=True)] == [33, 10, 25]


def test_nobody_who_does_nothing_moves():
    nothing = np.zeros((1, 1, 3), dtype=np.bool_)
    wanted = PERSON[None] + 0.1
    assert np.array_equal(reach(TRUTH, PERSON, wanted, TRUTH.abduct(PERSON), nothing), PERSON[None])


def test_many_ways_of_a_person_are_followed_at_once():
    rows = np.tile(PERSON[:, None], (1, 2, 1))
    rows[0, :, 0] = np.array([0.33, 0.9], dtype=np.float64)
    by_hand = np.array([True, False, False])
    reached = reach(TRUTH, PERSON, rows, TRUTH.abduct(PERSON), by_hand)
    assert (reached * 100).round(6).tolist() == [[[33, 20, 45], [90, 40, 85]]]


@pytest.mark.parametrize("kind", ["mixed", "levels"])
def test_where_actions_lead_agrees_with_a_loop(kind: Kind):
    world = random_world(kind, n=200)
    truth = world.truth
    rows, drawn = truth.codec.encode(world.frame), np.random.default_rng(0)
    last = truth.effects[-1]
    rows[::7, last] = math.nan if truth.codec.is_number[last] else -1
    residual, by_hand = truth.abduct(rows), drawn.random(rows.shape) < 0.3
    start = np.where(by_hand, rows[drawn.permutation(len(rows))], rows)
    expected = start.T.copy()
    for position in truth.effects:
        value = truth.outcome(position, expected, residual)
        follows = truth.is_known(position, residual)
        feature, own = truth.codec.schema.features[position], expected[position]
        if step := getattr(feature, "step", None):
            low, span = truth.codec.low[position], truth.codec.span[position]
            value = (np.rint((low + span * value) / step) * step - low) / span
        moves = follows & ~by_hand[:, position] & ~(np.abs(value - own) < 1e-12)
        expected[position] = np.where(moves, value, own)
    assert (start != expected.T).any()
    reached = reach(truth, rows, start[:, None], residual, by_hand[:, None])[:, 0]
    assert np.array_equal(reached, expected.T, equal_nan=True)


def test_who_waits_gets_older_in_all_that_waits():
    """Two years in one's age are 24 months in a post, and each month there is paid."""
    schema = Schema(
        [
            Continuous("age", (0, 100), step=1, action=Action.WAITS),
            Continuous("months", (0, 100), step=1, action=Action.WAITS, unit="months"),
            Continuous("pay", (0, 100)),
        ]
    )
    codec = Codec.fit(schema, pd.DataFrame({name: [0.0, 100.0] for name in schema.names}))
    graph = CausalGraph([("months", "pay")])
    equations = {"pay": Additive(lambda parents: parents["months"] / 2)}
    truth = StructuralCausalModel(graph, equations, codec)
    person, noise = codec.to_unit(np.array([[30.0, 4.0, 2.0]])), np.zeros((1, 1))
    told = codec.to_unit(np.array([[[32.0, 4.0, 2.0], [32.0, 9.0, 2.0], [30.0, 9.0, 2.0]]]))
    by_hand = np.array([[[True, False, False], [True, True, False], [False, True, False]]])
    reached = codec.to_raw(reach(truth, person, told, noise, by_hand)).round(6)
    assert reached.tolist() == [[[32, 28, 14], [32, 28, 14], [30, 4, 2]]]
    # A method that knows no time may tell any of them to wait; a search need try one alone.
    assert limits_in_truth(codec, person).movable.tolist() == [[True, True, True]]
    lead = limits_in_truth(codec, person, leads_only=True)
    assert lead.movable.tolist() == [[True, False, True]]
    nobody_knows = np.array([[math.nan, math.nan, 0.0]])
    assert limits_in_truth(codec, nobody_knows).movable.tolist() == [[False, False, True]]
