"""Equations that are somebody else's functions: their answers are checked."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from proce import Codec, GraphError, Schema, StructuralCausalModel
from proce.arrays import Array
from proce.causal import Additive, Choice, Ranked
from proce.causal.equations.consistency import GivenEquation, refuse_not_finite
from proce.causal.equations.fitting import given_mechanism
from proce.schema import Categorical, Continuous, Ordinal

from ...worlds import STUDY_GRAPH, students

FRAME = students(20)
CODEC = Codec.fit(Schema.infer(FRAME), FRAME)
ROWS = CODEC.encode(FRAME)


class Unreadable:
    """What says that it is an array, and is none, such as one in the memory of a GPU."""

    def __repr__(self) -> str:
        return "a thing"

    def __array__(self, *_: Any, **__: Any) -> Array:
        raise TypeError("copy it to the host first")


def model(skill: Any) -> StructuralCausalModel:
    pay = Additive(lambda parents: 2 * parents["skill"])
    return StructuralCausalModel(STUDY_GRAPH, {"skill": skill, "pay": pay}, CODEC)


def test_an_array_or_one_number_for_all_rows_is_a_prediction_too() -> None:
    expected = model(Additive(lambda parents: parents["study"])).abduct(ROWS)
    series = model(Additive(lambda parents: pd.Series(parents["study"])))
    assert np.array_equal(series.abduct(ROWS), expected)
    above = model(Additive(lambda parents: parents["study"] > 5)).abduct(ROWS)
    counted = model(Additive(lambda parents: np.where(parents["study"] > 5, 1.0, 0.0)))
    assert np.array_equal(above, counted.abduct(ROWS))
    constant = model(Additive(lambda parents: 5.0)).abduct(ROWS)
    assert np.allclose(constant[:, 0], FRAME["skill"].to_numpy() - 5)


@pytest.mark.parametrize(
    ("equation", "expected"),
    [
        (lambda parents: 1 / 0, "the equation of 'skill' raised ZeroDivisionError.*study"),
        (lambda parents: parents["stduy"], "the equation of 'skill' raised KeyError: 'stduy'"),
        (lambda parents: None, "the equation of 'skill' returned None; expected an array of real"),
        (lambda parents: "x", "the equation of 'skill' returned 'x'"),
        (lambda parents: parents["study"] + 0j, "the equation of 'skill' returned array.*j"),
        (lambda parents: np.zeros(3), "returned 3 numbers for 20; expected one for each row"),
        (lambda parents: parents["study"][:, None], "returned 20 x 1 numbers for 20"),
        (lambda parents: [[1.0], [2.0, 3.0]], r"the equation of 'skill' returned \[\[1.0"),
        (lambda parents: Unreadable(), "the equation of 'skill' returned a thing; expected"),
    ],
)
def test_a_function_that_breaks_or_answers_nonsense_is_named(equation: Any, expected: str) -> None:
    with pytest.raises(GraphError, match=expected):
        model(Additive(equation)).abduct(ROWS)


def test_a_function_gets_the_noise_of_its_feature_around_it() -> None:
    def equation(parents: Any) -> Any:
        return parents["study"]

    levels = ("low", "mid", "top")
    assert given_mechanism(Continuous("pay"), equation) == Additive(equation)
    assert given_mechanism(Ordinal("grade", levels), equation) == Ranked(equation, 3)
    assert given_mechanism(Categorical("club", levels), equation) == Choice(equation, 3)


@pytest.mark.parametrize("given", [None, 5, Additive, lambda parents: parents["study"]])
def test_what_is_no_mechanism_is_refused(given: Any) -> None:
    with pytest.raises(GraphError, match=r"the mechanism of 'skill' is .*Additive"):
        model(given)


def test_an_equation_that_is_not_finite_on_training_rows_is_refused_at_the_fit() -> None:
    n_bad = int((FRAME["study"] > FRAME["study"].median()).sum())
    median = float(FRAME["study"].median())

    def skill(parents: Any) -> Any:
        return np.where(parents["study"] > median, np.inf, parents["study"])

    with pytest.raises(
        GraphError, match=rf"equation of 'skill' .* {n_bad} of 20 training rows.*study = .*Mend"
    ):
        StructuralCausalModel.fit(STUDY_GRAPH, ROWS, CODEC, equations={"skill": skill})


def test_a_row_that_an_equation_cannot_explain_is_refused() -> None:
    highest = float(FRAME["study"].max())
    given = Additive(lambda parents: np.where(parents["study"] < highest, 1.0, np.nan))
    with pytest.raises(GraphError, match=r"'skill' gives NaN .* for 1 of 20 rows"):
        model(given).abduct(ROWS)


def test_what_follows_from_an_equation_that_gives_nan_is_beyond_all_limits() -> None:
    above = float(FRAME["study"].max()) + 1
    given = Additive(lambda parents: np.where(parents["study"] < above, 1.0, np.nan))
    answered = model(given).counterfactual(ROWS[:1], {"study": above})
    assert answered[0, CODEC.schema.position("skill")] == np.inf


def test_a_level_may_be_impossible_but_not_unknown() -> None:
    causes = {"study": np.ones(3, dtype=np.float64)}
    possible = GivenEquation("school", lambda _: np.array([0.0, -np.inf]), 2, of_level=True)
    refuse_not_finite("school", Choice(possible, 2), causes)
    unknown = GivenEquation("school", lambda _: np.array([0.0, np.nan]), 2, of_level=True)
    with pytest.raises(GraphError, match=r"'school' gives NaN .* for 3 of 3 rows"):
        unknown(causes)
