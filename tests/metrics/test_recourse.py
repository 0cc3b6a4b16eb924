"""Does advice work in the true world, where its equations are known?

The truth is ``skill = study + u`` on a range of 0 to 10 each; the model wants skill above 5.
"""

import math

import pandas as pd
import pytest
import torch

from proce.causal import Additive, CausalGraph, StructuralCausalModel
from proce.explanation import Change, Context, Explanation, Explanations, Outcome, Provenance
from proce.metrics import recourse
from proce.schema import Categorical, Codec, Continuous, Layout, Schema

from ..explained import explained_row, together

KINDS = {"action": Change.ACTION, "hold": Change.HOLD, "follows": Change.CONSEQUENCE}
FRAME = pd.DataFrame({"study": [0.0, 10], "skill": [0.0, 10], "city": ["a", "b"]})
NOBODY = Provenance({}, "by hand", 0, {}, {}, "hard", None, 2, "", 0.0, 0, 0)


class WantsSkill:
    """Says its second class where skill is above 5."""

    def predict(self, rows):
        return (rows[:, 1] > 0.5).long()


def truth(**actions) -> StructuralCausalModel:
    schema = Schema(
        [
            Continuous("study", action=actions.get("study", "free")),
            Continuous("skill", action=actions.get("skill", "free")),
            Categorical("city", ("a", "b")),
        ]
    )
    graph = CausalGraph([("study", "skill")])
    equations = {"skill": Additive(lambda parents: parents["study"])}
    return StructuralCausalModel(graph, equations, Codec.fit(schema, FRAME))


CODEC = truth().codec


def advice(own=(2, 3), outcome=Outcome.FOUND, cost=0.0, **changes) -> Explanation:
    """What was advised to a person: by feature, the kind of the change and the new value."""
    factual = torch.tensor([own[0] / 10, own[1] / 10, 0], dtype=torch.float64)
    shown, kinds = factual.clone(), torch.zeros(3, dtype=torch.int8)
    for name, (kind, value) in changes.items():
        position = CODEC.schema.position(name)
        shown[position], kinds[position] = CODEC.encode_value(name, value), KINDS[kind]
    n = int(bool(changes))
    return explained_row(
        Context(CODEC, ("no", "yes"), (0.5, 0.5)),
        factual,
        CODEC.to_raw(factual),
        shown[None][:n],
        kinds[None][:n],
        torch.ones(n, dtype=torch.float64),
        torch.tensor([[0.0, 0.0, cost]], dtype=torch.float64)[:n],
        probability=0.2,
        outcome=outcome,
    )


def measured(*items, world=None):
    result = Explanations(together(items), Layout.of(FRAME), NOBODY)
    return recourse(result, world or truth(), WantsSkill())


RIGHT = advice(study=("action", 6), skill=("follows", 7))
HOPED_FOR = advice(study=("action", 3), skill=("follows", 8))  # in truth skill comes to 4
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
    wishful = advice(skill=("follows", 9), city=("action", "b"))
    assert measured(wishful).success == 0


def test_a_root_that_only_follows_is_not_moved_either():
    assert measured(advice(study=("follows", 9), city=("action", "b"))).success == 0


def test_without_an_action_there_is_no_success():
    lucky = advice(own=(2, 6), skill=("follows", 7))  # has the target in truth, whatever was said
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
    assert measured(person, world=truth(**actions)).success == 0


def test_an_action_beyond_the_permitted_range_does_not_succeed():
    assert measured(advice(study=("action", 10))).success == 1
    assert measured(advice(study=("action", 11))).success == 0


def test_numbers_are_means_over_the_recommended_counterfactuals():
    one = advice(study=("action", 6), skill=("follows", 7), cost=0.5)
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
    draw = torch.rand(40, 4, generator=torch.Generator().manual_seed(0)).mul(10).round().tolist()
    items, works, found = [], 0, 0
    for study, whole, wanted, shown in draw:
        skill = whole + 0.25  # never right on the boundary
        if wanted == study:
            items.append(advice(own=(study, skill), outcome=Outcome.NOT_FOUND))
            continue
        change = {"study": ("action", wanted), "skill": ("follows", shown)}
        items.append(advice(own=(study, skill), **change))
        found += 1
        works += wanted + (skill - study) > 5
    assert 0 < works < found < 40
    result = measured(*items)
    assert result.success == pytest.approx(works / 40)
    assert result.broken_promises == pytest.approx(1 - works / found)
    assert result.abstentions == pytest.approx(1 - found / 40)
