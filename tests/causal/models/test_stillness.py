"""A feature none of whose causes moved keeps its value, bit for bit, whatever its equation."""

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proce.causal import CausalGraph, StructuralCausalModel
from proce.causal.equations.families import KINDS
from proce.datasets import load_dataset
from proce.schema import Action, Codec, Schema

GRAPH = CausalGraph(
    [("age", "pay"), ("pay", "debt"), ("town", "debt"), ("debt", "rent"), ("pay", "club")]
)


def households(n: int, seed: int) -> pd.DataFrame:
    """Return amounts that no grid holds; the low end of an age is far from zero."""
    draw = np.random.default_rng(seed)
    age = 1e6 + 30 * draw.random(n)
    town = draw.choice(["east", "north", "west"], n)
    pay = np.exp((age - 1e6) / 30 + draw.normal(7, 0.5, n))
    debt = pay * np.exp(draw.normal(0, 0.4, n) + 0.3 * (town == "west"))
    rent = np.exp(0.5 * np.log(debt) + draw.normal(0, 0.2, n))
    club = np.where(pay * draw.random(n) > 1500, "golf", "none")
    columns = {"age": age, "town": town, "pay": pay, "debt": debt, "rent": rent, "club": club}
    return pd.DataFrame(columns)


TRAINING = households(400, 0)
CODEC = Codec.fit(Schema.infer(TRAINING), TRAINING)


@cache
def fitted(kind: Any) -> StructuralCausalModel:
    return StructuralCausalModel.fit(GRAPH, CODEC.encode(TRAINING), CODEC, mechanism=kind)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=10)
@given(st.integers(0, 2**20), st.integers(1, 40))
def test_abducting_and_propagating_is_the_identity(kind: str, seed: int, n_rows: int) -> None:
    scm, rows = fitted(kind), CODEC.encode(households(n_rows, seed))
    noise, nobody = scm.abduct(rows, seed=seed), np.zeros(rows.shape[1], dtype=np.bool_)
    assert np.array_equal(scm.propagate(rows, noise, nobody), rows)
    candidates = np.tile(rows[:, None], (1, 3, 1))
    assert np.array_equal(scm.propagate(candidates, noise, nobody), candidates)
    assert np.array_equal(scm.actions(rows, candidates, noise).point, candidates)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=10)
@given(st.integers(0, 2**20), st.sampled_from(GRAPH.nodes), st.floats(0, 1))
def test_what_is_no_effect_of_an_action_stays(
    kind: str, seed: int, acted: str, value: float
) -> None:
    scm, rows = fitted(kind), CODEC.encode(households(20, seed))
    position = CODEC.schema.position(acted)
    changed, acted_on = rows.copy(), np.zeros(rows.shape[1], dtype=np.bool_)
    changed[:, position] = round(value) if acted in ("town", "club") else value
    acted_on[position] = True
    after = scm.propagate(changed, scm.abduct(rows, seed=seed), acted_on)
    effects = {*GRAPH.descendants(acted), acted}
    still = [p for p, name in enumerate(CODEC.schema.names) if name not in effects]
    assert np.array_equal(after[:, still], rows[:, still])


def test_a_fixed_feature_in_between_ends_the_chain() -> None:
    """Debt is fixed, so raising pay moves the club, and rent stays bit for bit."""
    schema = CODEC.schema.edit("debt", action=Action.FIXED)
    codec = Codec.fit(schema, TRAINING)
    scm = StructuralCausalModel.fit(GRAPH, codec.encode(TRAINING), codec, mechanism="boosting")
    rows = codec.encode(households(30, 3))
    after = scm.counterfactual(rows, {"pay": 5000.0})
    moved = scm.propagate(after, scm.abduct(rows), np.arange(6) == 2)
    assert np.array_equal(moved[:, 3:5], rows[:, 3:5])


def test_boosted_equations_leave_the_loan_applicants_as_they_are() -> None:
    data = load_dataset("loan")
    codec = Codec.fit(data.schema, data.frame)
    rows = codec.encode(data.frame[:1000])
    scm = StructuralCausalModel.fit(data.graph, rows[:300], codec, mechanism="boosting")
    nobody = np.zeros(rows.shape[1], dtype=np.bool_)
    assert np.array_equal(scm.propagate(rows, scm.abduct(rows), nobody), rows)
