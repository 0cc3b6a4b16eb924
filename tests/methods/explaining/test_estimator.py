"""ProCE keeps scikit-learn's estimator conventions, and leaves everybody's things alone."""

import pickle
from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError as SklearnNotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import check_is_fitted

from proce import NotFittedError, ProCE, RuleError, SearchError, SearchSettings

from ...worlds import SCHEMA, SETTINGS, TINY, bank, one, people

NUMBERS = people()[["age", "savings", "debt"]]
PARAMETERS = {
    *("model", "schema", "graph", "rules", "causal", "settings", "threshold", "seed", "device"),
    "classes",
    "models",
}


@pytest.fixture(scope="module")
def model() -> Any:
    return LogisticRegression().fit(NUMBERS, bank(people())[:, 1] > 0.5)


def test_parameters_are_those_of_the_constructor(model: Any) -> None:
    explainer = ProCE(model, settings=TINY, seed=7)
    assert set(explainer.get_params(deep=False)) == PARAMETERS
    assert explainer.get_params(deep=False)["model"] is model
    assert explainer.get_params()["model__C"] == 1.0
    assert explainer.get_params()["seed"] == 7


def test_the_constructor_only_stores(model: Any) -> None:
    """Whatever is wrong is said by ``fit``; a clone has the very same objects."""
    rules = ["cf.age >= x.age"]
    explainer = ProCE(model, schema=SCHEMA, rules=rules, causal="nonsense")
    assert explainer.rules is rules
    assert explainer.schema is SCHEMA
    assert explainer.settings is None


def test_parameters_can_be_set(model: Any) -> None:
    explainer = ProCE(model).set_params(seed=3, causal="off", settings=TINY)
    assert (explainer.seed, explainer.causal, explainer.settings) == (3, "off", TINY)
    with pytest.raises(SearchError, match=r"ProCE has no parameter 'sead'.*Did you mean 'seed'"):
        explainer.set_params(sead=3)
    with pytest.raises(SearchError, match="ProCE has no parameter 'settings__margin'"):
        explainer.set_params(settings__margin=0.1)


def test_a_mode_that_is_set_after_the_fit_takes_effect() -> None:
    """Nothing follows from the edge any more once causes are ignored."""
    graph = [("savings", "debt")]
    explainer = ProCE(bank, schema=SCHEMA, graph=graph, settings=TINY).fit(people())
    assert explainer.explain(one()).provenance.mode == "hard"
    explainer.set_params(causal="off")
    assert explainer.explain(one()).provenance.mode == "off"
    fresh = ProCE(bank, schema=SCHEMA, graph=graph, causal="off", settings=TINY).fit(people())
    pd.testing.assert_frame_equal(
        explainer.explain(one()).to_frame(), fresh.explain(one()).to_frame()
    )


def test_rules_that_are_set_after_the_fit_take_effect() -> None:
    explainer = ProCE(bank, schema=SCHEMA, settings=TINY).fit(people())
    explainer.set_params(rules=["cf.savings <= x.savings"])
    assert (explainer.explain(one()).counterfactuals()["savings"] <= 20).all()
    explainer.rules = ["cf.savings > x.savings", "cf.savings < x.savings"]
    with pytest.raises(RuleError, match="contradict"):
        explainer.explain(one())


@pytest.mark.parametrize(
    "changed",
    [{"seed": 1}, {"threshold": 0.7}, {"settings": SETTINGS}, {"graph": [("age", "debt")]}],
)
def test_what_can_take_effect_only_by_a_fit_says_so(changed: dict[str, Any]) -> None:
    explainer = ProCE(bank, schema=SCHEMA, settings=TINY).fit(people()).set_params(**changed)
    name = next(iter(changed))
    with pytest.raises(NotFittedError, match=f"{name} of this ProCE was set after the fit"):
        explainer.explain(one())
    assert explainer.fit(people()).explain(one())[0].outcome == "found"


def test_a_parameter_that_is_set_to_what_it_was_needs_no_fit() -> None:
    explainer = ProCE(bank, schema=SCHEMA, rules=[], settings=TINY).fit(people())
    explainer.set_params(rules=(), seed=0, settings=replace(TINY), schema=SCHEMA)
    assert explainer.explain(one())[0].outcome == "found"


