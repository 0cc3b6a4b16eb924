"""What a person does, what is held, what merely follows; by hand on small equations.

``skill = study + u`` and ``pay = 2 * skill + u``, on unit ranges of 0 to 10, 10 and 20.
"""

import numpy as np
import pandas as pd
import pytest

from proce.arrays import Array
from proce.causal import CausalGraph, Ranked, StructuralCausalModel
from proce.causal.models.propagation import tolerances_of
from proce.schema import Categorical, Codec, Continuous, Ordinal, Schema

from ...worlds import STUDY_EQUATIONS, STUDY_GRAPH


def model(step=None, **actions) -> StructuralCausalModel:
    features = [
        Continuous("study", step=step, action=actions.get("study", "free")),
        Continuous("skill", step=step, action=actions.get("skill", "free")),
        Continuous("pay", action=actions.get("pay", "free")),
        Categorical("city", ("a", "b"), action=actions.get("city", "free")),
    ]
    frame = pd.DataFrame(
        {"study": [0.0, 10], "skill": [0.0, 10], "pay": [0.0, 20], "city": ["a", "b"]}
    )
    return StructuralCausalModel(STUDY_GRAPH, STUDY_EQUATIONS, Codec.fit(Schema(features), frame))


def rows_of(*people) -> Array:
    """Rows from study, skill and pay in raw units, and the city's code."""
    scale = np.array([10, 10, 20, 1], dtype=np.float64)
    return np.array(people, dtype=np.float64) / scale


FACTUAL = rows_of((2, 3, 7, 0))  # one better than studied for, and one on top in pay


def actions_of(target, **options):
    return model(**options).actions(FACTUAL, rows_of(target)[None])


def names(flags) -> set[str]:
    return {n for n, f in zip(("study", "skill", "pay", "city"), flags[0, 0], strict=True) if f}


# What a person asks for, under which step or action; then what is acted on, held and follows.
STEP, INDIRECT = {"step": 1.0}, {"pay": "indirect"}
CASES = {
    "effects that follow are consequences": ((4, 5, 11, 0), {}, "study", "", "skill pay"),
    "an effect that does not follow is acted on": ((4, 8, 17, 0), {}, "study skill", "", "pay"),
    "what stays against its causes is held": ((4, 5, 7, 0), {}, "study", "pay", "skill"),
    "one step from where it was": ((2, 2, 5, 0), STEP, "skill", "", "pay"),
    "one step from where causes lead": ((4, 6, 13, 0), STEP, "study skill", "", "pay"),
    "what would go one step is held": ((3, 3, 7, 0), STEP, "study", "skill", ""),
    "more than half a step from what follows": ((4, 5.6, 12.2, 0), STEP, "study skill", "", "pay"),
    "a thousandth of the range counts": ((4, 5.01, 11.02, 0), {}, "study skill", "", "pay"),
    "so it does where no cause moved": ((2, 3.01, 7.02, 0), {}, "skill", "", "pay"),
    "a root moves by one step": ((3, 4, 9, 0), STEP, "study", "", "skill pay"),
    "a root moves by less": ((2.4, 3, 7, 0), STEP, "", "", ""),
    "what is indirect is not acted on": ((2, 3, 15, 0), INDIRECT, "", "", ""),
    "nor held": ((4, 5, 7, 0), INDIRECT, "study", "", "skill pay"),
    "a feature outside the graph": ((2, 3, 7, 1), {}, "city", "", ""),
    "an unchanged row": ((2, 3, 7, 0), {}, "", "", ""),
}


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_actions_holds_and_consequences_are_told_apart(case):
    target, options, acted_on, held, consequence = case
    result = actions_of(target, **options)
    found = names(result.acted_on), names(result.held), names(result.consequence)
    assert found == tuple(set(part.split()) for part in (acted_on, held, consequence))
    assert result.count.tolist() == [[len(found[0]) + len(found[1])]]


