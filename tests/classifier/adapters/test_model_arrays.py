"""Boosted trees answer arrays as they answer frames, bit for bit, or are asked with frames."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

from proce.classifier import as_classifier
from proce.classifier.adapters.model_arrays import ModelArrays
from proce.schema import Codec, Schema
from proce.schema import codec as codec_module
from proce.schema.codec import frame_of_raw

from ...worlds import applicants

N_ROWS = 800


def rows_and_labels(n_classes=2):
    """Applicants with text, ordered and unordered categories, true/false and missing cells."""
    draw = np.random.default_rng(0)
    frame = applicants(N_ROWS)[["age", "income", "job", "school"]]
    frame["school"] = pd.Categorical(frame["school"], ordered=True)
    frame["job"] = pd.Categorical(frame["job"], sorted(set(frame["job"]), reverse=True))
    frame["region"] = pd.Categorical(draw.choice(["n", "s", "w"], N_ROWS))
    frame["single"] = draw.random(N_ROWS) < 0.5
    frame["rate"] = draw.random(N_ROWS).astype(np.float32)
    frame.loc[:30, "income"] = np.nan
    frame.loc[20:60, "region"] = None
    score = frame["income"].fillna(45) + 20 * (frame["job"] == "nurse") - frame["age"] / 5
    return frame, np.digitize(score, np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1]))


def lightgbm_model():
    lightgbm = pytest.importorskip("lightgbm")
    return lightgbm.LGBMClassifier(n_estimators=12, n_jobs=1, verbose=-1)


def hist_model():
    return HistGradientBoostingClassifier(max_iter=12, categorical_features="from_dtype")


@pytest.mark.parametrize("make", [lightgbm_model, hist_model])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("columns_reversed", [False, True])
def test_arrays_give_what_frames_give(make, n_classes, columns_reversed):
    frame, label = rows_and_labels(n_classes)
    trained_on = frame[frame.columns[::-1]] if columns_reversed else frame
    model = make().fit(trained_on, label)
    codec = Codec.fit(Schema.infer(frame), frame, "bulk")
    classifier = as_classifier(model, codec)
    raw = codec.raw_of_frame(frame)
    arrays = ModelArrays.of(model, codec, classifier.layout)
    assert arrays is not None
    expected = model.predict_proba(frame_of_raw(codec, raw, classifier.layout))
    assert np.array_equal(arrays.answer(raw), expected)
    assert np.array_equal(classifier.predict_raw(raw), classifier.predict_frame(trained_on))
    assert np.array_equal(classifier.predict_raw(raw[:1]), classifier.predict_raw(raw)[:1])


@pytest.mark.parametrize("make", [lightgbm_model, hist_model])
def test_numbers_alone_have_arrays_too(make):
    frame, label = rows_and_labels()
    numbers = frame[["age", "income", "rate"]]
    model = make().fit(numbers, label)
    codec = Codec.fit(Schema.infer(numbers), numbers)
    classifier = as_classifier(model, codec)
    arrays = ModelArrays.of(model, codec, classifier.layout)
    assert arrays is not None
    raw = codec.raw_of_frame(numbers)
    assert np.array_equal(arrays.answer(raw), model.predict_proba(numbers))


@pytest.mark.parametrize("make", [lightgbm_model, hist_model])
def test_rows_are_asked_about_without_a_frame(make, monkeypatch):
    frame, label = rows_and_labels()
    codec = Codec.fit(Schema.infer(frame), frame, "bulk")
    classifier = as_classifier(make().fit(frame, label), codec)
    rows = codec.encode(frame)
    expected = classifier.predict_frame(codec.decode(rows, classifier.layout))
    assert classifier.takes_arrays
    monkeypatch.setattr(codec_module, "_frame", None)  # of which all frames are made
    assert np.array_equal(classifier.predict_proba(rows), expected)


def test_a_model_whose_method_was_replaced_is_asked_by_it():
    frame, label = rows_and_labels()
    model = hist_model().fit(frame, label)
    codec = Codec.fit(Schema.infer(frame), frame)
    classifier = as_classifier(model, codec)
    model.predict_proba = lambda rows: np.tile([0.25, 0.75], (len(rows), 1))
    assert ModelArrays.of(model, codec, classifier.layout) is None
    assert set(classifier.predict_raw(codec.raw_of_frame(frame))[:, 1].tolist()) == {0.75}


class FrameLover(HistGradientBoostingClassifier):
    """Gives frames an answer that it does not give arrays."""

    def predict_proba(self, rows):
        answer = super().predict_proba(rows)
        return answer[:, ::-1] if isinstance(rows, pd.DataFrame) else answer


def test_where_answers_would_differ_frames_are_used():
    frame, label = rows_and_labels()
    numbers = frame[["age", "rate"]]
    codec = Codec.fit(Schema.infer(numbers), numbers)
    FrameLover.__module__, FrameLover.__name__ = "sklearn.ensemble", hist_model().__class__.__name__
    model = FrameLover(max_iter=3).fit(numbers, label)
    classifier = as_classifier(model, codec)
    assert ModelArrays.of(model, codec, classifier.layout) is None
    answers = classifier.predict_raw(codec.raw_of_frame(numbers))
    assert np.array_equal(answers, model.predict_proba(numbers))


def test_other_models_are_asked_with_frames():
    frame, label = rows_and_labels()
    numbers = frame[["age", "rate"]]
    codec = Codec.fit(Schema.infer(numbers), numbers)
    forest = RandomForestClassifier(3, random_state=0).fit(numbers, label)
    assert ModelArrays.of(forest, codec, codec.layout) is None
