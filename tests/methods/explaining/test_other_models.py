"""Other models beside the explained one: who they may be, and in how many of them advice holds."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from proce import Explanations, ModelError, ProCE, ProceError, Schema, SearchError
from proce.classifier import fit_network

from ...worlds import SCHEMA, TINY, logistic, people, score

FRAME = people(150)[["age", "savings", "debt"]]
LABEL = np.where(score(people(150)) + np.random.default_rng(0).normal(0, 1, 150) > 0, 1, 0)
NUMBERS = Schema([SCHEMA[name] for name in FRAME])
REFUSED = pd.DataFrame({"age": [30, 40], "savings": [30, 10], "debt": [50, 60]})


def harder(by: float) -> Callable[[pd.DataFrame], Any]:
    """Return a bank that wants more of the same."""
    return lambda frame: logistic((frame["savings"] - frame["debt"]) / 25 - by)


@pytest.fixture(scope="module")
def estimator() -> Any:
    return LogisticRegression().fit(FRAME, LABEL)


@pytest.fixture(scope="module")
def explainer(estimator: Any) -> ProCE:
    return ProCE(estimator, NUMBERS, settings=TINY).fit(FRAME, LABEL)


@pytest.fixture(scope="module")
def banker() -> ProCE:
    return ProCE(harder(0.0), NUMBERS, settings=TINY).fit(FRAME)


def test_the_models_in_which_a_counterfactual_keeps_its_class_are_counted(banker: ProCE) -> None:
    models = [harder(-5), harder(0.0), harder(50)]
    result = banker.explain(REFUSED, n=2, models=models)
    plain = banker.explain(REFUSED, n=2)
    for item, same in zip(result, plain, strict=True):
        assert item.robustness.tolist() == [2] * len(item)
        assert np.array_equal(item.rows, same.rows)  # nobody asked for more than to count
        assert same.robustness is None
    assert result.outcomes()["robustness"].tolist() == [2, 2]
    assert plain.outcomes()["robustness"].isna().all()
    assert result.context.n_models == 3
    assert result.provenance.options["models"] == ["function"] * 3
    told = "It keeps its decision in 2 of 3 other models."
    assert told in result[0].sentences()
    assert not any("keeps its decision" in text for text in plain[0].sentences())
    back = Explanations.from_json(result.to_json())
    assert np.array_equal(back[0].robustness, result[0].robustness)
    assert told in back[0].sentences()


def test_a_number_of_models_means_refits_which_are_kept(explainer: ProCE) -> None:
    result = explainer.explain(REFUSED, n=1, models=3)
    refits = explainer.fitted_.model_refits
    assert refits is not None
    kept = refits.first(3)
    expected = sum(model.predict(result[0].rows) == 1 for model in kept)
    assert result[0].robustness.tolist() == expected.tolist()
    assert "of 3 refits of the model on resampled rows." in " ".join(result[0].sentences())
    explainer.explain(REFUSED, n=1, models=2)
    assert refits.first(3) == kept
    back = Explanations.from_json(result.to_json())
    assert back.context.models_are_refits
    assert back.provenance.options["models"] == 3


def test_models_can_be_given_once_for_all_calls(estimator: Any) -> None:
    models = [harder(0.0), harder(50)]
    explainer = ProCE(harder(0.0), NUMBERS, settings=TINY, models=models).fit(FRAME)
    assert explainer.explain(REFUSED, n=1).context.n_models == 2
    assert explainer.explain(REFUSED, n=1, models=models[:1]).context.n_models == 1
    explainer.set_params(models=None)
    assert explainer.explain(REFUSED, n=1).context.n_models == 0


def test_networks_of_ours_come_in_a_list(estimator: Any, explainer: ProCE) -> None:
    network = fit_network(explainer.fitted_.codec.by_range, FRAME, LABEL)
    result = explainer.explain(REFUSED, n=1, models=[network, estimator])
    assert result[0].robustness.tolist()[0] >= 1
    with pytest.raises(SearchError, match=r"models is 5, but .* no estimator .* models=\[\.\.\.\]"):
        ProCE(network, NUMBERS, settings=TINY).fit(FRAME, LABEL).explain(REFUSED, models=5)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"robust": 0, "models": 3}, SearchError, "robust is 0; expected more than 0, at most 1"),
        ({"robust": 1.5, "models": 3}, SearchError, "robust is 1.5"),
        ({"robust": "much", "models": 3}, SearchError, "robust is 'much'"),
        ({"robust": True, "models": 3}, SearchError, "robust is True"),
        ({"robust": np.nan, "models": 3}, SearchError, "robust is nan"),
        ({"models": 0}, SearchError, "models is 0; expected a list of fitted models, or how many"),
        ({"models": -1}, SearchError, "models is -1"),
        ({"models": 2.5}, SearchError, "models is 2.5; expected a list"),
        ({"models": True}, SearchError, "models is True; expected a list"),
        ({"models": "model.onnx"}, SearchError, "models is 'model.onnx'; expected a list"),
        ({"models": []}, SearchError, "models is an empty list"),
        ({"models": [LogisticRegression()]}, ModelError, r"models\[0\]: .* is not fitted"),
        ({"models": [3]}, ModelError, r"models\[0\]: an int offers no way"),
    ],
)
def test_models_that_cannot_be_meant(
    explainer: ProCE, options: Any, error: type[ProceError], message: str
) -> None:
    with pytest.raises(error, match=message):
        explainer.explain(REFUSED, **options)


def test_models_of_other_classes_or_columns_are_refused(explainer: ProCE) -> None:
    named = LogisticRegression().fit(FRAME, np.where(LABEL, "yes", "no"))
    with pytest.raises(ModelError, match=r"models\[1\] has the classes 'no', 'yes'; .* has 0, 1"):
        explainer.explain(REFUSED, models=[harder(0.0), named])
    narrow = LogisticRegression().fit(FRAME.rename(columns={"debt": "debts"}), LABEL)
    with pytest.raises(ModelError, match=r"models\[0\]: .* fitted on the column 'debts'"):
        explainer.explain(REFUSED, models=[narrow])


def test_refits_need_labels_and_an_estimator(estimator: Any, banker: ProCE) -> None:
    unlabelled = ProCE(estimator, NUMBERS, settings=TINY).fit(FRAME)
    with pytest.raises(SearchError, match=r"robust= needs other models.* call fit\(X, y\)"):
        unlabelled.explain(REFUSED, robust=0.95)
    with pytest.raises(SearchError, match=r"models is 4, but .* call fit\(X, y\)"):
        unlabelled.explain(REFUSED, models=4)
    with pytest.raises(SearchError, match=r"no estimator of scikit-learn's kind.* Give models="):
        banker.explain(REFUSED, robust=0.95)


def test_labels_are_checked_when_they_are_given(estimator: Any) -> None:
    explainer = ProCE(estimator, NUMBERS, settings=TINY)
    with pytest.raises(ModelError, match="y has the shape"):
        explainer.fit(FRAME, LABEL[:3])
    with pytest.raises(ModelError, match="y is not of the model's classes"):
        explainer.fit(FRAME, np.where(LABEL, "yes", "no"))
