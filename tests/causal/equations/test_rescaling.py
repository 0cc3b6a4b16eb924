"""Equations fitted on one scale say the same on another of the same training rows."""

import numpy as np
import pandas as pd
import pytest

from proce.causal import CausalGraph, StructuralCausalModel
from proce.causal.equations.families import KINDS
from proce.causal.equations.fitting import refitting
from proce.schema import Codec, Schema

N = 400
DRAW = np.random.default_rng(0)
HOURS = np.append(DRAW.uniform(1, 40, N - 2), [900.0, 4000.0])
FRAME = pd.DataFrame(
    {
        "hours": HOURS,
        "pay": np.exp(0.02 * np.minimum(HOURS, 60) + DRAW.normal(0, 0.1, N)) * 1000,
        "job": np.where(HOURS + DRAW.normal(0, 5, N) > 20, "full", "part"),
        "grade": pd.Categorical(np.where(HOURS > 30, "high", "low"), ["low", "high"], ordered=True),
    }
)
SCHEMA = Schema.infer(FRAME)
PLAIN, ROBUST = Codec.fit(SCHEMA, FRAME), Codec.fit(SCHEMA, FRAME, "bulk")
GRAPH = CausalGraph([("hours", "pay"), ("hours", "job"), ("hours", "grade"), ("pay", "grade")])


@pytest.mark.parametrize("kind", KINDS)
def test_fitted_equations_say_the_same_on_the_scale_of_the_bulk(kind):
    graph = CausalGraph([("hours", "pay")])
    plain = StructuralCausalModel.fit(graph, PLAIN.encode(FRAME), PLAIN, mechanism=kind)
    moved = plain.with_codec(ROBUST)
    position = SCHEMA.position("pay")
    asked = FRAME.assign(hours=FRAME["hours"] + 0.0137)  # trees split at training values
    expected = PLAIN.raw_numbers(position, plain.predict("pay", PLAIN.encode(asked)))
    told = ROBUST.raw_numbers(position, moved.predict("pay", ROBUST.encode(asked)))
    np.testing.assert_allclose(told, expected, rtol=1e-9, atol=1e-6)
    assert moved.with_codec(PLAIN).codec is PLAIN


@pytest.mark.parametrize("kind", ["sparse-quadratic", "sparse-fine-spline", "log-sparse-spline"])
def test_refined_equations_say_the_same_on_the_scale_of_the_bulk(kind):
    graph, rows = CausalGraph([("hours", "pay")]), PLAIN.encode(FRAME)
    mechanism = refitting("pay", graph, rows, PLAIN, kind, 0)(np.ones(len(rows)))
    plain = StructuralCausalModel(graph, {"pay": mechanism}, PLAIN)
    moved = plain.with_codec(ROBUST)
    position = SCHEMA.position("pay")
    expected = PLAIN.raw_numbers(position, plain.predict("pay", rows))
    told = ROBUST.raw_numbers(position, moved.predict("pay", ROBUST.encode(FRAME)))
    np.testing.assert_allclose(told, expected, rtol=1e-6, atol=1e-6)


def test_levels_follow_in_the_same_way_on_the_scale_of_the_bulk():
    plain = StructuralCausalModel.fit(GRAPH, PLAIN.encode(FRAME), PLAIN)
    moved = plain.with_codec(ROBUST)
    for name in ("job", "grade"):
        expected = plain.predict(name, PLAIN.encode(FRAME))
        told = moved.predict(name, ROBUST.encode(FRAME))
        np.testing.assert_allclose(told, expected, rtol=1e-8, atol=1e-8)
    before = PLAIN.by_range.to_raw(plain.counterfactual(PLAIN.encode(FRAME), {"hours": 35.0}))
    after = ROBUST.to_raw(moved.counterfactual(ROBUST.encode(FRAME), {"hours": 35.0}))
    np.testing.assert_allclose(after, before, rtol=1e-6, atol=1e-3)


@pytest.mark.parametrize("kind", ["linear", "quadratic", "spline", "log-linear"])
def test_a_few_outliers_hardly_move_an_equation_on_the_scale_of_the_bulk(kind):
    draw = np.random.default_rng(1)
    clean = pd.DataFrame({"a": draw.uniform(10, 20, 2000)})
    clean["b"] = 50 + 4 * clean["a"] + draw.normal(0, 2, 2000)
    damaged = clean.copy()
    damaged.loc[[7, 900], "a"] *= 1e6
    damaged.loc[[11, 1200], "b"] *= 1e6
    told = []
    asked = pd.DataFrame({"a": [12.0, 15.0, 18.0], "b": 0.0})
    for frame in (clean, damaged):
        codec = Codec.fit(Schema.infer(frame), frame, "bulk")
        graph = CausalGraph([("a", "b")])
        scm = StructuralCausalModel.fit(graph, codec.encode(frame), codec, mechanism=kind)
        told.append(codec.raw_numbers(1, scm.predict("b", codec.encode(asked))))
    np.testing.assert_allclose(told[1], told[0], rtol=5e-3, atol=0.0)


def test_people_outside_the_bulk_come_back_exactly_where_nothing_is_done():
    codec = Codec.fit(SCHEMA, FRAME, "bulk")
    scm = StructuralCausalModel.fit(GRAPH, codec.encode(FRAME), codec)
    rows = codec.encode(FRAME)
    nothing = np.zeros(len(SCHEMA), dtype=np.bool_)
    assert np.array_equal(scm.propagate(rows, scm.abduct(rows), nothing), rows)
