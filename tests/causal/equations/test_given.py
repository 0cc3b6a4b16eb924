"""Equations that are somebody else's functions: their answers are checked."""

from typing import Any

import pytest
import torch

from proce import Codec, GraphError, Schema, StructuralCausalModel
from proce.causal import Additive

from ...worlds import STUDY_GRAPH, students

FRAME = students(20)
CODEC = Codec.fit(Schema.infer(FRAME), FRAME)
ROWS = CODEC.encode(FRAME)


def model(skill: Any) -> StructuralCausalModel:
    pay = Additive(lambda parents: 2 * parents["skill"])
    return StructuralCausalModel(STUDY_GRAPH, {"skill": skill, "pay": pay}, CODEC)


def test_an_array_or_one_number_for_all_rows_is_a_prediction_too() -> None:
    expected = model(Additive(lambda parents: parents["study"])).abduct(ROWS)
    assert torch.equal(
        model(Additive(lambda parents: parents["study"].numpy())).abduct(ROWS), expected
    )
    constant = model(Additive(lambda parents: 5.0)).abduct(ROWS)
    assert torch.allclose(constant[:, 0], torch.tensor(FRAME["skill"].to_numpy()) - 5)


@pytest.mark.parametrize(
    ("equation", "expected"),
    [
        (lambda parents: 1 / 0, "the equation of 'skill' raised ZeroDivisionError.*study"),
        (lambda parents: parents["stduy"], "the equation of 'skill' raised KeyError: 'stduy'"),
        (lambda parents: None, "the equation of 'skill' returned None; expected a tensor"),
        (lambda parents: "x", "the equation of 'skill' returned 'x'"),
        (lambda parents: parents["study"] + 0j, "the equation of 'skill' returned tensor"),
        (lambda parents: torch.zeros(3), "returned 3 numbers for 20; expected one for each row"),
        (lambda parents: parents["study"][:, None], "returned 20 x 1 numbers for 20"),
    ],
)
def test_a_function_that_breaks_or_answers_nonsense_is_named(equation: Any, expected: str) -> None:
    with pytest.raises(GraphError, match=expected):
        model(Additive(equation)).abduct(ROWS)


@pytest.mark.parametrize("given", [None, 5, Additive, lambda parents: parents["study"]])
def test_what_is_no_mechanism_is_refused(given: Any) -> None:
    with pytest.raises(GraphError, match=r"the mechanism of 'skill' is .*Additive"):
        model(given)
