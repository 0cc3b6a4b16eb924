"""Kernels and tensors say the same of what follows: flags exactly, values to 1e-9."""

from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from proce.causal import Additive, CausalGraph, Ensemble, StructuralCausalModel
from proce.causal.equations.regression import Polynomial, Terms
from proce.causal.models import actions, compiled
from proce.causal.models.units import draw_uniforms
from proce.causal.programs.program import Link
from proce.datasets import load_dataset
from proce.schema import Categorical, Codec, Continuous, Schema

from .random_models import mechanisms, random_model, random_rows

SEEDS = st.integers(0, 2**20)


def assert_same_actions(scm, factual, rows, acting=None):
    noise = scm.abduct(factual, seed=1)
    ours = compiled.separate(scm.program, scm.outcome, factual, rows, noise, acting)
    theirs = actions.separate(scm, factual, rows, noise[:, None], acting)
    for name, expected in vars(theirs).items():
        found = getattr(ours, name)
        if expected.dtype == torch.bool:
            assert torch.equal(found, expected), name
        else:
            torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-9, equal_nan=True)


@settings(max_examples=60, deadline=None)
@given(SEEDS, st.booleans(), st.sampled_from([0.0, 0.3, 1.0]))
def test_actions_are_told_apart_alike(seed: int, with_flags: bool, given_share: float) -> None:
    scm = random_model(seed, given_share=given_share)
    factual = random_rows(scm.codec, (6,), seed)
    rows = random_rows(scm.codec, (6, 9), seed + 1, missing=0.0)
    draw = torch.Generator().manual_seed(seed)
    changed = torch.rand(rows.shape, generator=draw) < 0.4
    rows = torch.where(changed, rows, factual[:, None])
    acting = torch.rand(rows.shape, generator=draw) < 0.6
    assert_same_actions(scm, factual, rows, acting if with_flags else None)


@settings(max_examples=40, deadline=None)
@given(SEEDS, st.booleans(), st.sampled_from([0.0, 0.3, 1.0]))
def test_rows_are_propagated_alike(seed: int, is_flat: bool, given_share: float) -> None:
    scm = random_model(seed, given_share=given_share)
    factual = random_rows(scm.codec, (6,), seed)
    rows = factual if is_flat else random_rows(scm.codec, (6, 5), seed + 1)
    acted_on = torch.rand(rows.shape, generator=torch.Generator().manual_seed(seed)) < 0.3
    noise = scm.abduct(factual, seed=1)
    ours = scm.propagate(rows, noise, acted_on)
    theirs = actions.propagate(scm, rows, noise if is_flat else noise[:, None], acted_on)
    torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-9, equal_nan=True)


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
    by_hand = torch.rand(rows.shape, generator=torch.Generator().manual_seed(seed)) < 0.3
    noise = ensemble.abduct(factual, seed=2)
    start = torch.where(by_hand, rows, factual[:, None])
    found = ensemble.outcomes(factual, rows, by_hand, noise)
    for member, residual, outcome in zip(members, noise, found, strict=True):
        expected = actions.propagate(member, start, residual[:, None], by_hand)
        torch.testing.assert_close(outcome, expected, rtol=1e-9, atol=1e-9, equal_nan=True)


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
    candidates = rows[torch.arange(50)[:, None] + torch.arange(20)]
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
    WEIGHTS = torch.tensor([2.0, 3, 0, 0, 0, 0, 4], dtype=torch.float64)
    ANN = torch.tensor([[0.1, 0.0, 0.5]], dtype=torch.float64)

    def scm(self) -> StructuralCausalModel:
        graph = CausalGraph([("skill", "pay"), ("town", "pay")])
        equation = Polynomial(self.TERMS, self.WEIGHTS)
        codec = Codec.fit(self.SCHEMA, self.FRAME)
        return StructuralCausalModel(graph, {"pay": Additive(equation, units="unit")}, codec)

    def test_only_active_columns_count(self) -> None:
        rows = torch.tensor([[[0.2, 0, 0], [0.2, 1, 0]]], dtype=torch.float64)
        acted_on = torch.tensor([True, True, False])
        noise = torch.tensor([[-1.8]], dtype=torch.float64)
        after = self.scm().propagate(rows, noise, acted_on)
        # 2 + 0.6 - 1.8 in the south; 0.8 more in the north
        assert after[0, :, 2].tolist() == pytest.approx([0.8, 1.6])

    def test_a_move_to_the_north_pays_by_whole_steps(self) -> None:
        ways = [[0.1, 1, 0.5], [0.12, 0, 0.7], [0.12, 0, 0.5], [0.12, 0, 0.6], [0.1, 0, 0.4]]
        rows = torch.tensor([ways], dtype=torch.float64)
        noise = torch.tensor([[-1.8]], dtype=torch.float64)
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