def test_a_call_can_have_a_causal_mode_of_its_own() -> None:
    graph = [("savings", "debt")]
    explainer = ProCE(bank, schema=SCHEMA, graph=graph, settings=TINY).fit(people())
    for mode in ("soft", "paper", "off"):
        called = explainer.explain(one(), causal=mode)
        assert called.provenance.mode == mode
        assert called.provenance.options["causal"] == mode
        fitted = ProCE(bank, schema=SCHEMA, graph=graph, causal=mode, settings=TINY).fit(people())
        pd.testing.assert_frame_equal(called.to_frame(), fitted.explain(one()).to_frame())
    assert explainer.explain(one()).provenance.mode == "hard"


def test_a_call_in_a_mode_that_needs_a_graph_is_refused_without_one() -> None:
    explainer = ProCE(bank, schema=SCHEMA, settings=TINY).fit(people())
    with pytest.raises(SearchError, match=r"causal='hard' needs a causal graph.* fitted without"):
        explainer.explain(one(), causal="hard")
    with pytest.raises(SearchError, match="causal is 'hrad'; expected one of 'auto', 'hard'"):
        explainer.explain(one(), causal="hrad")


def test_a_clone_is_unfitted_and_its_model_is_not(model: Any) -> None:
    explainer = ProCE(model, settings=TINY).fit(NUMBERS)
    copy = clone(explainer)
    with pytest.raises(SklearnNotFittedError):
        check_is_fitted(copy)
    assert copy.model is model
    check_is_fitted(copy.model)
    again = copy.fit(NUMBERS).explain(NUMBERS.head(2)).to_frame()
    assert len(again)
    pd.testing.assert_frame_equal(again, explainer.explain(NUMBERS.head(2)).to_frame())


def test_whether_it_is_fitted_can_be_asked(model: Any) -> None:
    explainer = ProCE(model, settings=TINY)
    assert not explainer.__sklearn_is_fitted__()
    with pytest.raises(SklearnNotFittedError):
        check_is_fitted(explainer)
    assert explainer.fit(NUMBERS) is explainer
    check_is_fitted(explainer)


@pytest.mark.parametrize("ask", [lambda e: e.explain(one()), lambda e: e.what_if(one(), {})])
def test_before_fit_nothing_is_explained(ask: Any) -> None:
    with pytest.raises(NotFittedError, match=r"call \.fit\(X\)"):
        ask(ProCE(bank))


def test_feature_names_and_classes_are_known_after_fit(model: Any) -> None:
    explainer = ProCE(model, settings=TINY).fit(NUMBERS)
    assert explainer.feature_names_in_.tolist() == ["age", "savings", "debt"]
    assert explainer.n_features_in_ == 3
    assert explainer.classes_ == (False, True)


def test_it_prints_as_what_it_was_made_of(model: Any) -> None:
    text = repr(ProCE(model, seed=4))
    assert text.startswith("ProCE(model=LogisticRegression()")
    assert "seed=4" in text


def test_it_has_tags(model: Any) -> None:
    tags = ProCE(model).__sklearn_tags__()
    assert tags.target_tags.required is False


def test_labels_are_accepted_and_ignored(model: Any) -> None:
    with_labels = ProCE(model, settings=TINY).fit(NUMBERS, np.zeros(len(NUMBERS)))
    without = ProCE(model, settings=TINY).fit(NUMBERS)
    expected = without.explain(NUMBERS.head(1)).to_frame()
    assert len(expected)
    pd.testing.assert_frame_equal(with_labels.explain(NUMBERS.head(1)).to_frame(), expected)


def test_fitting_again_forgets_what_was_fitted(model: Any) -> None:
    explainer = ProCE(model, settings=TINY).fit(NUMBERS)
    first = explainer.explain(NUMBERS.head(1)).provenance.training_hash
    assert explainer.fit(NUMBERS.head(100)).explain(NUMBERS.head(1)).provenance.training_rows == 100
    assert explainer.explain(NUMBERS.head(1)).provenance.training_hash != first


