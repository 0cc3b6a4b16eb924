"""What holds for every adapted model, whatever library made it."""

import numpy as np
import pytest

from proce.classifier import Classifier, as_classifier, decide

from .classifier_cases import CASES, N_ROWS, Case


@pytest.fixture(scope="module", params=CASES, ids=lambda make: make.__name__)
def case(request: pytest.FixtureRequest) -> Case:
    made: Case = request.param()
    return made


def test_it_is_a_classifier_with_the_models_classes(case: Case) -> None:
    classifier = case.adapted()
    assert isinstance(classifier, Classifier)
    assert classifier.classes == case.classes
    assert all(type(label) in (str, int) for label in classifier.classes)
    assert classifier.threshold is None


def test_it_answers_what_the_model_answers(case: Case) -> None:
    """Rows with missing cells among them: the model sees those as missing."""
    answer = case.adapted().predict_proba(case.codec().encode(case.frame))
    assert isinstance(answer, np.ndarray)
    assert answer.dtype == np.float64
    assert answer.shape == (N_ROWS, len(case.classes))
    assert answer.sum(-1) == pytest.approx(1, abs=1e-6)
    assert answer == pytest.approx(np.asarray(case.ask(case.frame)), abs=case.tolerance)


def test_a_frame_is_answered_exactly_as_the_model_answers_it(case: Case) -> None:
    """But for networks and ONNX, of which the case asks in single precision."""
    answer = case.adapted().predict_frame(case.frame)
    expected = np.asarray(case.ask(case.frame), dtype=np.float64)
    if case.tolerance > 1e-12:
        assert answer == pytest.approx(expected, abs=case.tolerance)
    else:
        assert answer.tolist() == expected.tolist()
    assert case.adapted().predict_frame(case.frame[:0]).shape == (0, len(case.classes))


def test_raw_values_are_answered_as_their_frame(case: Case) -> None:
    classifier, codec = case.adapted(), case.codec()
    answer = classifier.predict_raw(codec.raw_of_frame(case.frame))
    assert np.array_equal(answer, classifier.predict_frame(case.frame))
    assert classifier.predict_raw(answer[:0]).shape == (0, len(case.classes))


def test_it_predicts_what_the_model_predicts(case: Case) -> None:
    predicted = case.adapted().predict(case.codec().encode(case.frame))
    labels = [case.classes[position] for position in predicted.tolist()]
    assert labels == list(case.predict(case.frame))


def test_a_single_row_is_answered_as_in_a_batch(case: Case) -> None:
    classifier, rows = case.adapted(), case.codec().encode(case.frame)
    batch = classifier.predict_proba(rows)
    for position in (0, 7, 12, 18):
        alone = classifier.predict_proba(rows[[position]])
        assert alone == pytest.approx(batch[[position]], abs=1e-6)
    assert classifier.predict_proba(rows[:0]).shape == (0, len(case.classes))


def test_asking_changes_neither_the_rows_nor_the_model(case: Case) -> None:
    before = case.fingerprint()
    rows = case.codec().encode(case.frame)
    kept = rows.copy()
    classifier = case.adapted()
    first = classifier.predict_proba(rows)
    assert np.array_equal(first, classifier.predict_proba(rows))
    assert np.array_equal(rows, kept, equal_nan=True)
    assert case.fingerprint() == before


def test_training_rows_in_polars_give_the_same_answers(case: Case) -> None:
    polars = pytest.importorskip("polars")
    frame = polars.from_pandas(case.frame)
    codec = case.codec(frame)
    answer = as_classifier(case.model, codec, **case.options).predict_proba(codec.encode(frame))
    has_job = case.frame["job"].notna()  # fitted on pandas' NaN, a pipeline has not seen None
    expected = np.asarray(case.ask(case.frame))[has_job]
    assert answer[has_job] == pytest.approx(expected, abs=case.tolerance)


def test_a_threshold_moves_the_decision_of_two_classes(case: Case) -> None:
    if len(case.classes) > 2:
        pytest.skip("a threshold is for two classes")
    rows = case.codec().encode(case.frame)
    classifier = case.adapted(threshold=0.7)
    answer = classifier.predict_proba(rows)
    assert np.array_equal(classifier.predict(rows), answer[:, 1] >= 0.7)
    again = as_classifier(classifier, case.codec(), 0.2)
    assert np.array_equal(again.predict(rows), decide(answer, 0.2))