@pytest.mark.parametrize(
    ("target", "options", "point"),
    [
        ((4, 5, 11, 0), {}, (4, 5, 11, 0)),
        ((4, 5.005, 11.01, 0), {}, (4, 5, 11, 0)),  # a small deviation is no action
        ((4, 5.4, 11, 0), STEP, (4, 5, 11, 0)),  # nor is one within half a step
        ((2, 2, 5, 0), STEP, (2, 2, 5, 0)),
        ((4, 6, 13, 0), STEP, (4, 6, 13, 0)),
        ((3, 3, 7, 0), STEP, (3, 3, 7, 0)),
        ((2, 3, 15, 0), INDIRECT, (2, 3, 7, 0)),
        ((2, 3, 7, 0), {}, (2, 3, 7, 0)),
    ],
)
def test_the_point_is_what_is_done_and_what_follows_from_it(target, options, point):
    result = actions_of(target, **options)
    np.testing.assert_allclose(result.point, rows_of(point)[None])
    if point[1] == 5:
        assert names(result.acted_on) == {"study"}


@pytest.mark.parametrize(
    ("target", "options", "expected"),
    [((4, 8, 17, 0), {}, (2, 5, 17, 0)), ((4, 6, 13, 0), STEP, (2, 5, 13, 0))],
)
def test_what_is_expected_is_where_causes_lead(target, options, expected):
    result = actions_of(target, **options)
    np.testing.assert_allclose(result.expected, rows_of(expected)[None])
    held = actions_of((4, 5, 7, 0))
    assert held.expected[0, 0, 2] == pytest.approx(11 / 20)  # what would have happened


def test_edges_into_a_fixed_feature_are_cut():
    result = actions_of((4, 5, 11, 0), skill="fixed")
    assert names(result.acted_on) == {"study", "pay"}
    assert result.point[0, 0, 1] == FACTUAL[0, 1]


def test_a_level_that_differs_from_what_follows_is_an_action():
    frame = pd.DataFrame({"study": [0.0, 10], "grade": ["low", "high"]})
    schema = Schema([Continuous("study"), Ordinal("grade", ("low", "middle", "high"))])
    graph = CausalGraph([("study", "grade")])
    equations = {"grade": Ranked(lambda parents: parents["study"] / 5, 3)}
    scm = StructuralCausalModel(graph, equations, Codec.fit(schema, frame))
    factual = np.array([[0.0, 0.0]], dtype=np.float64)
    rows = np.array([[[0.5, 1.0], [0.5, 2.0]]], dtype=np.float64)
    actions = scm.actions(factual, rows)
    assert actions.acted_on.tolist() == [[[True, False], [True, True]]]


def test_a_consequence_outside_the_range_is_reported_and_not_clipped():
    result = actions_of((10, 11, 23, 0))
    assert names(result.outside) == {"skill", "pay"}
    assert result.point[0, 0, 2] == pytest.approx(23 / 20)


def test_missing_cells_are_left_alone():
    factual = FACTUAL.copy()
    factual[0, 1] = np.nan
    rows = np.stack([factual, factual], axis=1)
    rows[0, 1, 0] = 0.9
    result = model().actions(factual, rows)
    assert result.count.tolist() == [[0, 1]]
    assert np.isnan(result.point[..., 1]).all()
    assert (result.point[..., 2] == FACTUAL[0, 2]).all()  # a missing parent moves nothing
    assert not result.consequence.any()  # nor does what is missing go from missing to missing


def test_what_a_computed_entry_may_be_off_grows_with_how_far_from_zero_its_feature_lies():
    frame = pd.DataFrame({"near": [0.0, 10.0], "far": [-2000.0, -1990.0]})
    codec = Codec.fit(Schema([Continuous("near"), Continuous("far")]), frame)
    near, far = tolerances_of(codec)["rounding"].tolist()
    distance = abs(codec.low[1]) / codec.span[1]
    assert codec.low[0] == 0
    assert far / near == pytest.approx(1 + distance.item())
    assert far > 100 * near > 0
