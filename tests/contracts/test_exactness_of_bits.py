"""A model that depends on every bit of its input is told of truly, whoever explains it how."""

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proce import ProCE, SearchSettings
from proce.classifier import as_classifier
from proce.explanation import Explanations, verify
from proce.methods import Method
from proce.schema import Codec, Continuous, Schema

from ..worlds import TINY, two_classes
from .method_cases import METHODS, Made, wachter

SCHEMA = Schema([Continuous("debt"), Continuous("rate"), Continuous("age", step=1)])
EXACTNESS = Path(__file__).parents[2] / "benchmarks" / "exactness.py"


def households(n: int, seed: int) -> pd.DataFrame:
    draw = np.random.default_rng(seed)
    debt, rate = np.exp(draw.normal(8, 1.5, n)), draw.normal(0.05, 0.02, n)
    return pd.DataFrame({"debt": debt, "rate": rate, "age": draw.integers(18, 90, n)})


def bits(frame: pd.DataFrame) -> Any:
    """Return probabilities that jump wherever a single bit of a cell changes."""
    mixed = np.zeros(len(frame), dtype=np.uint64)
    for name in ("debt", "rate", "age"):
        cells = frame[name].to_numpy(dtype=np.float64).view(np.uint64)
        mixed = (mixed ^ cells) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    return two_classes((mixed >> np.uint64(11)) / 2.0**53)


def assert_as_told(result: Explanations, model: Any) -> None:
    """Check what is told against the model, asked about the frame that is returned."""
    answers, ways = model(result.counterfactuals()), result.rows.counterfactuals
    target = result.rows.target[ways.owner]
    assert len(target), "a search that finds nothing proves nothing"
    assert answers.argmax(1).tolist() == target.tolist()
    assert ways.probabilities.tolist() == answers[np.arange(len(target)), target].tolist()


TRAINING = households(200, 0)


@pytest.fixture(scope="module")
def explainer() -> ProCE:
    return ProCE(bits, SCHEMA, settings=TINY).fit(TRAINING)


@settings(max_examples=8)
@given(st.integers(1, 10_000))
def test_the_search_asks_what_is_shown(explainer: ProCE, seed: int) -> None:
    """No candidate fails the last check: the search itself saw what the person gets."""
    rows = households(8, seed)
    result = explainer.explain(rows, n=3)
    assert_as_told(result, bits)
    assert result.rows.dropped.sum() == 0
    told = result.rows.probability.tolist()
    before = bits(rows)[np.arange(len(rows)), result.rows.target]
    assert told == before.tolist()


@pytest.mark.parametrize("dtype", ["float32", "Float64", "double[pyarrow]", "float[pyarrow]"])
def test_other_dtypes_are_checked_as_they_are_returned(explainer: ProCE, dtype: str) -> None:
    rows = households(12, 3).astype({"debt": dtype, "rate": dtype})
    result = explainer.explain(rows, n=2)
    assert result.counterfactuals().dtypes.tolist() == rows.dtypes.tolist()
    assert_as_told(result, bits)


@pytest.mark.parametrize("make", [METHODS[0], METHODS[1]], ids=lambda make: make.__name__)
def test_whole_numbers_where_the_training_rows_had_none_are_told_whole(make: Made) -> None:
    """A person with a debt of 3,000 gets whole numbers back, and reads the same in the changes."""
    rows = households(12, 3).astype({"debt": "int64"})
    result = make(bits, SCHEMA).fit(TRAINING).explain(rows, n=2)
    assert result.counterfactuals()["debt"].dtype == "int64"
    assert_as_told(result, bits)
    changes = result.changes()
    debts = changes[changes["feature"] == "debt"]
    assert len(debts)
    assert [float(after).is_integer() for after in debts["after"]] == [True] * len(debts)
    assert (debts["after"] != debts["before"]).all()


def test_the_settings_of_the_paper_are_exact_too() -> None:
    """Without a grid for numbers the returned ones have all their digits."""
    small = {"population_size": 16, "n_offspring": 16, "n_generations": 6}
    paper = SearchSettings(**small, scale="range", n_refits=0, autoencoder=TINY.autoencoder)
    result = ProCE(bits, SCHEMA, settings=paper).fit(TRAINING).explain(households(12, 4), n=3)
    assert_as_told(result, bits)
    again = Explanations.from_json(result.to_json())
    assert_as_told(again, bits)


@pytest.mark.parametrize(
    "make", [make for make in METHODS if make is not wachter], ids=lambda make: make.__name__
)
def test_published_methods_tell_what_the_model_says(make: Made) -> None:
    """Wachter needs a gradient, which bits do not have."""
    method: Method = make(bits, SCHEMA)
    result = method.fit(TRAINING).explain(households(10, 5), n=2)
    assert_as_told(result, bits)


def test_a_what_if_is_asked_at_the_row_that_it_shows(explainer: ProCE) -> None:
    for seed in range(20):
        row = households(1, seed)
        answer = explainer.what_if(row, {"rate": 0.03})
        assert list(answer.probabilities.values()) == bits(answer.frame)[0].tolist()
        assert answer.before == bits(row)[0].argmax()
        assert answer.after == bits(answer.frame)[0].argmax()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_receipt_is_checked_at_the_values_that_were_told(explainer: ProCE, dtype: str) -> None:
    codec = Codec.fit(SCHEMA, TRAINING)
    rows = households(10, 6).astype({"debt": dtype, "rate": dtype})
    result = explainer.explain(rows, n=2)
    for position in range(len(result)):
        verdict = verify(result.receipt(position), as_classifier(bits, codec), codec)
        assert [answer.chance_now for answer in verdict.answers] == [
            answer.chance_then for answer in verdict.answers
        ]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["histograms", "forest", "tree", "lightgbm", "xgboost"])
def test_of_a_hundred_thousand_returned_rows_none_is_wrong(name: str) -> None:
    """Twenty thousand of each kind of trees, trained on the unrounded floats that are explained."""
    if name in ("lightgbm", "xgboost"):
        pytest.importorskip(name)
    spec = importlib.util.spec_from_file_location("exactness", EXACTNESS)
    assert spec is not None
    assert spec.loader is not None
    exactness = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(exactness)
    tally = exactness.send_back_at_least(name, 20_000)
    assert tally.rows >= 20_000
    assert tally.is_clean, tally
