"""Random worlds: everything about them is known, and nothing about them was chosen."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from proce.datasets.worlds import KINDS, Response, Scale, Term, random_world
from proce.errors import DatasetError
from proce.schema import Action, Categorical, Codec, Continuous, Ordinal


@pytest.mark.parametrize("kind", KINDS)
def test_the_rows_follow_from_the_equations(kind: str) -> None:
    """What the true model abducts and propagates again is what was drawn."""
    data = random_world(kind, world=1, n=300)
    rows = data.truth.codec.encode(data.frame)
    nobody = np.zeros(rows.shape[-1], dtype=np.bool_)
    again = data.truth.propagate(rows, data.truth.abduct(rows), nobody)
    np.testing.assert_allclose(again, rows)


@pytest.mark.parametrize("kind", KINDS)
def test_the_equations_explain_most_of_what_follows(kind: str) -> None:
    data = random_world(kind, world=2, n=2_000)
    rows = data.truth.codec.encode(data.frame)
    for name in data.graph.endogenous:
        if isinstance(data.schema[name], Continuous):
            own = rows[:, data.schema.position(name)]
            error = own - data.truth.predict(name, rows)
            assert error.var() < 0.25 * own.var()


@pytest.mark.parametrize("kind", KINDS)
def test_a_world_is_the_same_whoever_lives_in_it(kind: str) -> None:
    few, many = random_world(kind, world=4, n=200), random_world(kind, world=4, n=300, seed=9)
    assert few.graph.edges == many.graph.edges
    assert few.recourse_schema == many.recourse_schema
    codec = few.truth.codec
    rows = codec.encode(few.frame)
    for name in few.graph.endogenous:
        other = many.truth.with_codec(codec).predict(name, rows)
        np.testing.assert_allclose(few.truth.predict(name, rows), other)
    pd.testing.assert_frame_equal(few.frame, random_world(kind, world=4, n=200).frame)
    pd.testing.assert_frame_equal(few.sample(300, 9).frame, many.frame)


def test_worlds_differ() -> None:
    graphs = {random_world("curved", world, n=50).graph.edges for world in range(5)}
    assert len(graphs) == 5


@pytest.mark.parametrize("kind", KINDS)
def test_about_four_in_ten_are_accepted_and_some_things_can_be_done(kind: str) -> None:
    shares = [random_world(kind, world, n=1_000).label.mean() for world in range(5)]
    assert 0.3 < np.mean(shares) < 0.5
    schema = random_world(kind, n=50).recourse_schema
    actions = {feature.action for feature in schema}
    assert actions == {Action.FREE, Action.INDIRECT}
    assert schema["root0"].can_be_acted_on


def test_a_linear_world_has_a_label_that_a_line_tells_apart() -> None:
    data = random_world("linear", world=0, n=2_000)
    standard = (data.frame - data.frame.mean()) / data.frame.std()
    assert LogisticRegression().fit(standard, data.label).score(standard, data.label) > 0.95


def test_in_an_opposing_world_the_consequence_works_against_the_action() -> None:
    """Raising the cause far from its middle moves the effect up, and the label wants it low."""
    for world in range(5):
        data = random_world("opposing", world, n=1_000)
        assert ("root0", "effect3") in data.graph.edges
        rows = data.truth.codec.encode(data.frame)
        high = rows.copy()
        high[:, 0] = 1.0
        assert data.truth.predict("effect3", high).mean() > rows[:, 3].mean()
        effect = data.frame["effect3"]
        assert effect[data.label == 1].mean() < effect[data.label == 0].mean()


def test_worlds_with_levels_have_effects_with_and_without_an_order() -> None:
    data = random_world("levels", n=500)
    kinds = {type(data.schema[name]) for name in data.graph.endogenous}
    assert kinds >= {Ordinal, Categorical, Continuous}
    for feature in data.schema:
        if not isinstance(feature, Continuous):
            assert data.frame[feature.name].nunique() == len(feature.levels)


def test_numbers_of_a_mixed_world_lie_on_their_steps() -> None:
    data = random_world("mixed", n=200)
    stepped = [f for f in data.schema if isinstance(f, Continuous) and f.step is not None]
    effects = [f for f in stepped if f.name in data.graph.endogenous]
    assert effects
    codec = Codec.fit(data.schema, data.frame)
    for feature in effects:
        steps = codec.raw_of_frame(data.frame)[:, data.schema.position(feature.name)] / feature.step
        np.testing.assert_allclose(steps, steps.round())


def test_an_equation_by_hand() -> None:
    """Twice a standardised number, less half of its square, more for blue: at 14, blue."""
    scales = {"x": Scale(10.0, 2.0), "colour": Scale(0.0, 1.0, (-1.0, 0.0, 1.0))}
    terms = (
        Term(("x",), "straight", 2.0),
        Term(("x",), "square", -1.0),
        Term(("colour",), "straight", 3.0),
    )
    parents = {"x": np.array([14.0]), "colour": np.array([2.0])}
    # x is 2 standard deviations up: 2 * 2 - (4 - 1) / 2 + 3 = 5.5, and then 1 + 10 * 5.5
    assert Response(terms, scales, centre=1.0, gain=10.0)(parents).tolist() == [56.0]
    product = (Term(("x", "colour"), "straight", 1.5),)
    assert Response(product, scales)(parents).tolist() == [3.0]
    curve = (Term(("x",), "saturating", 1.0),)
    assert Response(curve, scales)(parents).item() == pytest.approx(1.5 * np.tanh(2))
    logits = Response(product, scales, slopes=(-1.0, 0.0, 2.0))(parents)
    assert logits.tolist() == [[-3.0, 0.0, 6.0]]


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(DatasetError, match="kind is 'wild'; expected one of 'linear'"):
        random_world("wild")
