"""Equations learned from rows."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proce.causal import Additive, CausalGraph, StructuralCausalModel
from proce.errors import GraphError
from proce.schema import Codec, Continuous, Ordinal, Schema

GRADES = ["low", "middle", "high"]


def people(n=800, seed=0) -> pd.DataFrame:
    draw = np.random.default_rng(seed)
    age = draw.uniform(20, 70, n)
    job = draw.choice(["nurse", "clerk", "baker"], n)
    income = 20 + 0.5 * age + 10 * (job == "nurse") + draw.normal(0, 3, n)
    grade = np.clip((income - 30) / 12 + draw.normal(0, 0.4, n), 0, 2).round().astype(int)
    home = np.where(income + draw.normal(0, 8, n) > 50, "owner", "tenant")
    frame = pd.DataFrame({"age": age, "job": job, "income": income})
    frame["grade"] = pd.Categorical.from_codes(grade, GRADES, ordered=True)
    frame["home"] = np.where(draw.random(n) < 0.1, "other", home)
    return frame


GRAPH = CausalGraph(
    [("age", "income"), ("job", "income"), ("income", "grade"), ("income", "home"), ("age", "home")]
)


def fitted(frame=None, graph=GRAPH, kind="auto", **options):
    frame = people() if frame is None else frame
    codec = Codec.fit(Schema.infer(frame), frame)
    rows = codec.encode(frame)
    return StructuralCausalModel.fit(graph, rows, codec, mechanism=kind, **options), rows


def line(slope=2.0, curve=0.0, n=400):
    draw = np.random.default_rng(0)
    x = draw.uniform(0, 10, n)
    frame = pd.DataFrame({"x": x, "y": 5 + slope * x + curve * x**2 + draw.normal(0, 0.1, n)})
    return frame, CausalGraph([("x", "y")])


def test_a_line_is_found_by_least_squares():
    scm, rows = fitted(*line(), "linear")
    slope, constant = np.polyfit(rows[:, 0], rows[:, 1], 1)
    constant_fitted, slope_fitted = scm.mechanisms["y"].predict.weights.tolist()
    assert slope_fitted == pytest.approx(slope, rel=1e-6)
    assert constant_fitted == pytest.approx(constant, abs=1e-7)


def test_auto_takes_the_line_for_a_line_and_the_curve_for_a_curve_and_records_both_errors():
    straight, _ = fitted(*line())
    bent, _ = fitted(*line(curve=0.5))
    assert straight.records["y"].kind == "linear"
    assert bent.records["y"].kind == "quadratic"  # all its terms are needed
    errors = bent.records["y"].errors
    assert errors["quadratic"] < 0.01 < errors["linear"]


def test_auto_tells_noise_in_proportion_to_the_value_from_noise_that_is_the_same_everywhere():
    draw = np.random.default_rng(0)
    x = draw.uniform(0, 1, 2000)
    frame = pd.DataFrame({"x": x, "pay": np.exp(8 + x + draw.normal(0, 0.5, 2000))})
    scm, rows = fitted(frame, CausalGraph([("x", "pay")]))
    assert scm.records["pay"].kind == "log-linear"
    raised = scm.codec.decode(scm.counterfactual(rows, {"x": 1.0}))["pay"]
    np.testing.assert_allclose(raised, frame["pay"] * np.exp(1 - x), rtol=0.05)


def test_where_zero_lies_says_nothing_of_a_number_that_goes_below_it():
    draw = np.random.default_rng(0)
    x = draw.exponential(1, 2000)
    y = 1.5 - x - 0.04 * x**2 + draw.normal(0, 1, 2000)  # two in three are above zero
    kinds = {fitted(*_pair(x, y + shift))[0].records["y"].kind for shift in (0, -100)}
    assert kinds == {"linear"}


def test_the_first_of_ordered_levels_counts_as_much_as_the_last_one():
    draw = np.random.default_rng(0)
    x = draw.exponential(1, 2000)
    rank = np.clip(1.8 - 0.5 * x - 0.02 * x**2 + draw.normal(0, 0.5, 2000), 0, 3).round()
    records = []
    for ranks in (rank, 3 - rank):
        levels = pd.Categorical.from_codes(ranks.astype(int), list("abcd"), ordered=True)
        records.append(fitted(*_pair(x, levels))[0].records["y"])
    assert records[0].kind == records[1].kind
    assert records[0].errors == pytest.approx(records[1].errors)


def _pair(x, y):
    return pd.DataFrame({"x": x, "y": y}), CausalGraph([("x", "y")])


def test_a_quadratic_equation_has_squares_and_products_but_none_within_a_feature():
    scm, _ = fitted(kind="quadratic")
    terms = scm.mechanisms["income"].predict.terms
    assert terms.size == 1 + 4 + 1 + 3  # constant; age, 3 jobs; age squared; age x job


def test_an_ordinal_effect_stays_among_its_levels_and_a_categorical_one_is_logistic():
    scm, rows = fitted()
    assert scm.records["home"].kind == "logistic"
    raised = scm.counterfactual(rows, {"age": 70.0})
    assert set(raised[:, 3].tolist()) <= {0.0, 1.0, 2.0}
    assert set(raised[:, 4].tolist()) <= {0.0, 1.0, 2.0}
    assert raised[:, 3].mean() > rows[:, 3].mean()


@settings(max_examples=20)
@given(st.integers(0, 10_000))
def test_a_linear_model_equals_its_closed_form(seed):
    """Under do(x_j = v), x = (I - B)^-1 (b + u), with row j of B and its noise replaced."""
    generator = np.random.default_rng(seed)
    size = 4
    weights = np.tril(generator.standard_normal((size, size)), -1)
    noise = generator.standard_normal((50, size))
    values = np.linalg.solve(np.eye(size) - weights, noise.T).T
    frame = pd.DataFrame(values, columns=list("abcd"))
    codec = Codec.fit(Schema([Continuous(name) for name in "abcd"]), frame)
    edges = [("abcd"[j], "abcd"[i]) for i in range(size) for j in range(i)]
    equations = {
        "abcd"[i]: Additive(lambda p, i=i: sum(p["abcd"[j]] * weights[i, j] for j in range(i)))
        for i in range(1, size)
    }
    scm = StructuralCausalModel(CausalGraph(edges), equations, codec)
    got = codec.to_raw(scm.counterfactual(codec.encode(frame), {"b": 2.0}))
    cut = weights.copy()
    cut[1] = 0
    forced = noise.copy()
    forced[:, 1] = 2.0
    expected = np.linalg.solve(np.eye(size) - cut, forced.T).T
    np.testing.assert_allclose(got, expected, rtol=1e-7, atol=1e-7)


def test_a_given_equation_is_used_in_raw_units_and_the_others_are_fitted():
    scm, _ = fitted(equations={"income": lambda parents: 20 + 0.5 * parents["age"]})
    assert scm.records["income"].kind == "given"
    assert scm.records["grade"].kind == "ordered-linear"
    frame = people().head(1)
    factual = scm.codec.encode(frame)
    older = scm.counterfactual(factual, {"age": frame["age"].iloc[0] + 10})
    change = scm.codec.decode(older)["income"] - frame["income"].iloc[0]
    assert change.iloc[0] == pytest.approx(5.0)


def test_rows_with_a_missing_parent_are_left_out_and_their_effects_stay():
    frame = people()
    frame.loc[:99, "age"] = np.nan
    scm, rows = fitted(frame)
    assert scm.records["income"].n_rows == 700
    assert scm.records["grade"].n_rows == 800
    moved = scm.counterfactual(rows[:3], {"job": "nurse"})
    assert np.array_equal(moved[:, 2], rows[:3, 2])


def test_collinear_parents_are_fitted_and_noted():
    frame, _ = line()
    frame["twice"] = 2 * frame["x"]
    scm, _ = fitted(frame, CausalGraph([("x", "y"), ("twice", "y")]), "linear")
    assert "x, twice are collinear" in scm.records["y"].notes[0]
    assert scm.records["y"].errors["linear"] < 0.01


def test_levels_of_parents_are_not_taken_for_collinear():
    scm, _ = fitted()
    assert {name: record.notes for name, record in scm.records.items()} == {
        "income": (),
        "grade": (),
        "home": (),
    }


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "log-linear", "frame": line(slope=-9)[0], "graph": line()[1]}, "not an amount"),
        ({"kind": "cubic"}, "unknown kind of mechanism 'cubic'; expected one of auto, linear"),
        ({"frame": people(4, seed=3)}, "too few for the 4 weights of the equation of 'income'"),
        ({"equations": {"incme": lambda p: p}}, "'incme' has no equation.*Did you mean 'income'"),
        ({"equations": {"income": 7}}, "the equation of 'income' is an int; expected a function"),
        ({"graph": CausalGraph([("age", "salary")])}, "names 'salary', which is not a feature"),
    ],
)
def test_what_cannot_be_fitted_is_refused(change, message):
    with pytest.raises(GraphError, match=message):
        fitted(**change)


def test_an_effect_that_never_changes_is_refused():
    schema = Schema([Continuous("x"), Ordinal("g", ("a", "b"), action="fixed")])
    frame = pd.DataFrame({"x": np.arange(20.0), "g": ["a"] * 20})
    codec = Codec.fit(schema, frame)
    with pytest.raises(GraphError, match="'g' has the same value in all 20 complete rows"):
        StructuralCausalModel.fit(CausalGraph([("x", "g")]), codec.encode(frame), codec)
