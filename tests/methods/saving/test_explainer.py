"""A loaded explainer gives the answers of the one that was saved."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from proce import CausalGraph, Dataset, Explanations, PersistenceError, ProCE, RuleError
from proce.methods.saving.explainer import load_looks, looks_arrays

from ...worlds import SCHEMA, TINY, bank, people, refused, without_diagnosis

WITH_REFITS = replace(TINY, n_refits=2)


def same(one: Explanations, other: Explanations) -> bool:
    """Whether two results have the same rows, probabilities and support, to the last bit."""
    pairs = list(zip(one, other, strict=True))
    return found(one) > 0 and all(
        np.array_equal(a.rows, b.rows)
        and np.array_equal(a.probabilities, b.probabilities)
        and np.array_equal(a.losses, b.losses)
        and (a.support is None) == (b.support is None)
        and (a.support is None or np.array_equal(a.support, b.support))
        for a, b in pairs
    )


def explained(explainer: ProCE, rows: Any, **options: Any) -> Explanations:
    return explainer.explain(rows, progress=without_diagnosis, **options)


def found(result: Explanations) -> int:
    return sum(len(item) for item in result)


@pytest.mark.parametrize("mode", ["hard", "soft", "paper", "off"])
def test_each_causal_mode(
    mode: str, loan: Dataset, trees: Any, rejected: Any, tmp_path: Path
) -> None:
    explainer = ProCE(
        trees,
        schema=loan.recourse_schema,
        graph=loan.graph,
        rules=loan.rules,
        causal=mode,
        settings=WITH_REFITS,
        seed=5,
    ).fit(loan.frame.head(250))
    loaded = ProCE.load(explainer.save(tmp_path / "saved"))
    before, after = (explained(each, rejected.head(2), target=1) for each in (explainer, loaded))
    assert same(before, after)
    assert before.to_frame().equals(after.to_frame())
    assert before.provenance.training_hash == after.provenance.training_hash
    assert (loaded.fitted_.refits is None) == (mode in ("paper", "off"))


def test_a_bootstrap_of_graphs(loan: Dataset, trees: Any, rejected: Any, tmp_path: Path) -> None:
    """The support of an answer is counted over the same graphs, with the same equations."""
    backward = CausalGraph([("credit_score", "savings")], loan.graph.nodes)
    graph = CausalGraph(
        loan.graph.edges, loan.graph.nodes, resamples=[loan.graph, backward, loan.graph]
    )
    explainer = ProCE(trees, loan.recourse_schema, graph, settings=TINY).fit(loan.frame.head(250))
    loaded = ProCE.load(explainer.save(tmp_path / "saved"))
    before, after = (explained(each, rejected.head(2), target=1) for each in (explainer, loaded))
    assert any(item.support is not None and len(item.support) for item in before)
    assert same(before, after)
    assert loaded.fitted_.scm.graph.resamples == graph.resamples  # type: ignore[union-attr]


@pytest.mark.parametrize("causal", ["off", "hard"])
def test_rules_whose_equations_are_not_the_graph(
    causal: str, loan: Dataset, trees: Any, rejected: Any, tmp_path: Path
) -> None:
    """In ``off`` a rule has the equation of a graph that nothing else uses."""
    rules = ["income ~> savings", "savings ~> amount"]
    explainer = ProCE(
        trees, loan.recourse_schema, loan.graph, rules, causal=causal, settings=TINY
    ).fit(loan.frame.head(250))
    loaded = ProCE.load(explainer.save(tmp_path / "saved"))
    assert same(*(explained(each, rejected.head(2), target=1) for each in (explainer, loaded)))
    rows = explainer.fitted_.rows
    assert [list(needs) for _, needs in explainer.fitted_.rules] == [["savings"], ["amount"]]
    for (_, needs), (_, again) in zip(explainer.fitted_.rules, loaded.fitted_.rules, strict=True):
        assert needs.keys() == again.keys()
        assert all(np.array_equal(needs[name](rows), again[name](rows)) for name in needs)


def test_equations_that_are_functions_are_handed_over(
    lender: Callable[[str], ProCE], loan: Dataset, rejected: Any, tmp_path: Path
) -> None:
    explainer = lender("hard")
    folder = explainer.save(tmp_path / "saved")
    with pytest.raises(PersistenceError, match=r"was given as a function.*equations="):
        ProCE.load(folder)
    assert loan.truth is not None
    loaded = ProCE.load(folder, equations=loan.truth.mechanisms)
    assert same(*(explained(each, rejected.head(2), target=1) for each in (explainer, loaded)))


def test_a_loaded_explainer_is_fitted_again_in_the_same_way(
    loan: Dataset, trees: Any, rejected: Any, tmp_path: Path
) -> None:
    explainer = ProCE(
        trees, loan.recourse_schema, loan.graph, loan.rules, settings=TINY, threshold=0.4, seed=2
    ).fit(loan.frame.head(250))
    loaded = ProCE.load(explainer.save(tmp_path / "saved"))
    names = ("rules", "causal", "settings", "threshold", "seed", "device", "schema")
    for name in names:
        assert getattr(loaded, name) == getattr(explainer, name)
    loaded.fit(loan.frame.head(250))
    assert same(*(explained(each, rejected.head(2), target=1) for each in (explainer, loaded)))


def test_a_loaded_explainer_can_be_saved(banker: ProCE, tmp_path: Path) -> None:
    first = ProCE.load(banker.save(tmp_path / "first"), model=bank)
    second = ProCE.load(first.save(tmp_path / "second"), model=bank)
    rows = refused(people(), 4)
    assert same(explained(banker, rows), explained(second, rows))


def test_frames_of_another_library(tmp_path: Path) -> None:
    """The model is asked with frames of the library that it was trained with."""
    polars = pytest.importorskip("polars")

    def asked_with_polars(frame: Any) -> Any:
        assert isinstance(frame, polars.DataFrame)
        return bank(frame.to_pandas())

    frame = polars.from_pandas(people()).with_columns(
        polars.col("home").cast(polars.Enum(["rents", "owns"]))
    )
    explainer = ProCE(asked_with_polars, SCHEMA, settings=TINY).fit(frame)
    loaded = ProCE.load(explainer.save(tmp_path / "saved"), model=asked_with_polars)
    assert loaded.fitted_.codec.layout == explainer.fitted_.codec.layout
    rows = polars.from_pandas(refused(people(), 3).reset_index(drop=True))
    before, after = (explained(each, rows) for each in (explainer, loaded))
    assert same(before, after)
    assert before.to_frame().equals(after.to_frame())


@pytest.fixture(scope="module")
def loaded(loan: Dataset, trees: Any, tmp_path_factory: Any) -> ProCE:
    explainer = ProCE(trees, loan.recourse_schema, loan.graph, settings=WITH_REFITS)
    explainer.fit(loan.frame.head(250))
    return ProCE.load(explainer.save(tmp_path_factory.mktemp("no") / "rows", rows=False))


class TestWithoutRows:
    """``rows=False``: what can do without the training rows works, the rest says why not."""

    def test_rows_are_explained_and_told_how(self, loaded: ProCE, rejected: Any) -> None:
        result = explained(loaded, rejected.head(2), target=1)
        assert found(result) > 0
        assert all("saved without its training rows" in item.notes[-1] for item in result)

    def test_the_rows_are_counted_and_not_there(
        self, loaded: ProCE, loan: Dataset, rejected: Any
    ) -> None:
        result = explained(loaded, rejected.head(1), target=1)
        assert result.provenance.training_rows == 250
        assert len(result.provenance.training_hash) == 64
        assert len(loaded.fitted_.rows) == 0

    def test_a_rule_that_must_be_fitted_is_refused(self, loaded: ProCE, rejected: Any) -> None:
        with pytest.raises(RuleError, match="saved without the training rows"):
            explained(loaded, rejected.head(2), target=1, rules=["savings ~> amount"])

    def test_saved_again_they_are_still_not_there(self, loaded: ProCE, tmp_path: Path) -> None:
        again = ProCE.load(loaded.save(tmp_path / "again", rows=True))
        assert again.fitted_.left_out == loaded.fitted_.left_out

    def test_what_if_needs_none(self, loaded: ProCE, rejected: Any) -> None:
        assert loaded.what_if(rejected.head(1), {"savings": 50_000}).consequences


def test_what_classes_look_like_is_saved_where_it_was_learned_and_else_learned_again(
    tmp_path: Path,
) -> None:
    explainer = ProCE(bank, schema=SCHEMA, settings=TINY).fit(people())
    rows = refused(people(), 3)
    unaware = ProCE.load(explainer.save(tmp_path / "unaware"), model=bank)
    assert not unaware.fitted_.looks.of_all
    before = explained(explainer, rows, pick="typical")
    aware = ProCE.load(explainer.save(tmp_path / "aware"), model=bank)
    assert aware.fitted_.looks.knows({0, 1})
    assert same(before, explained(aware, rows, pick="typical"))
    assert same(before, explained(unaware, rows, pick="typical"))


def test_without_rows_what_was_learned_of_classes_serves_and_what_was_not_is_said(
    tmp_path: Path,
) -> None:
    explainer = ProCE(bank, schema=SCHEMA, settings=TINY).fit(people())
    rows = refused(people(), 3)
    unaware = ProCE.load(explainer.save(tmp_path / "unaware", rows=False), model=bank)
    explained(explainer, rows, pick="typical")
    aware = ProCE.load(explainer.save(tmp_path / "aware", rows=False), model=bank)
    for loaded, is_said in ((unaware, True), (aware, False)):
        result = explained(loaded, rows, pick="typical")
        assert found(result)
        assert all(any("looks like" in note for note in item.notes) == is_said for item in result)


def test_damaged_looks_are_refused() -> None:
    explainer = ProCE(bank, schema=SCHEMA, settings=TINY).fit(people())
    explained(explainer, refused(people(), 1), pick="typical")
    looks, codec = explainer.fitted_.looks, explainer.fitted_.codec
    tensors = looks_arrays(looks)
    assert load_looks(tensors, codec, 2).knows({0, 1})
    for damaged in (
        {name: tensor for name, tensor in tensors.items() if not name.startswith("looks.all")},
        {name: tensor for name, tensor in tensors.items() if not name.startswith("looks.1.0")},
        {name.replace("looks.1", "looks.7"): tensor for name, tensor in tensors.items()},
        {name: tensor.astype(np.float64) for name, tensor in tensors.items()},
    ):
        with pytest.raises(PersistenceError, match="look like is damaged"):
            load_looks(damaged, codec, 2)


FIXTURES = Path(__file__).parents[2] / "fixtures"
LATENTS = "1f0b6370b082cfb4e352eb4028383815963f9426f8bd2ecd1360ad3f2ab8dfb2"


def test_rows_have_the_latents_that_they_had() -> None:
    """Those of the folder were made by matrix products; those of kernels stay to the last bit."""
    fitted = ProCE.load(FIXTURES / "saved_v1").fitted_
    latents, predicted = fitted.index.members
    assert fitted.autoencoder.encode(fitted.rows) == pytest.approx(latents, abs=1e-6)
    assert np.array_equal(fitted.classifier.predict(fitted.rows), predicted)
    rows = fitted.rows.copy()
    rows[::7, ::3] = np.where(fitted.codec.is_number, np.nan, -1.0)[::3]
    content = fitted.autoencoder.encode(rows).tobytes()
    assert hashlib.sha256(content).hexdigest() == LATENTS


def test_format_1() -> None:
    """The model says what it said of rows and of counterfactuals, and finds some for all.

    Which alternatives are shown may change with the search; what was true stays true.
    """
    recorded = json.loads((FIXTURES / "saved_v1_answers.json").read_text("utf-8"))
    loaded = ProCE.load(FIXTURES / "saved_v1")
    codec = loaded.fitted_.codec
    assert loaded.fitted_.settings.scale == "range"  # there was no other
    assert codec.by_range is codec
    rows, answers = pd.DataFrame(recorded["rows"]), pd.DataFrame(recorded["answers"])
    result = loaded.explain(rows, target=1)
    assert [item.probability for item in result] == pytest.approx(recorded["probabilities"])
    assert {str(item.outcome) for item in result} == {"found"}
    again = loaded.explain(answers[rows.columns].astype(rows.dtypes), target=1)
    assert {str(item.outcome) for item in again} == {"already_target"}
    reached = [chance for each in recorded["reached"] for chance in each]
    assert [item.probability for item in again] == pytest.approx(reached)