class TestLeftAlone:
    """The caller's frame and model are as they were."""

    def test_a_frame_that_is_changed_later_changes_no_result(self) -> None:
        rows = people(n=5, seed=1)
        result = ProCE(bank, schema=SCHEMA, settings=TINY).fit(people()).explain(rows)
        before = result.to_frame()
        assert len(before)
        rows.loc[:, "savings"] = -1
        pd.testing.assert_frame_equal(result.to_frame(), before)

    def test_a_function_that_writes_into_its_frame(self) -> None:
        def careless(frame: pd.DataFrame) -> Any:
            answer = bank(frame)
            frame.loc[:, "savings"] = 0
            return answer

        rows = people(n=5, seed=1)
        kept = rows.copy(deep=True)
        careful = ProCE(bank, schema=SCHEMA, settings=TINY).fit(people()).explain(rows)
        result = ProCE(careless, schema=SCHEMA, settings=TINY).fit(people()).explain(rows)
        pd.testing.assert_frame_equal(rows, kept)
        assert len(result.to_frame())
        pd.testing.assert_frame_equal(result.to_frame(), careful.to_frame())


class TestProvenance:
    """Enough to make a result again."""

    def test_it_is_filled(self, banker: ProCE) -> None:
        record = banker.explain(one(), n=2, vary=["savings"]).provenance
        assert record.method == "ProCE"
        assert record.seed == 0
        assert record.mode == "off"
        assert record.graph is None
        assert record.training_rows == 300
        assert len(record.training_hash) == 64
        assert record.settings["population_size"] == SETTINGS.population_size
        assert record.options == {"n": 2, "pick": "closest", "vary": ["savings"]}
        assert {"python", "proce", "torch", "numpy", "scikit-learn"} <= set(record.versions)
        assert record.elapsed_seconds > 0
        assert 0 < record.generations <= SETTINGS.n_generations
        assert record.evaluations >= SETTINGS.population_size

    def test_the_hash_is_that_of_the_rows(self) -> None:
        first, second = (
            ProCE(bank, schema=SCHEMA, settings=TINY).fit(rows).explain(one()).provenance
            for rows in (people(), people().sample(frac=1, random_state=0))
        )
        again = ProCE(bank, schema=SCHEMA, settings=TINY, seed=5).fit(people()).explain(one())
        assert first.training_hash == again.provenance.training_hash
        assert first.training_hash != second.training_hash

    def test_numpy_values_in_options_become_plain(self, banker: ProCE) -> None:
        result = banker.explain(
            one(),
            n=np.int64(1),
            target=np.int64(1),
            ranges={"savings": (np.int64(0), np.float64(90))},
            effort={"savings": np.float32(2)},
            min_probability=np.float64(0.6),
        )
        options = result.provenance.options
        assert options["ranges"] == {"savings": [0, 90.0]}
        assert [type(end) for end in options["ranges"]["savings"]] == [int, float]
        assert type(options["n"]) is int
        assert result.to_json()


def test_default_settings_are_used_where_none_are_given() -> None:
    explainer = ProCE(bank, schema=SCHEMA).fit(people(60))
    record = explainer.explain(one(), max_evaluations=50).provenance
    assert record.settings["population_size"] == SearchSettings().population_size


def test_it_can_be_saved_by_pickle_and_copied(model: Any) -> None:
    """As processes do that share the work."""
    explainer = ProCE(model, settings=TINY, rules=["cf.age >= x.age"]).fit(NUMBERS)
    expected = explainer.explain(NUMBERS.head(2)).to_frame()
    assert len(expected)
    loaded = pickle.loads(pickle.dumps(explainer))  # noqa: S301 - our own bytes
    for copied in (loaded, deepcopy(explainer)):
        pd.testing.assert_frame_equal(copied.explain(NUMBERS.head(2)).to_frame(), expected)


def test_a_seed_may_come_from_numpy_and_rules_may_be_none(model: Any) -> None:
    plain = ProCE(model, settings=TINY, seed=3).fit(NUMBERS).explain(NUMBERS.head(2))
    other = ProCE(model, settings=TINY, seed=np.int64(3), rules=None).fit(NUMBERS)
    result = other.explain(NUMBERS.head(2), rules=None)
    assert len(result.to_frame())
    pd.testing.assert_frame_equal(plain.to_frame(), result.to_frame())
