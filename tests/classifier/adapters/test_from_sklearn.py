"""Estimators: what they are asked with, whose threshold counts, what is refused."""

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    TunedThresholdClassifierCV,
)
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

from proce.classifier import as_classifier
from proce.errors import ModelError, ModelInterfaceError
from proce.schema import Codec, Schema

from ...worlds import applicants, decisions, two_classes

X = applicants(200)[["age", "income"]]
Y = decisions(applicants(200))
CODEC = Codec.fit(Schema.infer(X), X)
ROWS = CODEC.encode(X)


def positions(labels):
    return [["no", "yes"].index(label) for label in labels]


def test_columns_are_given_in_the_order_of_the_fit():
    model = LogisticRegression().fit(X[["income", "age"]], Y)
    answer = as_classifier(model, CODEC).predict_proba(ROWS)
    assert answer == pytest.approx(model.predict_proba(X[["income", "age"]]))


def test_columns_that_the_model_does_not_know_are_left_out():
    model = LogisticRegression().fit(X[["income"]], Y)
    answer = as_classifier(model, CODEC).predict_proba(ROWS)
    assert answer == pytest.approx(model.predict_proba(X[["income"]]))


def test_a_column_that_only_the_model_knows_is_named():
    model = LogisticRegression().fit(X.rename(columns={"income": "Income"}), Y)
    with pytest.raises(ModelError, match=r"fitted on the column 'Income'.*mean 'income'\?"):
        as_classifier(model, CODEC)


def test_an_array_of_another_width_is_refused():
    model = LogisticRegression().fit(X[["income"]].to_numpy(), Y)
    with pytest.raises(ModelError, match="was fitted on 1 columns; the rows have 2"):
        as_classifier(model, CODEC)


def test_a_model_that_remembers_nothing_of_its_columns_gets_frames():
    class Rule:
        classes_ = np.array(["no", "yes"])

        def predict_proba(self, frame):
            return two_classes(frame["income"] > 60)

    predicted = as_classifier(Rule(), CODEC).predict(ROWS)
    assert predicted.tolist() == (X["income"] > 60).astype(int).tolist()


class Thresholds:
    """A model that derives from nothing: it can be fitted and asked, and that is all."""

    def fit(self, frame, labels):
        self.limit = frame["income"][labels == "yes"].min()
        return self

    def predict_proba(self, frame):
        return two_classes(frame["income"] > self.limit)


def test_a_model_of_ones_own_making_works():
    model = Thresholds().fit(X, Y)
    classifier = as_classifier(model, CODEC)
    assert classifier.classes == (0, 1)
    assert classifier.predict(ROWS).tolist() == (X["income"] > model.limit).astype(int).tolist()
    named = as_classifier(model, CODEC, classes=["no", "yes"])
    assert named.classes == ("no", "yes")


def test_a_model_of_ones_own_making_that_was_fitted_on_an_array_works():
    class OfArrays:
        def fit(self, array, labels):
            return self

        def predict_proba(self, array):
            return two_classes(array[:, 0] > 60)

    predicted = as_classifier(OfArrays(), CODEC).predict(ROWS)
    first = X[list(CODEC.schema.columns)].iloc[:, 0]
    assert predicted.tolist() == (first > 60).astype(int).tolist()


def test_a_model_of_ones_own_making_that_is_not_fitted_says_what_it_lacks():
    with pytest.raises(ModelError, match=r"AttributeError: .*limit"):
        as_classifier(Thresholds(), CODEC)


def test_more_than_two_classes():
    labels = np.digitize(X["income"], [50, 70])
    model = RandomForestClassifier(10, random_state=0).fit(X, labels)
    classifier = as_classifier(model, CODEC)
    assert classifier.classes == (0, 1, 2)
    assert classifier.predict(ROWS).tolist() == model.predict(X).tolist()
    with pytest.raises(ModelError, match="threshold needs a model of two classes"):
        as_classifier(model, CODEC, 0.5)


@pytest.mark.parametrize("positive", [None, "yes", "no"])
def test_a_fixed_threshold_is_the_models_own(positive):
    label = {"pos_label": positive} if positive else {}
    model = FixedThresholdClassifier(LogisticRegression(), threshold=0.7, **label).fit(X, Y)
    classifier = as_classifier(model, CODEC)
    assert classifier.threshold == pytest.approx(0.3 if positive == "no" else 0.7)
    assert classifier.predict(ROWS).tolist() == positions(model.predict(X))
    assert as_classifier(model, CODEC, 0.4).threshold == 0.4


