"""Kernels say what a slow loop says of what follows: flags exactly, values to 1e-9."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proce.causal import Additive, CausalGraph, Ensemble, StructuralCausalModel
from proce.causal.equations.regression import Polynomial
from proce.causal.equations.terms import Terms, columns_of
from proce.causal.models import propagation
from proce.causal.models.propagation import Actions
from proce.causal.models.scm import draw_uniforms
from proce.causal.programs.program import Link
from proce.datasets import load_dataset
from proce.schema import Categorical, Codec, Continuous, Schema

from .random_models import mechanisms, random_model, random_rows

SEEDS = st.integers(0, 2**20)


def slow_actions(scm, factual, rows, noise, acting=True) -> Actions:
    """Tell actions, holds and consequences apart, effect by effect, each by its mechanism."""
    limits, own = scm.program.tolerances, np.broadcast_to(factual[:, None], rows.shape)
    still, can_act = limits["still"], limits["can_act"] == 1
    moved = np.abs(rows - own) > still
    acted_on = moved & can_act
    held, consequence, outside = (np.zeros_like(acted_on) for _ in range(3))
    point, expected = np.where(acted_on, rows, own), own.copy()
    acting = np.broadcast_to(acting, rows.shape)
    for f in scm.effects:
        before, wanted = own[..., f], rows[..., f]
        value, follows = followed(scm, f, point, noise)
        now = np.where(follows, shown(limits, f, before, value - before), before)
        chosen = (np.abs(wanted - now) > still[f]) & can_act[f] & acting[..., f]
        chosen = np.where(follows, chosen, acted_on[..., f])
        acted_on[..., f] = chosen & moved[..., f]
        held[..., f] = chosen & ~moved[..., f]
        consequence[..., f] = ~chosen & follows & (now != before)
        expected[..., f] = now
        point[..., f] = np.where(chosen, np.where(moved[..., f], wanted, before), now)
        if isinstance(scm.codec.schema.features[f], Continuous):
            below = now < np.minimum(before, limits["lowest"][f])
            above = now > np.maximum(before, limits["highest"][f])
            outside[..., f] = consequence[..., f] & (below | above)
    return Actions(point, acted_on, held, consequence, expected, outside)


def followed(scm, f, rows, noise):
    """Return what causes lead an effect to in rows ``(i, c, f)``, and for whom they decide it."""
    value = scm.outcome(f, np.moveaxis(rows, -1, 0), noise[:, None])
    return value, scm.is_known(f, noise[:, None])


def shown(limits, f, before, drift):
    """Return where a number that drifts is shown: on its grid, or by whole steps."""
    step, origin = limits["step"][f], limits["origin"][f]
    if step and np.isnan(origin):
        steps = np.round(drift / step) * step
        return np.where(np.abs(steps) > 1e-9, before + steps, before)
    after = before + drift
    if step:
        after = origin + np.round((after - origin) / step) * step
    return np.where(np.abs(drift) > limits["still"][f], after, before)


def slow_outcomes(scm, rows, noise, acted_on):
    """Return rows ``(i, c, f)`` in which every effect follows, each by its mechanism."""
    rows, rounding = rows.copy(), scm.program.tolerances["rounding"]
    for f in scm.effects:
        value, follows = followed(scm, f, rows, noise)
        own = rows[..., f]
        same = np.abs(value - own) <= rounding[f] * np.maximum(np.abs(own), 1)
        rows[..., f] = np.where(follows & ~acted_on[..., f] & ~same, value, own)
    return rows


def assert_same_actions(scm, factual, rows, acting=None):
    noise = scm.abduct(factual, seed=1)
    ours = propagation.separate(scm.program, scm.outcome, factual, rows, noise, acting)
    theirs = slow_actions(scm, factual, rows, noise, True if acting is None else acting)
    for name, expected in vars(theirs).items():
        found = getattr(ours, name)
        if expected.dtype == np.bool_:
            assert np.array_equal(found, expected), name
        else:
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@settings(max_examples=60, deadline=None)
@given(SEEDS, st.booleans(), st.sampled_from([0.0, 0.3, 1.0]))
def test_actions_are_told_apart_alike(seed: int, with_flags: bool, given_share: float) -> None:
    scm = random_model(seed, given_share=given_share)
    factual = random_rows(scm.codec, (6,), seed)
    rows = random_rows(scm.codec, (6, 9), seed + 1, missing=0.0)
    draw = np.random.default_rng(seed)
    changed = draw.random(rows.shape) < 0.4
    rows = np.where(changed, rows, factual[:, None])
    acting = draw.random(rows.shape) < 0.6
    assert_same_actions(scm, factual, rows, acting if with_flags else None)


@settings(max_examples=40, deadline=None)
@given(SEEDS, st.booleans(), st.sampled_from([0.0, 0.3, 1.0]))
def test_rows_are_propagated_alike(seed: int, is_flat: bool, given_share: float) -> None:
    scm = random_model(seed, given_share=given_share)
    factual = random_rows(scm.codec, (6,), seed)
    rows = factual if is_flat else random_rows(scm.codec, (6, 5), seed + 1)
    acted_on = np.random.default_rng(seed).random(rows.shape) < 0.3
    noise = scm.abduct(factual, seed=1)
    ours = scm.propagate(rows, noise, acted_on)
    if is_flat:
        rows, acted_on, ours = rows[:, None], acted_on[:, None], ours[:, None]
    theirs = slow_outcomes(scm, rows, noise, acted_on)
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)


@settings(max_examples=20, deadline=None)
@given(SEEDS, st.sampled_from([0.0, 0.3]))
def test_rows_go_through_many_models_at_once(seed: int, given_share: float) -> None:
    scm = random_model(seed)
    members = []
    for member in range(3):
        own = mechanisms(scm.graph, scm.codec, np.random.default_rng(seed), given_share)
        other = mechanisms(scm.graph, scm.codec, np.random.default_rng(seed + member), given_share)
        alike = {n: other[n] if type(other[n]) is type(own[n]) else own[n] for n in own}
        alike = {n: alike[n] if alike[n].units == own[n].units else own[n] for n in own}
        members.append(StructuralCausalModel(scm.graph, alike, scm.codec))
    ensemble = Ensemble(tuple(members))
    factual, rows = random_rows(scm.codec, (4,), seed), random_rows(scm.codec, (4, 5), seed + 1)
    by_hand = np.random.default_rng(seed).random(rows.shape) < 0.3
    noise = ensemble.abduct(factual, seed=2)
    start = np.where(by_hand, rows, factual[:, None])
    found = ensemble.outcomes(factual, rows, by_hand, noise)
    for place, (member, residual, outcome) in enumerate(zip(members, noise, found, strict=True)):
        explained = explained_slowly(member, factual, seed=2 + 1 + place)
        np.testing.assert_allclose(residual, explained, rtol=1e-9, atol=1e-9)
        expected = slow_outcomes(member, start, residual, by_hand)
        np.testing.assert_allclose(outcome, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kind", ["auto", "spline", "log-quadratic", "boosting"])
def test_learned_equations_are_told_alike(kind) -> None:
    data = load_dataset("loan")
    frame = data.frame[: 250 if kind == "boosting" else 800]
    codec = Codec.fit(data.recourse_schema, frame, "bulk")
    rows = codec.encode(frame)
    graph, amounts = data.graph, ("income", "savings", "debt")
    if kind.startswith("log"):
        graph = CausalGraph([edge for edge in graph.edges if edge[1] in amounts], graph.nodes)
    scm = StructuralCausalModel.fit(graph, rows, codec, mechanism=kind)
    is_given = (scm.program.effects["link"][0] == Link.GIVEN).any()
    assert is_given == (kind == "boosting")
    candidates = rows[np.arange(50)[:, None] + np.arange(20)]
    assert_same_actions(scm, rows[:50], candidates)


class TestByHand:
    """``pay = 2 + 3 skill + 4 skill·[town is north]`` on the unit range, of which pay has 10 steps.

    Ann has a skill of 0.1 in the south and a pay of 0.5, so her own noise is 0.5 - 0.1·3 - 2.
    """

    SCHEMA = Schema(
        [
            Continuous("skill"),
            Categorical("town", ("south", "north")),
            Continuous("pay", step=0.1),
        ]
    )
    FRAME = pd.DataFrame({"skill": [0.0, 1.0], "town": ["south", "north"], "pay": [0.0, 1.0]})
    TERMS = Terms((SCHEMA["skill"], SCHEMA["town"]), 2)
    # constant; skill, south, north; skill², skill·south, skill·north
    WEIGHTS = np.array([2.0, 3, 0, 0, 0, 0, 4], dtype=np.float64)
    ANN = np.array([[0.1, 0.0, 0.5]], dtype=np.float64)

    def scm(self) -> StructuralCausalModel:
        graph = CausalGraph([("skill", "pay"), ("town", "pay")])
        equation = Polynomial(self.TERMS, self.WEIGHTS)
        codec = Codec.fit(self.SCHEMA, self.FRAME)
        return StructuralCausalModel(graph, {"pay": Additive(equation, units="unit")}, codec)

    def test_only_active_columns_count(self) -> None:
        rows = np.array([[[0.2, 0, 0], [0.2, 1, 0]]], dtype=np.float64)
        acted_on = np.array([True, True, False])
        noise = np.array([[-1.8]], dtype=np.float64)
        after = self.scm().propagate(rows, noise, acted_on)
        # 2 + 0.6 - 1.8 in the south; 0.8 more in the north
        assert after[0, :, 2].tolist() == pytest.approx([0.8, 1.6])

    def test_a_move_to_the_north_pays_by_whole_steps(self) -> None:
        ways = [[0.1, 1, 0.5], [0.12, 0, 0.7], [0.12, 0, 0.5], [0.12, 0, 0.6], [0.1, 0, 0.4]]
        rows = np.array([ways], dtype=np.float64)
        noise = np.array([[-1.8]], dtype=np.float64)
        told = self.scm().actions(self.ANN, rows, noise)
        # In the north 0.4 more; a skill that is 0.02 higher adds 0.06, which is one step of 0.1.
        assert told.expected[0, :, 2].tolist() == pytest.approx([0.9, 0.6, 0.6, 0.6, 0.5])
        assert told.point[0, :, 2].tolist() == pytest.approx([0.5, 0.7, 0.5, 0.6, 0.4])
        assert told.held[0, :, 2].tolist() == [True, False, True, False, False]
        assert told.acted_on[0].tolist() == [
            [False, True, False],
            [True, False, True],
            [True, False, False],
            [True, False, False],
            [False, False, True],
        ]
        assert told.consequence[0, :, 2].tolist() == [False, False, False, True, False]


def test_rows_in_single_precision_are_read_as_doubles() -> None:
    scm = random_model(3)
    factual, rows = random_rows(scm.codec, (4,), 0), random_rows(scm.codec, (4, 5), 1)
    single, candidates = factual.astype(np.float32), rows.astype(np.float32)
    wide = [part.astype(np.float64) for part in (single, candidates)]
    noise = scm.abduct(wide[0])
    np.testing.assert_array_equal(scm.abduct(single), noise)
    acted_on = np.random.default_rng(2).random(rows.shape) < 0.3
    expected = scm.propagate(wide[1], noise, acted_on)
    np.testing.assert_array_equal(scm.propagate(candidates, noise, acted_on), expected)
    told, theirs = scm.actions(single, candidates, noise), scm.actions(*wide, noise)
    np.testing.assert_array_equal(told.point, theirs.point)


@settings(max_examples=20, deadline=None)
@given(SEEDS)
def test_a_candidate_does_not_depend_on_those_beside_it(seed: int) -> None:
    scm = random_model(seed, given_share=0.0)
    factual, rows = random_rows(scm.codec, (4,), seed), random_rows(scm.codec, (4, 19), seed + 1)
    noise = scm.abduct(factual)
    together = scm.actions(factual, rows, noise)
    alone = scm.actions(factual[2:3], rows[2:3, 5:8], noise[2:3])
    for name, part in vars(alone).items():
        np.testing.assert_array_equal(part, getattr(together, name)[2:3, 5:8])


def explained_slowly(scm, rows, seed):
    """Return the noise ``(i, w)`` of rows, effect by effect, each by its mechanism."""
    uniforms = draw_uniforms(rows, (seed,), None, scm.residual_size)[0]
    positions = [scm.codec.schema.position(name) for name in scm.graph.endogenous]
    parts = []
    for name, position in zip(scm.graph.endogenous, positions, strict=True):
        used = [position, *map(scm.codec.schema.position, scm.graph.parents(name))]
        lacks = scm.codec.missing(rows)[:, used].any(-1)
        parts.append(scm.noise_of(position, rows, lacks, uniforms))
    return np.concatenate([np.zeros((len(rows), 0)), *parts], axis=-1)


@settings(max_examples=60, deadline=None)
@given(SEEDS, st.sampled_from([0.0, 0.3, 1.0]))
def test_noise_is_explained_alike(seed: int, given_share: float) -> None:
    scm = random_model(seed, given_share=given_share)
    rows = random_rows(scm.codec, (30,), seed)
    expected = explained_slowly(scm, rows, seed)
    np.testing.assert_allclose(scm.abduct(rows, seed=seed), expected, rtol=1e-9, atol=1e-9)


def test_products_of_very_many_levels_are_solved_as_weighted_columns() -> None:
    levels = tuple(f"town {number}" for number in range(320))
    schema = Schema([Continuous("age"), Categorical("town", levels), Continuous("pay")])
    frame = pd.DataFrame({"age": [0.0, 1.0], "town": list(levels[:2]), "pay": [0.0, 1.0]})
    graph, codec = CausalGraph([("age", "pay"), ("town", "pay")]), Codec.fit(schema, frame)
    for degree in (1, 2):
        terms = Terms((schema["age"], schema["town"]), degree)
        equation = Polynomial(terms, np.linspace(-1, 1, terms.size))
        scm = StructuralCausalModel(graph, {"pay": Additive(equation, units="unit")}, codec)
        rows = random_rows(codec, (8, 5), degree, missing=0.0)
        assert_same_actions(scm, rows[:, 0], rows)
        columns = columns_of(terms, {"age": rows[..., 0], "town": rows[..., 1]})
        expected = columns @ equation.weights[1:] + equation.weights[0]
        np.testing.assert_allclose(scm.predict("pay", rows), expected, rtol=1e-9)


def test_an_equation_in_raw_units_reads_numbers_as_they_are_shown() -> None:
    schema = Schema([Continuous("age", step=0.1), Continuous("pay", step=0.1)])
    frame = pd.DataFrame({"age": np.arange(60) / 10 + 0.3, "pay": np.arange(60) / 10 - 1.7})
    graph, codec = CausalGraph([("age", "pay")]), Codec.fit(schema, frame)
    equation = Polynomial(Terms((schema["age"],)), np.array([0.7, 1.3]))
    scm = StructuralCausalModel(graph, {"pay": Additive(equation)}, codec)
    rows = codec.encode(frame)
    age, pay = frame["age"].to_numpy().round(1), frame["pay"].to_numpy().round(1)
    expected = pay - equation({"age": age})
    np.testing.assert_array_equal(scm.abduct(rows)[:, 0], expected)
    own = scm.noise_of(1, rows, np.zeros(60, np.bool_), np.full((60, 1), 0.5))
    np.testing.assert_array_equal(own[:, 0], expected)
