"""One decision rule, one list of classes, for every model."""

from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from proce import Codec, ModelError, ProCE, as_classifier
from proce.classifier import decide, kept_by, position_of
from proce.classifier.classifier import checked_classes, checked_threshold, likeliest_other
from proce.schema import Schema

from ..worlds import SCHEMA, TINY, bank, one, people, two_classes


def test_without_a_threshold_the_likeliest_class_is_predicted_and_the_first_of_equals():
    probabilities = np.array([[0.2, 0.5, 0.3], [0.4, 0.2, 0.4], [0.5, 0.5, 0.0]])
    assert decide(probabilities, None).tolist() == [1, 0, 0]


def test_with_a_threshold_the_second_class_is_predicted_where_it_reaches_it():
    probabilities = np.array([[0.71, 0.29], [0.7, 0.3], [0.2, 0.8]])
    assert decide(probabilities, 0.3).tolist() == [0, 1, 1]


def test_the_likeliest_other_class_is_the_first_of_equals() -> None:
    probabilities = np.array([[0.2, 0.4, 0.4], [0.2, 0.4, 0.4], [0.0, 1.0, 0.0]])
    assert likeliest_other(probabilities, np.array([0, 1, 1])).tolist() == [1, 2, 0]


@pytest.mark.parametrize("threshold", [0, 1, -0.2, 1.5, float("nan"), "0.5", True])
def test_a_threshold_lies_between_zero_and_one(threshold):
    with pytest.raises(ModelError, match=r"decision threshold is .*expected a number between"):
        checked_threshold(threshold, (0, 1))


def test_a_threshold_needs_two_classes():
    with pytest.raises(ModelError, match="needs a model of two classes; this one has 3"):
        checked_threshold(0.5, ("a", "b", "c"))


def test_a_class_is_found_by_its_label_and_its_type():
    assert position_of("yes", ("no", "yes")) == 1
    assert position_of(np.int64(1), (0, 1)) == 1
    assert position_of(np.True_, (False, True)) == 1


def test_an_unknown_class_is_refused_with_the_known_ones():
    with pytest.raises(ModelError, match=r"unknown class 'yess'; .*'no', 'yes'.*mean 'yes'\?"):
        position_of("yess", ("no", "yes"))
    with pytest.raises(ModelError, match=r"unknown class '1'; .* 1 is of type int; give the label"):
        position_of("1", (0, 1))


def test_classes_true_and_false_are_also_named_by_one_and_zero():
    for label in (True, np.True_, 1, 1.0, np.int64(1)):
        assert position_of(label, (False, True)) == 1
    for label in (False, np.False_, 0, np.float32(0)):
        assert position_of(label, (False, True)) == 0
    for label in (2, "True", 0.5):
        with pytest.raises(ModelError, match="the model's classes are False, True"):
            position_of(label, (False, True))
    with pytest.raises(ModelError, match="give the label as that type"):
        position_of("1", (0, 1))


def test_classes_become_plain_python_values():
    classes = checked_classes(np.array([1, 2]), "m")
    assert [type(label) for label in classes] == [int, int]
    assert checked_classes(np.array(["a", "b"], dtype=object), "m") == ("a", "b")


@pytest.mark.parametrize(
    ("classes", "message"),
    [
        ([1], "knows 1 class: 1; expected at least two"),
        ([], "knows 0 classes: none"),
        ([1, 1], "expected each once"),
        ("ab", "expected a list of labels"),
        (3, "expected a list of labels"),
        ([0.0, float("nan")], "hold nan"),
        ([np.array([0, 1]), np.array([0, 1])], "Several outputs at once"),
    ],
)
def test_classes_that_cannot_be_used_are_refused(classes, message):
    with pytest.raises(ModelError, match=message):
        checked_classes(classes, "the model")


def test_models_keep_what_their_own_threshold_lets_them_say():
    """The second asks for more, and the third is sure of the first class."""

    class Answer(NamedTuple):
        threshold: float | None
        chances: list[list[float]]

    models = [
        Answer(None, [[0.4, 0.6], [0.6, 0.4]]),
        Answer(0.7, [[0.4, 0.6], [0.2, 0.8]]),
        Answer(0.5, [[1.0, 0.0], [1.0, 0.0]]),
    ]
    kept = kept_by(models, lambda model: np.array(model.chances), np.array([1, 0]))
    assert kept.tolist() == [[True, True], [False, False], [False, True]]


NUMBERS = people()[["age", "savings", "debt"]].astype(float)
MODEL = LogisticRegression().fit(NUMBERS, bank(people())[:, 1] > 0.5)
GAPS = NUMBERS.copy()
GAPS.loc[[3, 9], "savings"] = np.nan


def test_the_feature_and_the_row_are_named() -> None:
    codec = Codec.fit(Schema.infer(GAPS), GAPS)
    classifier = as_classifier(MODEL, codec)
    for ask in (
        lambda: classifier.predict_proba(codec.encode(GAPS)),
        lambda: classifier.predict_frame(GAPS),  # type: ignore[attr-defined]
        lambda: ProCE(MODEL, settings=TINY).fit(GAPS),
    ):
        with pytest.raises(ModelError, match=r"'savings' is missing in row 3.*imputer"):
            ask()


def test_a_row_that_lacks_a_value_is_refused_with_its_feature() -> None:
    explainer = ProCE(MODEL, settings=TINY).fit(NUMBERS)
    with pytest.raises(ModelError, match="'debt' is missing in row 0"):
        explainer.explain(NUMBERS.head(1).assign(debt=np.nan))


def test_a_model_that_fails_for_another_reason_keeps_its_error() -> None:
    def broken(frame: pd.DataFrame) -> object:
        if len(frame) != 256:  # it answers when it is tried
            raise ValueError("no luck")
        return two_classes(frame["age"] > 50)

    codec = Codec.fit(Schema.infer(GAPS), GAPS)
    with pytest.raises(ModelError, match=r"no luck\.$"):
        as_classifier(broken, codec).predict_proba(codec.encode(GAPS))


def test_hard_labels_are_noted() -> None:
    def hard(frame: pd.DataFrame) -> object:
        return two_classes(bank(frame)[:, 1] > 0.5)

    result = ProCE(hard, schema=SCHEMA, settings=TINY).fit(people()).explain(one(), n=1)
    assert result[0].outcome == "found"
    assert any("no probability between 0 and 1" in note for note in result[0].notes)
    soft = ProCE(bank, schema=SCHEMA, settings=TINY).fit(people()).explain(one(), n=1)
    assert not any("no probability" in note for note in soft[0].notes)