@pytest.mark.parametrize("positive", ["yes", "no"])
def test_a_tuned_threshold_is_the_models_own_also_inside_a_pipeline(positive):
    scoring = make_scorer(f1_score, pos_label=positive)
    tuned = TunedThresholdClassifierCV(LogisticRegression(), scoring=scoring, cv=2)
    model = make_pipeline(StandardScaler(), tuned).fit(X, Y)
    classifier = as_classifier(model, CODEC)
    assert classifier.predict(ROWS).tolist() == positions(model.predict(X))
    own = model[-1].best_threshold_
    assert classifier.threshold == pytest.approx(own if positive == "yes" else 1 - own)


def test_a_threshold_inside_a_search_counts():
    inner = FixedThresholdClassifier(LogisticRegression(), threshold=0.6)
    model = GridSearchCV(inner, {"threshold": [0.6]}, cv=2).fit(X, Y)
    assert as_classifier(model, CODEC).threshold == 0.6


def test_a_threshold_on_another_scale_is_refused():
    model = FixedThresholdClassifier(
        LogisticRegression(), threshold=0.1, response_method="decision_function"
    ).fit(X, Y)
    with pytest.raises(ModelInterfaceError, match="decides by its decision function"):
        as_classifier(model, CODEC)
    assert as_classifier(model, CODEC, 0.6).threshold == 0.6


@pytest.mark.parametrize("model", [RidgeClassifier(), SVC(), LinearRegression()])
def test_a_model_without_probabilities_is_told_what_to_do(model):
    model.fit(X, Y == "yes")
    with pytest.raises(ModelInterfaceError, match=r"no predict_proba.*CalibratedClassifierCV"):
        as_classifier(model, CODEC)
    calibrated = CalibratedClassifierCV(SVC()).fit(X, Y)
    assert as_classifier(calibrated, CODEC).classes == ("no", "yes")


@pytest.mark.parametrize(
    "model", [LogisticRegression(), make_pipeline(StandardScaler(), LogisticRegression()), SVC()]
)
def test_a_model_that_is_not_fitted_is_refused(model):
    with pytest.raises(ModelError, match="is not fitted; call its fit"):
        as_classifier(model, CODEC)


def test_a_model_of_one_class_or_of_several_outputs_is_refused():
    with pytest.raises(ModelError, match="knows 1 class: 'yes'; expected at least two"):
        as_classifier(RandomForestClassifier(2).fit(X, ["yes"] * 200), CODEC)
    several = MultiOutputClassifier(LogisticRegression()).fit(X, np.stack([Y, Y], axis=1))
    with pytest.raises(ModelError, match="Several outputs at once"):
        as_classifier(several, CODEC)


def test_classes_that_are_not_the_models_are_refused():
    model = LogisticRegression().fit(X, Y)
    assert as_classifier(model, CODEC, classes=["no", "yes"]).classes == ("no", "yes")
    for classes in (["yes", "no"], [0, 1]):
        with pytest.raises(ModelError, match=r"are not those of .* 'no', 'yes'\. Leave classes="):
            as_classifier(model, CODEC, classes=classes)


def test_a_failing_model_shows_its_reason_and_what_to_check():
    frame = X.assign(job=np.where(X["age"] > 40, "nurse", "clerk"))
    columns = make_column_transformer((OneHotEncoder(), ["job"]), ("passthrough", ["age"]))
    model = make_pipeline(columns, LogisticRegression()).fit(frame, Y)
    other = frame.assign(job=np.where(X["age"] > 40, "Nurse", "clerk"))
    codec = Codec.fit(Schema.infer(other), other)
    with pytest.raises(ModelError, match=r"Pipeline failed on 256 rows: ValueError: .*Nurse.*fit"):
        as_classifier(model, codec)


def test_lightgbm_columns_with_blanks_and_wrapped_in_a_calibration():
    lightgbm = pytest.importorskip("lightgbm")
    frame = pd.DataFrame({"yearly income": X["income"], "job": np.where(X["age"] > 40, "a", "b")})
    category = frame.assign(job=frame["job"].astype("category"))
    booster = lightgbm.LGBMClassifier(n_estimators=5, verbose=-1, n_jobs=1)
    codec = Codec.fit(Schema.infer(frame), frame)
    for model in (booster, CalibratedClassifierCV(booster, cv=2)):
        model.fit(category, Y)
        answer = as_classifier(model, codec).predict_proba(codec.encode(frame))
        assert answer == pytest.approx(model.predict_proba(category))


def test_one_hot_columns_reach_the_model_as_columns():
    frame = pd.DataFrame({"a": X["age"] > 40, "b": X["age"] <= 40, "income": X["income"]})
    frame = frame.astype({"a": int, "b": int})
    codec = Codec.fit(Schema.infer(frame, one_hot={"job": ["a", "b"]}), frame)
    model = LogisticRegression().fit(frame, Y)
    answer = as_classifier(model, codec).predict_proba(codec.encode(frame))
    assert answer == pytest.approx(model.predict_proba(frame))
    assert np.array_equal(answer.sum(-1), np.ones(200))
