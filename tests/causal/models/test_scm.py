"""Structural causal models with given equations: abduction, action, prediction."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proce.arrays import Array
from proce.causal import Additive, CausalGraph, Choice, Multiplicative, Ranked
from proce.causal import StructuralCausalModel as Model
from proce.causal.equations.mechanism import Mechanism
from proce.causal.equations.terms import Parents
from proce.errors import GraphError, SchemaError
from proce.schema import Categorical, Codec, Continuous, Ordinal, Rule, Schema

SCHEMA = Schema(
    [
        Continuous("years", step=1),
        Continuous("pay"),
        Ordinal("grade", ("low", "middle", "high")),
        Categorical("team", ("red", "green", "blue")),
        Continuous("spent"),
    ]
)
FRAME = pd.DataFrame(
    {
        "years": [0, 3, 10, 40],
        "pay": [20.0, 35.5, 50.0, 90.25],
        "grade": ["low", "low", "middle", "high"],
        "team": ["red", "blue", "green", "blue"],
        "spent": [10.0, 0.0, 33.0, 12.5],
    }
)
GRAPH = CausalGraph(
    [
        ("years", "pay"),
        ("pay", "grade"),
        ("years", "team"),
        ("pay", "spent"),
        ("team", "spent"),
    ],
    SCHEMA.names,
)


def team_logits(parents: Parents) -> Array:
    years = parents["years"]
    return np.stack([years * 0, years / 10, 1 - years / 20], axis=-1)


MECHANISMS: dict[str, Mechanism] = {
    "pay": Additive(lambda p: 10 + 2 * p["years"]),
    "grade": Ranked(lambda p: p["pay"] / 40, 3),
    "team": Choice(team_logits, 3),
    "spent": Multiplicative(lambda p: p["pay"] * (1 + p["team"])),
}
CODEC = Codec.fit(SCHEMA, FRAME)
MODEL = Model(GRAPH, MECHANISMS, CODEC)
NOBODY = np.zeros(5, dtype=np.bool_)


def decoded(rows: Array) -> pd.DataFrame:
    frame = CODEC.decode(rows)
    assert isinstance(frame, pd.DataFrame)
    return frame


def test_a_counterfactual_by_hand() -> None:
    """Ten more years for the second person: pay by the slope of 2, the rest from there."""
    after = decoded(MODEL.counterfactual(CODEC.encode(FRAME), {"years": 13.0})).iloc[1]
    assert after["years"] == 13
    assert after["pay"] == pytest.approx(35.5 + 2 * 10)
    assert after["grade"] == "low"  # 0 - 35.5 / 40 + 55.5 / 40 = 0.5, which rounds to even
    assert after["spent"] == 0  # nothing spent stays nothing


def test_acting_on_a_middle_feature_leaves_its_causes_alone() -> None:
    factual = CODEC.encode(FRAME)
    rows = MODEL.counterfactual(factual, {"pay": 75.0})
    assert np.array_equal(rows[:, [0, 3]], factual[:, [0, 3]])  # years and team do not descend
    after = decoded(rows)
    assert after["pay"].tolist() == pytest.approx([75.0] * 4)
    assert after["spent"].tolist() == pytest.approx(
        [10 * 75 / 20, 0, 33 * 75 / 50, 12.5 * 75 / 90.25]
    )


def test_levels_and_arrays_can_be_acted_on() -> None:
    factual = CODEC.encode(FRAME)
    by_level = MODEL.counterfactual(factual, {"team": "green"})
    by_code = MODEL.counterfactual(factual, {"team": np.ones(4)})
    assert np.array_equal(by_level, by_code)
    moved = decoded(MODEL.counterfactual(factual, {"years": np.array([1.0, 2.0, 3.0, 4.0])}))
    assert moved["years"].tolist() == [1, 2, 3, 4]


cells = st.tuples(
    st.integers(0, 40),
    st.floats(1, 100),
    st.sampled_from(["low", "middle", "high"]),
    st.sampled_from(["red", "green", "blue"]),
    st.floats(0, 1000),
)


@given(st.lists(cells, min_size=1, max_size=8), st.integers(0, 2**32))
def test_without_an_action_everything_stays(people: list[tuple[object, ...]], seed: int) -> None:
    factual = CODEC.encode(pd.DataFrame(people, columns=list(SCHEMA.names)))
    residual = MODEL.abduct(factual, seed=seed)
    assert residual.shape == (len(people), MODEL.residual_size)
    assert np.array_equal(MODEL.propagate(factual, residual, NOBODY), factual)
    assert np.array_equal(MODEL.counterfactual(factual, {}, seed=seed), factual)


def test_what_stands_in_a_row_for_an_effect_does_not_matter_unless_acted_on() -> None:
    factual = CODEC.encode(FRAME)
    residual = MODEL.abduct(factual)
    scrambled = factual.copy()
    scrambled[:, 1:] = np.array([0.9, 1, 1, 0.4])
    rows = MODEL.propagate(scrambled, residual, NOBODY)
    np.testing.assert_allclose(rows, factual, rtol=0, atol=1e-12)
    held = MODEL.propagate(scrambled, residual, np.array([False, True, False, False, False]))
    assert np.array_equal(held[:, 1], scrambled[:, 1])


def test_candidates_are_propagated_as_rows_one_by_one() -> None:
    factual = CODEC.encode(FRAME)
    residual = MODEL.abduct(factual)
    generator = np.random.default_rng(0)
    candidates = np.tile(factual[:, None, :], (1, 6, 1))
    candidates[..., 0] = generator.random((4, 6))
    acted_on = generator.random((4, 6, 5)) < 0.3
    together = MODEL.propagate(candidates, residual, acted_on)
    for c in range(6):
        alone = MODEL.propagate(candidates[:, c], residual, acted_on[:, c])
        assert np.array_equal(together[:, c], alone)


def test_a_row_has_the_same_noise_in_any_batch() -> None:
    factual = CODEC.encode(FRAME)
    whole = MODEL.abduct(factual, seed=3)
    part = MODEL.abduct(factual[2:], seed=3, keys=np.array([2, 3]))
    assert np.array_equal(whole[2:], part)
    assert not np.array_equal(whole[2:], MODEL.abduct(factual[2:], seed=4, keys=np.array([2, 3])))


def test_the_callers_rows_are_not_written_to() -> None:
    factual = CODEC.encode(FRAME)
    before = factual.copy()
    MODEL.counterfactual(factual, {"years": 5.0, "team": "red"})
    MODEL.propagate(factual, MODEL.abduct(factual), ~NOBODY)
    assert np.array_equal(factual, before)


def test_a_missing_effect_stays_missing_and_its_effects_stay_put() -> None:
    frame = FRAME.astype({"pay": float}).copy()
    frame.loc[1, "pay"] = float("nan")
    frame.loc[2, "team"] = None
    rows = MODEL.counterfactual(CODEC.encode(frame), {"years": 20.0})
    after = decoded(rows)
    assert pd.isna(after["pay"][1])
    assert after.loc[1, ["grade", "spent"]].tolist() == FRAME.loc[1, ["grade", "spent"]].tolist()
    assert pd.isna(after["team"][2])
    assert after["pay"][2] == pytest.approx(70.0)
    assert after["spent"][2] == FRAME["spent"][2]


def test_a_missing_root_moves_nothing() -> None:
    frame = FRAME.astype({"years": float}).copy()
    frame.loc[0, "years"] = float("nan")
    factual = CODEC.encode(frame)
    rows = MODEL.propagate(factual, MODEL.abduct(factual), NOBODY)
    assert np.array_equal(rows[0, 1:4], factual[0, 1:4])
    assert np.isnan(rows[0, 0])


def test_edges_into_a_fixed_feature_are_cut() -> None:
    codec = Codec.fit(SCHEMA.edit("pay", action="fixed"), FRAME)
    factual = codec.encode(FRAME)
    rows = MODEL.with_codec(codec).counterfactual(factual, {"years": 13.0})
    np.testing.assert_allclose(rows[:, [1, 2]], factual[:, [1, 2]], rtol=0, atol=1e-12)


def test_another_scale_gives_the_same_people() -> None:
    other = Codec.fit(SCHEMA, FRAME.iloc[1:3])
    here = CODEC.to_raw(MODEL.counterfactual(CODEC.encode(FRAME), {"years": 7.0}))
    there = other.to_raw(
        MODEL.with_codec(other).counterfactual(other.encode(FRAME), {"years": 7.0})
    )
    np.testing.assert_allclose(here, there, rtol=1e-12, atol=1e-12)


def test_the_same_levels_in_another_order_are_refused() -> None:
    codec = Codec.fit(SCHEMA.edit("team", levels=("green", "red", "blue")), FRAME)
    with pytest.raises(GraphError, match="the equations know 'team' as categorical"):
        MODEL.with_codec(codec)


def test_predictions_are_the_equations_without_noise() -> None:
    factual = CODEC.encode(FRAME)
    predicted = CODEC.low[1] + CODEC.span[1] * MODEL.predict("pay", factual)
    assert predicted.tolist() == pytest.approx([10, 16, 30, 90])
    with pytest.raises(GraphError, match="'years' has no equation"):
        MODEL.predict("years", factual)


def test_predictions_serve_a_rule_of_dependence() -> None:
    rule = Rule.parse("years ~> pay", CODEC)
    factual = CODEC.encode(FRAME)
    rows = MODEL.counterfactual(factual, {"years": 20.0})
    against = np.where(np.array([False, True, False, False, False]), 2 * factual - rows, rows)
    mechanisms = {"pay": partial(MODEL.predict, "pay")}
    assert rule.holds(factual, rows, mechanisms).all()
    assert not rule.holds(factual, against, mechanisms).any()


def test_equations_and_causes_must_match() -> None:
    without = {name: equation for name, equation in MECHANISMS.items() if name != "grade"}
    with pytest.raises(GraphError, match=r"'grade' has causes \(pay\) but no equation"):
        Model(GRAPH, without, CODEC)
    with pytest.raises(GraphError, match="equation for 'years', which the graph gives no cause"):
        Model(GRAPH, {**MECHANISMS, "years": MECHANISMS["pay"]}, CODEC)
    with pytest.raises(GraphError, match=r"names 'pya', which is not a feature.*mean 'pay'\?"):
        Model(CausalGraph([("years", "pya")]), {"pya": MECHANISMS["pay"]}, CODEC)
    with pytest.raises(GraphError, match="'team' gives one of 4 levels; the categorical"):
        Model(GRAPH, {**MECHANISMS, "team": Choice(team_logits, 4)}, CODEC)


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        ({"yeers": 3}, r"unknown feature 'yeers'.*Did you mean 'years'\?"),
        ({"team": "gren"}, r"unknown level 'gren'.*Did you mean 'green'\?"),
        ({"grade": 1}, "unknown level 1; known levels are 'low', 'middle', 'high'"),
        ({"years": "three"}, "feature 'years' is a number; .* 'three'"),
    ],
)
def test_an_action_that_cannot_be_is_refused(actions: dict[str, object], message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        MODEL.counterfactual(CODEC.encode(FRAME), actions)  # type: ignore[arg-type]


def test_fitted_equations_move_to_a_codec_of_the_same_range_only() -> None:
    frame = pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0] * 10, "b": [0.0, 2.0, 4.0, 6.5] * 10})
    codec = Codec.fit(Schema.infer(frame), frame)
    scm = Model.fit(CausalGraph([("a", "b")]), codec.encode(frame), codec)
    again = Codec.fit(Schema.infer(frame), frame)
    assert scm.with_codec(again).codec is again
    wider = Codec.fit(Schema.infer(frame), frame * 2)
    with pytest.raises(GraphError, match="another unit range"):
        scm.with_codec(wider)


def test_an_equation_sees_the_numbers_that_a_person_sees() -> None:
    """Of 300 tenths on the unit range, 17 come back a hair off: 1.1999999999999997 is below 1.2."""
    told = np.arange(300) / 10
    frame = pd.DataFrame({"u": told, "bonus": np.arange(300.0)})
    schema = Schema([Continuous("u", step=0.1), Continuous("bonus")])
    codec = Codec.fit(schema, frame)
    rows = codec.encode(frame)
    plain = codec.low + codec.span * rows
    assert (plain[:, 0] != told).any()
    seen = []

    def bonus(parents: dict[str, Array]) -> Array:
        seen.append(parents["u"])
        return 1.0 * (parents["u"] >= 1.2)

    graph = CausalGraph([("u", "bonus")])
    predicted = Model(graph, {"bonus": Additive(bonus)}, codec).predict("bonus", rows)
    assert np.array_equal(seen[-1], told)
    assert np.array_equal(np.rint(codec.raw_numbers(1, predicted)), 1.0 * (told >= 1.2))
    obeys = Rule.parse("cf.u >= 1.2", codec).holds(rows, rows)
    assert np.array_equal(obeys, told >= 1.2)
