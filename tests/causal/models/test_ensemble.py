"""A counterfactual is supported by the graphs in which it comes about."""

import numpy as np
import pandas as pd
import pytest

from proce.causal import CausalGraph, Ensemble, StructuralCausalModel
from proce.errors import GraphError
from proce.schema import Categorical, Codec, Continuous, Ordinal, Schema


@pytest.fixture(scope="module")
def setting():
    draw = np.random.default_rng(0)
    x = draw.uniform(0, 1, 500)
    frame = pd.DataFrame({"x": x, "y": x + draw.normal(0, 0.05, 500), "z": draw.uniform(0, 1, 500)})
    codec = Codec.fit(Schema.infer(frame), frame)
    return codec, codec.encode(frame)


FORWARD = CausalGraph([("x", "y")], nodes=tuple("xyz"))
BACKWARD = CausalGraph([("y", "x")], nodes=tuple("xyz"))
NONE = CausalGraph([], nodes=tuple("xyz"))


def test_members_that_lead_elsewhere_do_not_support_it(setting):
    codec, rows = setting
    ensemble = Ensemble.fit([FORWARD, FORWARD, BACKWARD, NONE], rows, codec)
    factual = rows[:1]
    residual = ensemble.members[0].abduct(factual)
    acted_on = np.array([[[True, False, False]]])
    wanted = factual[:, None].copy()
    wanted[..., 0] += 0.3
    follows = ensemble.members[0].propagate(wanted, residual, acted_on)
    assert ensemble.support(factual, follows, acted_on).tolist() == [[2]]
    assert ensemble.support(factual, wanted, acted_on).tolist() == [[2]]  # y stays: 2 others
    assert ensemble.support(factual, follows, acted_on, tolerance=0.5).tolist() == [[4]]


def test_who_lacks_a_cell_that_others_know_is_not_where_they_are(setting):
    codec, rows = setting
    ensemble = Ensemble.fit([FORWARD, NONE], rows, codec)
    factual, by_hand = rows[:1].copy(), np.zeros((1, 2, 3), np.bool_)
    factual[0, 2] = np.nan
    shown = np.repeat(factual[:, None], 2, axis=1)
    shown[0, 1, 2] = 0.5
    assert ensemble.support(factual, shown, by_hand).tolist() == [[2, 0]]


def test_a_feature_with_the_same_causes_is_fitted_once(setting):
    codec, rows = setting
    ensemble = Ensemble.fit([FORWARD, CausalGraph([("x", "y"), ("z", "x")])], rows, codec)
    assert ensemble.members[0].mechanisms["y"] is ensemble.members[1].mechanisms["y"]


def test_an_ensemble_of_nothing_is_refused(setting):
    with pytest.raises(GraphError, match="at least one graph"):
        Ensemble.fit([], setting[1], setting[0])


@pytest.fixture(scope="module")
def pupils():
    """Numbers, ordered levels and levels without an order that follow from effort."""
    draw = np.random.default_rng(1)
    effort = draw.uniform(0, 1, 600)
    grade = np.digitize(effort + draw.normal(0, 0.2, 600), [0.35, 0.65])
    club = np.where(draw.uniform(0, 1, 600) < effort, "chess", "rowing")
    frame = pd.DataFrame(
        {
            "effort": effort,
            "grade": np.array(["low", "mid", "top"])[grade],
            "club": club,
            "score": effort**2 + 0.3 * grade + draw.normal(0, 0.1, 600),
        }
    )
    schema = Schema(
        [
            Continuous("effort"),
            Ordinal("grade", ("low", "mid", "top")),
            Categorical("club", ("chess", "rowing")),
            Continuous("score"),
        ]
    )
    codec = Codec.fit(schema, frame)
    graph = CausalGraph([("effort", "grade"), ("effort", "club"), ("effort", "score")])
    graph = CausalGraph([*graph.edges, ("grade", "score")])
    return StructuralCausalModel.fit(graph, codec.encode(frame), codec), codec.encode(frame)


@pytest.mark.parametrize("kind", ["auto", "boosting"])  # tables, and functions
def test_rows_go_through_all_refits_at_once_as_through_each(pupils, kind):
    scm, rows = pupils
    fitted = StructuralCausalModel.fit(scm.graph, rows, scm.codec, mechanism=kind)
    assert bool(fitted.program.given) == (kind == "boosting")
    refits = Ensemble.refit(fitted, rows, 3)
    factual, candidates = rows[:5], rows[5:25].reshape(5, 4, 4)
    by_hand = np.random.default_rng(2).random((5, 4, 4)) < 0.3
    start = np.where(by_hand, candidates, factual[:, None])
    noise = refits.abduct(factual)
    together = refits.outcomes(factual, candidates, by_hand, noise)
    assert len(together) == 3
    for place, (member, residual) in enumerate(zip(refits.members, noise, strict=True)):
        assert np.array_equal(residual, member.abduct(factual, seed=place + 1), equal_nan=True)
        assert np.array_equal(member.propagate(start, residual, by_hand), together[place])


def test_refits_differ_in_their_equations_and_in_noise_that_is_drawn(pupils):
    scm, rows = pupils
    refits = Ensemble.refit(scm, rows, 3, seed=5)
    noise = np.stack(refits.abduct(rows[:50], seed=1))
    assert not bool((noise[0] == noise[1]).all(0).any())
    assert refits.members[0].mechanisms["club"] is refits.members[1].mechanisms["club"]
    assert refits.members[0].mechanisms["score"] is not refits.members[1].mechanisms["score"]
    again = np.stack(Ensemble.refit(scm, rows, 3, seed=5).abduct(rows[:50], seed=1))
    assert np.array_equal(noise, again)


def test_an_equation_that_was_given_is_the_same_in_all_refits(setting):
    codec, rows = setting
    equations = {"y": lambda parents: 2 * parents["x"]}
    scm = StructuralCausalModel.fit(FORWARD, rows, codec, equations=equations)
    refits = Ensemble.refit(scm, rows, 3)
    assert all(each.mechanisms["y"] is scm.mechanisms["y"] for each in refits.members)
