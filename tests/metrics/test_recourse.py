"""Does advice work in the true world, where its equations are known?

The truth is ``skill = study + u`` on a range of 0 to 10 each; the model wants skill above 5.
"""

import math
from dataclasses import replace

import numpy as np
import pytest

from proce.explanation import Explanation, Outcome
from proce.metrics import recourse
from proce.metrics.inputs import CounterfactualColumns
from proce.metrics.recourse import allowed
from proce.schema import Codec

from .students import TRAIN, World, schema

WORLD = World()


class WantsSkill:
    """Says its second class where skill is above 5."""

    def predict(self, rows):
        return (rows[:, 1] > 0.5).astype(np.int64)


def with_actions(**actions) -> World:
    """Return the world in which some features have other actions, by name."""
    return World(codec=Codec.fit(schema(**actions), TRAIN))


def advice(own=(2, 3), outcome=Outcome.FOUND, cost=0.0, **changes) -> Explanation:
    """What was advised to a person: by feature, the kind of the change and the new value."""
    ways = [changes] if changes else []
    return WORLD.explained(*ways, own=WORLD.row(*own), outcome=outcome, cost=cost)


def measured(*items, world=WORLD):
    return recourse(WORLD.result(*items), world.truth, WantsSkill())


RIGHT = advice(study=("action", 6), skill=("consequence", 7))
HOPED_FOR = advice(study=("action", 3), skill=("consequence", 8))  # in truth skill comes to 4
MISSED = advice(outcome=Outcome.NOT_FOUND)
HAPPY = advice(own=(2, 9), outcome=Outcome.ALREADY_TARGET)


def test_advice_succeeds_where_its_actions_lead_to_the_target_in_truth():
    assert measured(RIGHT).success == 1
    assert measured(HOPED_FOR).success == 0


def test_a_promise_is_broken_where_the_actions_do_not_lead_there():
    result = measured(RIGHT, HOPED_FOR, MISSED, MISSED)
    assert (result.success, result.abstentions, result.broken_promises) == (0.25, 0.5, 0.5)


def test_who_has_the_target_already_does_not_count():
    result = measured(RIGHT, HAPPY, MISSED, HAPPY)
    assert (result.success, result.abstentions) == (0.5, 0.5)


def test_a_change_that_only_follows_is_not_carried_out():
    wishful = advice(skill=("consequence", 9), city=("action", "b"))
    assert measured(wishful).success == 0


def test_a_root_that_only_follows_is_not_moved_either():
    assert measured(advice(study=("consequence", 9), city=("action", "b"))).success == 0


def test_without_an_action_there_is_no_success():
    """The person has the target in truth, whatever was said."""
    lucky = advice(own=(2, 6), skill=("consequence", 7))
    assert measured(lucky).success == 0


def test_a_hold_keeps_a_feature_in_truth_too():
    held = advice(own=(2, 6), study=("action", 0), skill=("hold", 6))
    dropped = advice(own=(2, 6), study=("action", 0))
    assert (measured(held).success, measured(dropped).success) == (1, 0)


@pytest.mark.parametrize(
    ("changes", "actions"),
    [
        ({"study": ("action", 6)}, {"study": "fixed"}),
        ({"study": ("action", 6)}, {"study": "indirect"}),
        ({"study": ("action", 6)}, {"study": "decrease"}),
        ({"skill": ("action", 9)}, {"skill": "indirect"}),
        ({"study": ("action", 0), "skill": ("hold", 6)}, {"skill": "indirect"}),
    ],
)
def test_advice_that_the_schema_forbids_does_not_succeed(changes, actions):
    person = advice(own=(2, 6), **changes)
    assert measured(person).success == 1
    assert measured(person, world=with_actions(**actions)).success == 0


def test_an_action_beyond_the_permitted_range_does_not_succeed():
    assert measured(advice(study=("action", 10))).success == 1
    assert measured(advice(study=("action", 11))).success == 0


def test_numbers_are_means_over_the_recommended_counterfactuals():
    one = advice(study=("action", 6), skill=("consequence", 7), cost=0.5)
    other = advice(study=("action", 6), skill=("hold", 3), city=("action", "b"), cost=1.0)
    result = measured(one, other, MISSED)
    assert (result.n_actions, result.n_holds, result.cost) == (1.5, 0.5, 0.75)


def test_predicted_consequences_are_compared_with_the_truth_and_with_none():
    result = measured(RIGHT, HOPED_FOR)  # skill comes to 7 and 4, was said to come to 7 and 8
    assert result.consequence_error == pytest.approx((0 + 0.4) / 2)
    assert result.naive_error == pytest.approx((0.4 + 0.1) / 2)


def test_where_nothing_follows_there_is_no_error_of_consequences():
    result = measured(advice(skill=("action", 7)))
    assert result.success == 1
    assert math.isnan(result.consequence_error)
    assert math.isnan(result.naive_error)


def test_where_nothing_was_found_all_are_abstentions():
    result = measured(MISSED, MISSED)
    assert (result.success, result.abstentions) == (0, 1)
    assert math.isnan(result.broken_promises)


def test_where_nobody_asked_there_is_nothing_to_say():
    result = measured(HAPPY)
    assert math.isnan(result.success)
    assert math.isnan(result.abstentions)


def test_shares_agree_with_a_loop():
    draw = (10 * np.random.default_rng(0).random((40, 4))).round().tolist()
    items, works, found = [], 0, 0
    for study, whole, wanted, shown in draw:
        skill = whole + 0.25  # never right on the boundary
        if wanted == study:
            items.append(advice(own=(study, skill), outcome=Outcome.NOT_FOUND))
            continue
        change = {"study": ("action", wanted), "skill": ("consequence", shown)}
        items.append(advice(own=(study, skill), **change))
        found += 1
        works += wanted + (skill - study) > 5
    assert 0 < works < found < 40
    result = measured(*items)
    assert result.success == pytest.approx(works / 40)
    assert result.broken_promises == pytest.approx(1 - works / found)
    assert result.abstentions == pytest.approx(1 - found / 40)


def test_what_no_search_would_advise_is_not_allowed():
    """A level that is avoided, a known number that is gone, and time for who never waits."""
    moved = advice(study=("action", 6), city=("action", "b"))
    columns = CounterfactualColumns.of(WORLD.result(moved))
    codec = WORLD.codec
    assert allowed(codec, columns).tolist() == [True]
    avoiding = replace(codec, schema=codec.schema.edit("city", avoid=["b"]))
    assert allowed(avoiding, columns).tolist() == [False]
    kept = replace(columns, factual=columns.factual.copy())
    kept.factual[:, 2] = columns.rows[:, 2]  # who has it may keep it
    assert allowed(avoiding, kept).tolist() == [True]
    gone = replace(columns, rows=columns.rows.copy())
    gone.rows[:, 0] = math.nan
    assert allowed(codec, gone).tolist() == [False]
    for protected, expected in ((False, True), (True, False)):
        waiting = codec.schema.edit("study", action="waits", protected=protected)
        assert allowed(replace(codec, schema=waiting), columns).tolist() == [expected]


def test_a_value_that_a_frame_rounds_is_still_within_its_range():
    columns = CounterfactualColumns.of(WORLD.result(advice(study=("action", 10))))
    for beyond, expected in ((1e-8, True), (1e-5, False)):
        rounded = replace(columns, rows=columns.rows + np.array([beyond, 0, 0, 0]))
        assert allowed(WORLD.codec, rounded).tolist() == [expected]
