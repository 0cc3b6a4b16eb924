"""A model's answer becomes probabilities, or is refused with the reason."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch

from proce.classifier.adapters.probe import detect_output
from proce.classifier.asking import (
    as_columns,
    check_probabilities,
    to_probabilities,
    translate_errors,
)
from proce.errors import ModelError, ModelOutputError


def columns(rows):
    return np.array(rows, np.float64)


@pytest.mark.parametrize(
    "answer",
    [
        [[0.2, 0.8], [0.5, 0.5]],
        np.array([[0.2, 0.8], [0.5, 0.5]], dtype=np.float32),
        torch.tensor([[0.2, 0.8], [0.5, 0.5]]),
        torch.tensor([[0.2, 0.8], [0.5, 0.5]], requires_grad=True),
        pd.DataFrame({"no": [0.2, 0.5], "yes": [0.8, 0.5]}),
        pl.DataFrame({"no": [0.2, 0.5], "yes": [0.8, 0.5]}),
    ],
)
def test_an_answer_may_come_from_any_library(answer):
    values = as_columns(answer, 2, "m")
    assert values.dtype == np.float64
    assert values.tolist() == [pytest.approx([0.2, 0.8]), pytest.approx([0.5, 0.5])]


def test_one_column_is_the_probability_of_the_second_class():
    for answer in ([0.25, 0.75], [[0.25], [0.75]], pd.Series([0.25, 0.75])):
        got = check_probabilities(as_columns(answer, 2, "m"), "probability", 2, "m")
        assert got.tolist() == [[0.75, 0.25], [0.25, 0.75]]


def test_logits_become_probabilities():
    one = to_probabilities(columns([[0.0], [math.log(3)]]), "logit")
    assert one.tolist() == [pytest.approx([0.5, 0.5]), pytest.approx([0.25, 0.75])]
    three = to_probabilities(columns([[0.0, math.log(2), 0.0]]), "logit")
    assert three.tolist() == [pytest.approx([0.25, 0.5, 0.25])]


def test_a_tiny_probability_keeps_its_digits():
    first, second = to_probabilities(columns([[40.0]]), "logit")[0].tolist()
    assert (first, second) == (pytest.approx(math.exp(-40), rel=1e-12), 1.0)


def test_sums_within_a_thousandth_stay_as_the_model_gave_them():
    assert check_probabilities(columns([[0.3, 0.7005]]), "probability", 2, "m").tolist() == [
        [0.3, 0.7005]
    ]


def test_rounding_beyond_the_ends_is_moved_onto_them():
    got = check_probabilities(columns([[-1e-8, 1 + 1e-8]]), "probability", 2, "m")
    assert got.tolist() == [[0.0, 1.0]]


@pytest.mark.parametrize(
    ("answer", "output", "message"),
    [
        ([[0.5, 0.5], [math.nan, 0.5]], "probability", "row 1 has NaN among its probabilities"),
        ([[1.0, 2.0], [math.nan, 0.5]], "logit", "row 1 has NaN among its probabilities"),
        ([[0.5, 0.5], [1.2, -0.2]], "probability", r"row 1 .*outside the range.*\[1.2, -0.2\]"),
        ([[0.5, 0.5], [0.5, 0.4]], "probability", "row 1 .*sum to 0.9; expected 1"),
        ([[0.2, 0.3, 0.5]] * 2, "probability", "speaks of 3 classes, and 2 are expected"),
    ],
)
def test_an_answer_that_cannot_be_relied_on_names_the_first_bad_row(answer, output, message):
    with pytest.raises(ModelOutputError, match=message):
        check_probabilities(columns(answer), output, 2, "the model")


@pytest.mark.parametrize(
    "answer", [[0.5], [[[0.5, 0.5]] * 2], 0.5, np.zeros((2, 0)), torch.zeros(3, 2)]
)
def test_an_answer_of_the_wrong_shape_is_refused(answer):
    with pytest.raises(ModelOutputError, match=r"answer of shape .* for 2 rows; expected \(2, k\)"):
        as_columns(answer, 2, "the model")


@pytest.mark.parametrize("answer", [["yes", "no"], None, {"a": 1}, [[0.5], [0.5, 0.5]]])
def test_an_answer_that_is_no_array_of_numbers_is_refused(answer):
    with pytest.raises(ModelOutputError, match=r"not an array of numbers|shape"):
        as_columns(answer, 2, "the model")


def test_what_a_model_raises_is_shown_and_kept_as_the_cause():
    message = r"^m failed on 3 rows: KeyError: 'x'\. Look\.$"
    with pytest.raises(ModelError, match=message) as caught, translate_errors("m", 3, " Look."):
        raise KeyError("x")
    assert isinstance(caught.value.__cause__, KeyError)


def test_the_output_is_told_from_its_values():
    assert detect_output(columns([[0.2], [0.9]]), "m") == "probability"
    assert detect_output(columns([[0.2], [1.9]]), "m") == "logit"
    assert detect_output(columns([[0.2, 0.8], [0.5, 0.5]]), "m") == "probability"
    assert detect_output(columns([[-0.2, -1.8], [-0.5, -0.5]]), "m") == "logit"
    assert detect_output(columns([[0.2], [0.9]]), "m", ends_linear=True) == "logit"
    with pytest.raises(ModelOutputError, match=r"sum to 1.4 and not to 1.*output='logit'"):
        detect_output(columns([[0.7, 0.7], [0.5, 0.5]]), "m")


def test_rounding_beyond_the_ends_is_no_logit():
    sure = columns([[1 + 1e-7, -1e-7], [0.3, 0.7]])  # as the float32 mean of ten softmaxes may be
    assert detect_output(sure, "m") == "probability"
    assert check_probabilities(sure, "probability", 2, "m")[0].tolist() == [1, 0]
    assert detect_output(columns([[1 + 2e-6, -2e-6], [0.3, 0.7]]), "m") == "logit"
