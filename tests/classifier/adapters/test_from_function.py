"""Any callable from a frame to probabilities."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch

from proce.classifier import as_classifier
from proce.errors import ModelError, ModelOutputError
from proce.schema import Codec, Schema

from ...worlds import applicants, two_classes

X = applicants(40)[["age", "job"]]
CODEC = Codec.fit(Schema.infer(X), X)
ROWS = CODEC.encode(X)


def second(frame):
    return np.where(frame["job"] == "nurse", 0.75, 0.25)


def both(frame):
    return two_classes(second(frame))


@pytest.mark.parametrize(
    "function",
    [
        second,
        both,
        lambda frame: second(frame)[:, None],
        lambda frame: second(frame).tolist(),
        lambda frame: torch.tensor(both(frame), requires_grad=True),
        lambda frame: both(frame).astype(np.float32),
        lambda frame: pd.Series(second(frame)),
        lambda frame: pd.DataFrame(both(frame)),
        lambda frame: pl.DataFrame(both(frame)),
    ],
)
def test_every_form_of_an_answer_is_read(function):
    classifier = as_classifier(function, CODEC)
    assert classifier.classes == (0, 1)
    answer = classifier.predict_proba(ROWS)
    assert answer.dtype == np.float64
    assert answer == pytest.approx(both(X))


def test_the_number_of_classes_is_found_out_and_they_can_be_named():
    def three(frame):
        return np.full((len(frame), 3), 1 / 3)

    assert as_classifier(three, CODEC).classes == (0, 1, 2)
    assert as_classifier(three, CODEC, classes=list("abc")).classes == ("a", "b", "c")
    assert as_classifier(second, CODEC, classes=["no", "yes"]).classes == ("no", "yes")
    with pytest.raises(ModelOutputError, match="speaks of 3 classes, and 2 are expected"):
        as_classifier(three, CODEC, classes=["no", "yes"])


def test_scores_are_read_as_logits_where_that_is_said():
    def logit(frame):
        return np.where(frame["job"] == "nurse", np.log(3), -np.log(3))

    answer = as_classifier(logit, CODEC, output="logit").predict_proba(ROWS)
    assert answer == pytest.approx(both(X))
    with pytest.raises(ModelOutputError, match="outside the range from 0 to 1"):
        as_classifier(logit, CODEC)


def test_the_function_gets_a_fresh_frame_that_looks_like_the_training_rows():
    seen = []

    def spoiling(frame):
        seen.append(frame.copy())
        answer = second(frame)
        frame.loc[:, "age"] = -1
        del frame["job"]
        return answer

    classifier = as_classifier(spoiling, CODEC)
    kept = ROWS.copy()
    first = classifier.predict_proba(ROWS)
    assert np.array_equal(first, classifier.predict_proba(ROWS))
    assert np.array_equal(ROWS, kept)
    pd.testing.assert_frame_equal(seen[-1], X)


def test_the_function_gets_the_library_of_the_training_rows():
    frame = pl.from_pandas(X)
    codec = Codec.fit(Schema.infer(frame), frame)

    def of_polars(rows):
        assert isinstance(rows, pl.DataFrame)
        return (rows["job"] == "nurse").cast(pl.Float64)

    answer = as_classifier(of_polars, codec).predict_proba(codec.encode(frame))
    assert answer[:, 1].tolist() == (X["job"] == "nurse").astype(float).tolist()


def test_what_the_function_raises_is_shown():
    def broken(frame):
        return frame["salary"]

    with pytest.raises(ModelError, match="function broken failed on 256 rows: KeyError") as caught:
        as_classifier(broken, CODEC)
    assert isinstance(caught.value.__cause__, KeyError)


def test_a_row_that_was_made_up_is_shown_where_the_model_fails_on_it():
    first, shown = CODEC.schema.names[0], []

    def broken(frame):
        shown.append(frame.iloc[0])
        return np.full(len(frame), np.nan)

    with pytest.raises(
        ModelOutputError, match="made up from the schema to try the model"
    ) as caught:
        as_classifier(broken, CODEC)
    value = shown[0][first]
    written = repr(value) if isinstance(value, str) else f"{value:.6g}"
    assert f"{{{first!r}: {written}, " in str(caught.value)


def test_a_function_that_returns_nothing_is_told_so():
    with pytest.raises(ModelOutputError, match="answered None; expected probabilities"):
        as_classifier(lambda frame: None, CODEC)


def test_what_goes_wrong_only_later_is_still_refused():
    def moody(frame):
        return np.full(len(frame), 0.5 if len(frame) > 200 else np.nan)

    classifier = as_classifier(moody, CODEC)
    with pytest.raises(ModelOutputError, match="function moody: row 0 has NaN"):
        classifier.predict_proba(ROWS)
