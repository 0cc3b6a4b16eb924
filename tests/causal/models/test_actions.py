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


def test_effects_that_follow_are_consequences():
    result = actions_of((4, 5, 11, 0))
    assert names(result.acted_on) == {"study"}
    assert names(result.consequence) == {"skill", "pay"}
    assert names(result.held) == set()
    np.testing.assert_allclose(result.point, rows_of((4, 5, 11, 0))[None])
    assert result.count.tolist() == [[1]]


def test_an_effect_that_does_not_follow_is_an_action():
    result = actions_of((4, 8, 17, 0))
    assert names(result.acted_on) == {"study", "skill"}
    assert names(result.consequence) == {"pay"}
    np.testing.assert_allclose(result.expected, rows_of((2, 5, 17, 0))[None])


def test_keeping_a_feature_still_against_its_causes_is_a_hold():
    result = actions_of((4, 5, 7, 0))
    assert names(result.acted_on) == {"study"}
    assert names(result.held) == {"pay"}
    assert names(result.consequence) == {"skill"}
    assert result.count.tolist() == [[2]]
    assert result.expected[0, 0, 2] == pytest.approx(11 / 20)  # what would have happened


def test_the_point_is_propagated_again_so_a_small_deviation_is_no_action():
    result = actions_of((4, 5.005, 11.01, 0))
    assert names(result.acted_on) == {"study"}
    np.testing.assert_allclose(result.point, rows_of((4, 5, 11, 0))[None])


def test_an_effect_is_acted_on_when_it_is_one_step_from_where_it_was():
    result = actions_of((2, 2, 5, 0), step=1.0)
    assert names(result.acted_on) == {"skill"}
    assert names(result.consequence) == {"pay"}
    np.testing.assert_allclose(result.point, rows_of((2, 2, 5, 0))[None])


def test_an_effect_is_acted_on_when_it_is_one_step_from_where_its_causes_lead():
    result = actions_of((4, 6, 13, 0), step=1.0)
    assert names(result.acted_on) == {"study", "skill"}
    assert names(result.consequence) == {"pay"}
    np.testing.assert_allclose(result.point, rows_of((4, 6, 13, 0))[None])
    np.testing.assert_allclose(result.expected, rows_of((2, 5, 13, 0))[None])


def test_an_effect_that_would_go_one_step_is_held_where_it_stays():
    result = actions_of((3, 3, 7, 0), step=1.0)
    assert names(result.acted_on) == {"study"}
    assert names(result.held) == {"skill"}
    np.testing.assert_allclose(result.point, rows_of((3, 3, 7, 0))[None])


def test_within_half_a_step_of_what_follows_is_no_action():
    result = actions_of((4, 5.4, 11, 0), step=1.0)
    assert names(result.acted_on) == {"study"}
    np.testing.assert_allclose(result.point, rows_of((4, 5, 11, 0))[None])
    assert names(actions_of((4, 5.6, 12.2, 0), step=1.0).acted_on) == {"study", "skill"}


def test_without_a_step_a_thousandth_of_the_range_from_what_follows_is_an_action():
    assert names(actions_of((4, 5.01, 11.02, 0)).acted_on) == {"study", "skill"}
    assert names(actions_of((2, 3.01, 7.02, 0)).acted_on) == {"skill"}


def test_a_root_is_acted_on_when_it_moves_by_one_step():
    assert names(actions_of((3, 4, 9, 0), step=1.0).acted_on) == {"study"}
    assert names(actions_of((2.4, 3, 7, 0), step=1.0).acted_on) == set()


def test_an_indirect_feature_is_never_acted_on_or_held():
    result = actions_of((2, 3, 15, 0), pay="indirect")
    assert names(result.acted_on) == set()
    np.testing.assert_allclose(result.point, FACTUAL[None])
    assert names(actions_of((4, 5, 7, 0), pay="indirect").held) == set()


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


def test_a_feature_outside_the_graph_is_acted_on_when_it_changes():
    assert names(actions_of((2, 3, 7, 1)).acted_on) == {"city"}


def test_an_unchanged_row_takes_no_action():
    result = actions_of((2, 3, 7, 0))
    assert result.count.tolist() == [[0]]
    assert names(result.consequence) == set()
    np.testing.assert_allclose(result.point, FACTUAL[None])


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
