"""A model is asked about a frame as it is, and only where it cannot take it in another form.

Its answer becomes probabilities, or is refused with the reason.
"""

import math
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

from proce.arrays import Array
from proce.classifier import (
    as_classifier,
    predict_changed,
    predict_frame,
    predict_raw,
    predict_read_frame,
    predict_shown,
)
from proce.classifier.adapters.probe import detect_output
from proce.classifier.prediction import as_columns, check_probabilities, to_probabilities
from proce.errors import ModelError, ModelOutputError
from proce.schema import Codec, Schema
from proce.schema.round_trip import ReadFrame

from ..worlds import applicants, two_classes

TRAINING = pd.DataFrame(
    {
        "hours": [10, 20, 40, 35],
        "pay": [0.1, 2.5, 1 / 3, 7.0],
        "town": pd.Categorical(["ulm", "bonn", "ulm", "trier"]),
    }
)
CODEC = Codec.fit(Schema.infer(TRAINING), TRAINING)


class Lender:
    """A function that keeps the frames it was asked about, and refuses what a test says."""

    def __init__(self, refused: Any = None) -> None:
        self.frames: list[Any] = []
        self.refused = refused

    def __call__(self, frame: Any) -> Any:
        self.frames.append(frame)
        if self.refused is not None and self.refused(frame):
            raise TypeError("not such a frame")
        pay = np.asarray(frame["pay"], dtype=float)
        return two_classes(1 / (1 + np.exp(-pay)))


def asked(lender: Lender, frame: Any) -> Any:
    """Return the frame that a model was asked about last, when it was asked about a frame."""
    predict_frame(as_classifier(lender, CODEC), frame, CODEC)
    return lender.frames[-1]


def test_the_frame_goes_to_the_model_as_it_is() -> None:
    own = TRAINING.astype({"hours": "Int64", "pay": "float32"}).set_axis(list("abcd"))
    pd.testing.assert_frame_equal(asked(Lender(), own), own)


def test_columns_are_those_of_the_schema_in_the_order_of_the_training_rows() -> None:
    own = TRAINING.assign(name="x")[["town", "name", "pay", "hours"]]
    assert list(asked(Lender(), own)) == ["hours", "pay", "town"]


def test_a_model_may_write_into_what_it_is_given() -> None:
    def vandal(frame: pd.DataFrame) -> Any:
        frame["pay"] = 0.0
        return two_classes(np.full(len(frame), 0.3))

    own = TRAINING.copy()
    predict_frame(as_classifier(vandal, CODEC), own, CODEC)
    pd.testing.assert_frame_equal(own, TRAINING)


def test_what_the_model_refuses_is_put_into_a_frame_like_the_training_rows() -> None:
    lender = Lender(lambda frame: frame["town"].dtype != TRAINING["town"].dtype)
    given = asked(lender, TRAINING.astype({"town": str}))
    pd.testing.assert_frame_equal(given, TRAINING)


def test_a_frame_of_another_library_becomes_one_that_the_model_knows() -> None:
    lender = Lender()
    given = asked(lender, pl.from_pandas(TRAINING))
    pd.testing.assert_frame_equal(given, TRAINING)


def test_a_model_that_fails_on_its_own_layout_is_asked_once_and_its_error_shown() -> None:
    lender = Lender()
    classifier = as_classifier(lender, CODEC)
    lender.refused, n_frames = (lambda frame: True), len(lender.frames)
    with pytest.raises(ModelError, match="TypeError: not such a frame"):
        predict_frame(classifier, TRAINING, CODEC)
    assert len(lender.frames) == n_frames + 1


def test_a_number_that_the_training_dtype_cannot_hold_stays_what_it_is() -> None:
    """Half an hour, where the training rows had whole hours, and the library differs."""
    own = pl.from_pandas(TRAINING.assign(hours=[10.5, 20, 40, 35]))
    assert asked(Lender(), own)["hours"].tolist() == [10.5, 20, 40, 35]


def test_unchanged_cells_are_asked_about_bit_for_bit() -> None:
    """On the way to the unit range and back the last bit of some would change."""
    wild = pd.concat([TRAINING] * 25, ignore_index=True)
    wild["pay"] = np.random.default_rng(0).normal(0, 1, len(wild))
    codec = Codec.fit(Schema.infer(wild), wild)
    lender = Lender()
    classifier = as_classifier(lender, codec)
    rows, raw = codec.encode(wild), codec.raw_of_frame(wild)
    assert (codec.to_raw(rows) != raw).any()
    predict_changed(classifier, rows, rows, raw, codec)
    assert lender.frames[-1]["pay"].tolist() == wild["pay"].tolist()
    moved = rows.copy()
    moved[:, 1] = 0.5
    predict_changed(classifier, moved, rows, raw, codec)
    assert lender.frames[-1]["pay"].tolist() == codec.decode(moved)["pay"].tolist()


class Units:
    """A classifier of somebody else's, which takes rows of a codec and nothing else."""

    classes, threshold = ("no", "yes"), None

    def predict_proba(self, rows: Array) -> Array:
        return np.stack([1 - rows[:, 1], rows[:, 1]], axis=-1)

    def predict(self, rows: Array) -> Array:
        return self.predict_proba(rows).argmax(-1)


def test_a_classifier_that_takes_rows_only_is_asked_about_rows() -> None:
    rows = CODEC.encode(TRAINING)
    expected = Units().predict_proba(rows)
    assert np.array_equal(predict_frame(Units(), TRAINING, CODEC), expected)
    assert np.array_equal(predict_raw(Units(), CODEC.raw_of_frame(TRAINING), CODEC), expected)
    changed = predict_changed(Units(), rows, rows, CODEC.raw_of_frame(TRAINING), CODEC)
    assert np.array_equal(changed, expected)


def test_boosted_trees_are_checked_without_frames_and_told_by_them():
    frame = applicants(300)[["age", "income"]]
    codec = Codec.fit(Schema.infer(frame), frame)
    trees = HistGradientBoostingClassifier(max_iter=3).fit(frame, frame["income"] > 50)
    forest = RandomForestClassifier(3, random_state=0).fit(frame, frame["income"] > 50)
    for model, n_frames in ((trees, 0), (forest, 1)):
        classifier = as_classifier(model, codec)
        made = []

        def make(made=made):
            made.append(frame)
            return frame

        read = ReadFrame(codec, codec.raw_of_frame(frame), make)
        shown = predict_shown(classifier, read)
        assert len(made) == n_frames
        assert np.array_equal(shown, predict_read_frame(classifier, read))
        assert len(made) == 1


def columns(rows):
    return np.array(rows, np.float64)


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


@pytest.mark.parametrize(
    ("answer", "output", "message"),
    [
        ([[0.5, 0.5], [math.nan, 0.5]], "probability", "row 1 has NaN among its probabilities"),
        ([[1.0, 2.0], [math.nan, 0.5]], "logit", "row 1 has NaN among its probabilities"),
        ([[0.5, 0.5], [1.2, -0.2]], "probability", r"row 1 .*outside the range.*\[1.2, -0.2\]"),
        ([[0.5, 0.5], [0.5, 0.4]], "probability", "row 1 .*sum to 0.9; expected 1"),
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
