"""One door for every kind of model, and what does not pass it."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from torch import nn

from proce.classifier import Classifier, as_classifier
from proce.classifier.adapters.probe import probe_rows
from proce.errors import ModelError, ModelInterfaceError
from proce.schema import Categorical, Codec, Continuous, Schema

X = pd.DataFrame({"age": [20, 30, 50, 60], "income": [1.0, 5.0, 2.0, 6.0]})
Y = [0, 1, 0, 1]
CODEC = Codec.fit(Schema.infer(X), X)
MODEL = LogisticRegression().fit(X, Y)


class OneOfOurs:
    """A classifier that somebody wrote against the protocol."""

    classes = ("no", "yes")
    threshold = 0.5

    def predict_proba(self, rows):
        return np.full((len(rows), 2), 0.5)

    def predict(self, rows):
        return np.zeros(len(rows), np.int64)


def test_a_classifier_passes_through():
    ours = OneOfOurs()
    assert isinstance(ours, Classifier)
    assert as_classifier(ours, CODEC) is ours
    assert as_classifier(ours, CODEC, 0.5) is ours
    with pytest.raises(ModelError, match=r"decides with threshold 0\.5, not 0\.7"):
        as_classifier(ours, CODEC, 0.7)
    adapted = as_classifier(MODEL, CODEC)
    assert as_classifier(adapted, CODEC) is adapted
    assert as_classifier(adapted, CODEC, 0.7).threshold == 0.7
    assert adapted.threshold is None


def test_a_classifier_made_for_other_rows_is_refused():
    adapted = as_classifier(MODEL, CODEC)
    assert as_classifier(adapted, Codec.fit(CODEC.schema, X)) is adapted
    fixed = CODEC.schema.edit("age", action="fixed")
    assert as_classifier(adapted, Codec.fit(fixed, X)) is adapted
    with pytest.raises(ModelError, match="made for rows of another schema or scale"):
        as_classifier(adapted, Codec.fit(CODEC.schema, X.iloc[:2]))
    with pytest.raises(ModelError, match="made for rows of another schema or scale"):
        as_classifier(adapted, replace(CODEC, span=CODEC.span * 2, seen_low=None, seen_high=None))


def test_a_classifier_answers_the_same_for_rows_on_another_scale_of_the_same_training_rows():
    adapted, twice = as_classifier(MODEL, CODEC), replace(CODEC, span=CODEC.span * 2)
    expected = adapted.predict_proba(CODEC.encode(X))
    assert np.array_equal(as_classifier(adapted, twice).predict_proba(twice.encode(X)), expected)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (LogisticRegression, "got the class LogisticRegression itself"),
        (nn.Linear, "got the class Linear itself"),
        (None, "None offers no way"),
        (3, "int offers no way"),
        (X, "DataFrame offers no way"),
    ],
)
def test_what_is_no_model_is_refused_with_what_is_accepted(model, message):
    with pytest.raises(ModelInterfaceError, match=message):
        as_classifier(model, CODEC)


@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        (MODEL, {"encoding": "one_hot"}, "encoding= is for networks and ONNX models"),
        (MODEL, {"output": "logit"}, "output= is for networks, ONNX models and callables"),
        (OneOfOurs(), {"classes": [0, 1]}, "classes= is for models that are not yet adapted"),
        (MODEL, {"output": "logits"}, "unknown output 'logits'; expected 'logit'"),
        (MODEL, {"threshold": 2}, "decision threshold is 2"),
    ],
)
def test_options_that_a_model_cannot_honour_are_refused(model, options, message):
    with pytest.raises(ModelError, match=message):
        as_classifier(model, CODEC, **options)


def test_neither_numpys_nor_torchs_random_state_is_touched():
    before = torch.random.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
    as_classifier(MODEL, CODEC)
    as_classifier(nn.Identity(), CODEC, output="logit")
    assert torch.equal(torch.random.get_rng_state(), before[0])
    assert (np.random.get_state()[1] == before[1]).all()  # noqa: NPY002


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.sampled_from([None, 1.0, 0.25, 100.0]))
def test_the_probe_asks_with_valid_rows(low, span, step):
    frame = pd.DataFrame({"x": [low, low + span], "job": ["a", "b"]})
    schema = Schema([Continuous("x", step=step), Categorical("job", ("a", "b", "c"))])
    codec = Codec.fit(schema, frame)
    rows = probe_rows(codec)
    assert np.array_equal(rows, probe_rows(codec))
    assert set(rows[:, 1].tolist()) == {0, 1, 2}
    reach = (step or 0) / span
    assert -reach <= rows[:, 0].min() <= rows[:, 0].max() <= 1 + reach
    if step:
        raw = codec.to_raw(rows)[:, 0]
        assert raw == pytest.approx((raw / step).round() * step, rel=1e-9)


class Duck:
    """An estimator in all but its ancestry."""

    def fit(self, frame):
        return self

    def predict(self, frame):
        return MODEL.predict(frame)

    def predict_proba(self, frame):
        return MODEL.predict_proba(frame)


class WithoutTags(Duck):
    def __sklearn_tags__(self):
        return None


class WithBrokenTags(Duck):
    def __sklearn_tags__(self):
        raise RuntimeError("no tags")


class NotFitted(Duck):
    def __sklearn_is_fitted__(self):
        return False


class WithBrokenClasses(Duck):
    @property
    def classes_(self):
        raise RuntimeError("not today")


class WithoutAttributes(Duck):
    def __getattr__(self, name):
        raise RuntimeError(f"no {name}")


@pytest.mark.parametrize("kind", [Duck, WithoutTags, WithBrokenTags])
def test_an_estimator_need_not_descend_from_scikit_learns(kind):
    assert as_classifier(kind(), CODEC).classes == (0, 1)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (NotFitted, "the model NotFitted is not fitted; call its fit"),
        (WithBrokenClasses, "raised RuntimeError .not today. while it was looked at"),
        (WithoutAttributes, "raised RuntimeError .no .* while it was looked at"),
    ],
)
def test_a_model_that_breaks_when_it_is_looked_at_is_refused(kind, message):
    with pytest.raises(ModelError, match=message):
        as_classifier(kind(), CODEC)
