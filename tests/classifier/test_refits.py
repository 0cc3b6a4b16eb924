"""A model that is fitted again on resampled rows."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from proce import Codec, ModelError, ProCE, Schema, as_classifier
from proce.arrays import Floats
from proce.classifier.refits import ModelRefits, can_refit, read_known_labels, require_same_order

from ..worlds import SCHEMA, TINY, people, score

FRAME = people(200)
LABEL = np.where(score(FRAME) + np.random.default_rng(1).normal(0, 1, 200) > 0, "yes", "no")
CODEC = Codec.fit(SCHEMA, FRAME)
NUMBERS = FRAME[["age", "savings", "debt"]]


def pipeline() -> Any:
    levels = make_column_transformer(
        (OneHotEncoder(), ["school", "home"]), remainder=StandardScaler()
    )
    return make_pipeline(levels, LogisticRegression())


def refits(
    model: Any, frame: pd.DataFrame = FRAME, label: Any = LABEL, **options: Any
) -> ModelRefits:
    codec = Codec.fit(Schema([SCHEMA[name] for name in frame]), frame)
    classifier = as_classifier(model, codec)
    labels = read_known_labels(label, classifier, len(frame))
    return ModelRefits(classifier, codec.encode(frame), labels, **options)


@pytest.fixture(scope="module")
def fitted() -> Any:
    return pipeline().fit(FRAME, LABEL)


def answers(model: Any) -> Floats:
    return model.predict_proba(CODEC.encode(FRAME))


def test_each_refit_is_another_model_of_the_same_classes(fitted: Any) -> None:
    first, second = refits(fitted).first(2)
    assert first.classes == second.classes == ("no", "yes")
    assert not np.array_equal(answers(first), answers(second))
    assert np.abs(answers(first) - answers(as_classifier(fitted, CODEC))).max() < 0.4


def test_a_refit_is_made_once_and_does_not_depend_on_how_many_there_are(fitted: Any) -> None:
    made = refits(fitted, seed=3)
    two = made.first(2)
    three = made.first(3)
    assert three[:2] == two
    assert made.first(1) == two[:1]
    again = refits(fitted, seed=3).first(3)
    assert all(np.array_equal(answers(a), answers(b)) for a, b in zip(three, again, strict=True))
    other = refits(fitted, seed=4).first(1)
    assert not np.array_equal(answers(other[0]), answers(three[0]))


def test_the_estimator_is_left_as_it_was(fitted: Any) -> None:
    before, parameters = answers(as_classifier(fitted, CODEC)), str(fitted.get_params())
    refits(fitted).first(2)
    assert np.array_equal(answers(as_classifier(fitted, CODEC)), before)
    assert str(fitted.get_params()) == parameters


def test_rows_are_drawn_with_replacement_within_each_class(fitted: Any) -> None:
    seen: list[tuple[pd.DataFrame, Any]] = []

    class Spy(LogisticRegression):
        def fit(self, X: Any, y: Any) -> Any:
            seen.append((X, y))
            return super().fit(X, y)

    numbers = NUMBERS
    refits(Spy().fit(numbers, LABEL), numbers).first(1)
    drawn, label = seen[-1]
    assert (label == "yes").sum() == (LABEL == "yes").sum()
    assert list(drawn.columns) == list(numbers.columns)
    assert drawn.dtypes.equals(numbers.dtypes)
    known = set(zip(*(numbers[name] for name in numbers), LABEL, strict=True))
    assert set(zip(*(drawn[name] for name in drawn), label, strict=True)) <= known
    assert len(drawn.drop_duplicates()) < len(numbers)


@pytest.mark.parametrize("library", ["sklearn", "lightgbm", "xgboost"])
def test_boosted_trees_are_fitted_again_on_the_levels_that_they_know(library: str) -> None:
    names = ("school", "home")
    levels = {name: pd.CategoricalDtype(list(SCHEMA[name].levels)) for name in names}
    frame = FRAME.astype(levels)
    label: Any = (LABEL == "yes").astype(int)
    if library == "sklearn":
        model: Any = HistGradientBoostingClassifier(max_iter=5, random_state=0)
    elif library == "lightgbm":
        model = pytest.importorskip("lightgbm").LGBMClassifier(n_estimators=5, verbose=-1, n_jobs=1)
    else:
        model = pytest.importorskip("xgboost").XGBClassifier(
            n_estimators=5, enable_categorical=True, n_jobs=1
        )
    made = refits(model.fit(frame, label), frame, label)
    (refit,) = made.first(1)
    assert refit.classes == (0, 1)
    assert (refit.predict(made.rows) == made.classifier.predict(made.rows)).mean() > 0.7


def test_everything_random_gets_another_seed() -> None:
    model = make_pipeline(StandardScaler(), RandomForestClassifier(5, random_state=7))
    first, second = refits(model.fit(NUMBERS.to_numpy(), LABEL), NUMBERS, seed=10).first(2)
    assert [refit.model[-1].random_state for refit in (first, second)] == [11, 12]
    assert model[-1].random_state == 7


def test_a_threshold_holds_for_the_refits_too(fitted: Any) -> None:
    assert refits(fitted, threshold=0.3).first(1)[0].threshold == 0.3
    own = FixedThresholdClassifier(pipeline(), threshold=0.7, pos_label="yes").fit(FRAME, LABEL)
    assert refits(own).first(1)[0].threshold == pytest.approx(0.7)


def test_without_rows_there_are_only_those_that_were_kept(fitted: Any) -> None:
    made = refits(fitted)
    kept = made.first(2)
    saved = ModelRefits(made.classifier, made.rows[:0], made.labels[:0], kept=list(kept))
    assert saved.first(2) == kept
    with pytest.raises(ModelError, match=r"without its training rows .* Ask for at most 2"):
        saved.first(3)


def test_a_fit_that_fails_says_what_to_do(fitted: Any) -> None:
    class Moody(LogisticRegression):
        moods = 0

        def fit(self, X: Any, y: Any) -> Any:
            Moody.moods += 1
            if Moody.moods > 1:
                raise ValueError("not again.")
            return super().fit(X, y)

    made = refits(Moody().fit(NUMBERS, LABEL), NUMBERS)
    with pytest.raises(ModelError, match=r"fitted again .*: not again\. Fit it .* models="):
        made.first(1)


def test_only_estimators_can_be_fitted_again(fitted: Any) -> None:
    assert can_refit(as_classifier(fitted, CODEC))
    assert not can_refit(as_classifier(lambda frame: np.full((len(frame), 2), 0.5), CODEC))


@pytest.mark.parametrize(
    ("label", "message"),
    [
        (LABEL[:5], r"shape \(5,\) for 200 rows; expected one label for each row"),
        (np.where(LABEL == "yes", "ja", "no"), "unknown class 'ja'.*Leave y out"),
        (pd.Series(LABEL).where(FRAME.index > 3), "y has 4 missing labels; .* Leave these rows"),
        ([None, *LABEL[1:]], "y has 1 missing label; expected one label for each row"),
        ((LABEL == "yes").astype(int), "y is not of the model's classes: unknown class 0"),
    ],
)
def test_labels_that_are_not_of_the_model_are_refused(
    fitted: Any, label: Any, message: str
) -> None:
    with pytest.raises(ModelError, match=message):
        read_known_labels(label, as_classifier(fitted, CODEC), len(FRAME))


def test_labels_may_be_a_column_of_any_frame(fitted: Any) -> None:
    classifier = as_classifier(fitted, CODEC)
    read = read_known_labels(LABEL, classifier, 200)
    assert [classifier.classes[code] for code in read.tolist()] == LABEL.tolist()
    assert np.array_equal(read_known_labels(pd.Series(LABEL), classifier, 200), read)
    assert np.array_equal(read_known_labels(pd.DataFrame({"y": LABEL}), classifier, 200), read)


def test_labels_in_another_order_than_their_rows_are_refused(fitted: Any) -> None:
    label = pd.Series(LABEL, FRAME.index)
    shuffled = label.sample(frac=1, random_state=0)
    for given in (shuffled, shuffled.to_frame()):
        with pytest.raises(ModelError, match=r"another order.*y\.loc\[X\.index\]"):
            ProCE(fitted, schema=SCHEMA, settings=TINY).fit(FRAME, given)
    other_index = label.set_axis(range(1000, 1200))
    for given in (label, shuffled.loc[FRAME.index], shuffled.to_numpy(), other_index, LABEL):
        require_same_order(FRAME, given)
