"""A model is asked about a frame as it is, and only where it cannot take it in another form."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
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
from proce.errors import ModelError
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