def test_gradients_go_through_tensors() -> None:
    scm = random_model(3, given_share=0.0)
    rows = random_rows(scm.codec, (4,), 0, missing=0.0).requires_grad_()
    assert not compiled.can_run(rows)
    assert compiled.can_run(rows.detach())
    with torch.no_grad():
        assert compiled.can_run(rows)


def test_what_is_not_double_goes_through_tensors() -> None:
    assert not compiled.can_run(torch.zeros(2, dtype=torch.float32))


@settings(max_examples=20, deadline=None)
@given(SEEDS)
def test_a_candidate_does_not_depend_on_those_beside_it(seed: int) -> None:
    scm = random_model(seed, given_share=0.0)
    factual, rows = random_rows(scm.codec, (4,), seed), random_rows(scm.codec, (4, 19), seed + 1)
    noise = scm.abduct(factual)
    together = scm.actions(factual, rows, noise)
    alone = scm.actions(factual[2:3], rows[2:3, 5:8], noise[2:3])
    for name, part in vars(alone).items():
        assert torch.equal(
            part.nan_to_num(nan=-9.0), getattr(together, name)[2:3, 5:8].nan_to_num(nan=-9.0)
        )


@settings(max_examples=60, deadline=None)
@given(SEEDS, st.sampled_from([0.0, 0.3, 1.0]))
def test_noise_is_explained_alike(seed: int, given_share: float) -> None:
    scm = random_model(seed, given_share=given_share)
    rows = random_rows(scm.codec, (30,), seed)
    uniforms = draw_uniforms(rows, (seed,), None, scm.residual_size)
    positions = [scm.codec.schema.position(name) for name in scm.graph.endogenous]
    parts = [scm.noise_of(position, rows, uniforms[0]) for position in positions]
    expected = torch.cat([torch.zeros(30, 0), *parts], dim=-1)
    torch.testing.assert_close(
        scm.abduct(rows, seed=seed), expected, rtol=1e-9, atol=1e-9, equal_nan=True
    )


def test_products_of_very_many_levels_are_left_to_tensors() -> None:
    levels = tuple(f"town {number}" for number in range(320))
    schema = Schema([Continuous("age"), Categorical("town", levels), Continuous("pay")])
    frame = pd.DataFrame({"age": [0.0, 1.0], "town": list(levels[:2]), "pay": [0.0, 1.0]})
    graph, codec = CausalGraph([("age", "pay"), ("town", "pay")]), Codec.fit(schema, frame)
    links = []
    for degree in (1, 2):
        terms = Terms((schema["age"], schema["town"]), degree)
        equation = Polynomial(terms, torch.linspace(-1, 1, terms.size, dtype=torch.float64))
        scm = StructuralCausalModel(graph, {"pay": Additive(equation, units="unit")}, codec)
        links.append(scm.program.effects["link"].item())
        rows = random_rows(codec, (8, 5), degree, missing=0.0)
        assert_same_actions(scm, rows[:, 0], rows)
    assert links == [Link.ADDITIVE, Link.GIVEN]


def test_refits_say_the_same_without_kernels() -> None:
    """Where numba is missing, members are asked side by side as tensors."""
    scm = random_model(20, given_share=0.3)
    members = [
        StructuralCausalModel(scm.graph, _shaken(scm.mechanisms, shift), scm.codec)
        for shift in (0.0, 0.1, 0.2)
    ]
    ensemble = Ensemble((scm, *members))
    factual, rows = random_rows(scm.codec, (6,), 1), random_rows(scm.codec, (6, 4), 2)
    by_hand = torch.rand(rows.shape, generator=torch.Generator().manual_seed(3)) < 0.3
    noise = ensemble.abduct(factual, seed=4)
    found = ensemble.outcomes(factual, rows, by_hand, noise)
    with patch("proce.causal.models.compiled.use_kernels", return_value=False):
        slow = ensemble.abduct(factual, seed=4)
        expected = ensemble.outcomes(factual, rows, by_hand, noise)
    for own, other in zip(noise, slow, strict=True):
        torch.testing.assert_close(own, other, rtol=1e-9, atol=1e-9, equal_nan=True)
    torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-9, equal_nan=True)
    assert not torch.equal(found[0].nan_to_num(), found[2].nan_to_num())


def _shaken(mechanisms, shift):
    """Return mechanisms in which every learned constant is shifted."""
    shaken = dict(mechanisms)
    for name, mechanism in mechanisms.items():
        if isinstance(mechanism, Additive) and isinstance(mechanism.predict, Polynomial):
            weights = mechanism.predict.weights * (1 + shift)
            shaken[name] = replace(mechanism, predict=replace(mechanism.predict, weights=weights))
    return shaken
