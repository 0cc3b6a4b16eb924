"""An explainer with another graph or other rules answers as one that was fitted with them."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from sklearn.base import clone

from proce import (
    CausalGraph,
    Dataset,
    Explanations,
    GraphError,
    NotFittedError,
    ProCE,
    RuleError,
    SearchError,
)
from proce.arrays import Floats
from proce.causal import StructuralCausalModel
from proce.schema import Codec

from ...worlds import QUICK, SCHEMA, TINY, bank, people, without_diagnosis

EDGES = (("income", "savings"), ("savings", "debt"), ("savings", "credit_score"))
NODES = ("income", "savings", "debt", "credit_score")
RULES = ("cf.debt <= x.debt", "cf.savings >= x.savings")
SETTINGS = replace(TINY, n_refits=2, autoencoder=QUICK)
Explainer = Callable[..., ProCE]


@pytest.fixture(scope="module")
def fitted(loan: Dataset, trees: Any) -> Explainer:
    """Fit from scratch, with the parameters given."""

    def fit(**parameters: Any) -> ProCE:
        explainer = ProCE(trees, loan.recourse_schema, settings=SETTINGS, seed=5, **parameters)
        return explainer.fit(loan.frame.head(250))

    return fit


@pytest.fixture(scope="module")
def known(fitted: Explainer, loan: Dataset) -> ProCE:
    return fitted(graph=loan.graph, rules=loan.rules)


def explained(explainer: ProCE, rows: Any) -> Explanations:
    return explainer.explain(rows, target=1, progress=without_diagnosis)


def assert_same(one: ProCE, other: ProCE, rows: Any) -> None:
    """Both tell the same, to the last bit."""
    first, second = explained(one, rows), explained(other, rows)
    assert len(first.to_frame())
    assert first.to_frame().equals(second.to_frame())
    for a, b in zip(first, second, strict=True):
        assert np.array_equal(a.losses, b.losses)
        assert np.array_equal(a.probabilities, b.probabilities)
    assert first.provenance.mode == second.provenance.mode
    assert first.provenance.graph == second.provenance.graph


GRAPHS = {
    "none": None,
    "edges": EDGES,
    "graph": CausalGraph(EDGES),
    "networkx": nx.DiGraph(list(EDGES)),
    "bootstrap": CausalGraph(
        EDGES, NODES, resamples=[CausalGraph(EDGES[:1], NODES), CausalGraph(EDGES[1:], NODES)]
    ),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_another_graph(name: str, known: ProCE, fitted: Explainer, rejected: Any) -> None:
    graph = GRAPHS[name]
    expected = fitted(graph=graph, rules=known.rules)
    assert_same(known.with_graph(graph), expected, rejected.head(1))


@pytest.mark.filterwarnings("ignore::proce.DiscoveryWarning")
def test_a_discovered_graph(known: ProCE, fitted: Explainer, rejected: Any) -> None:
    other = known.with_graph("discover")
    assert other.fitted_.mode == "soft"
    assert_same(other, fitted(graph="discover", rules=known.rules), rejected.head(1))


def test_equations_that_are_given(
    known: ProCE, fitted: Explainer, loan: Dataset, rejected: Any
) -> None:
    other = known.with_graph(loan.truth)
    assert other.fitted_.refits is None
    assert_same(other, fitted(graph=loan.truth, rules=known.rules), rejected.head(1))


@pytest.mark.parametrize("mode", ["soft", "paper", "off"])
def test_another_mode_with_it(mode: str, known: ProCE, fitted: Explainer, rejected: Any) -> None:
    other = known.with_graph(EDGES, causal=mode)
    assert (other.causal, other.fitted_.mode) == (mode, mode)
    assert_same(other, fitted(graph=EDGES, causal=mode, rules=known.rules), rejected.head(1))


def test_other_rules(known: ProCE, fitted: Explainer, loan: Dataset, rejected: Any) -> None:
    expected = fitted(graph=loan.graph, rules=RULES)
    assert_same(known.with_rules(RULES), expected, rejected.head(1))
    assert_same(known.with_rules(()), fitted(graph=loan.graph), rejected.head(1))


@pytest.mark.parametrize("causal", ["auto", "off"])
def test_a_rule_with_an_equation_of_the_graph(
    causal: str, fitted: Explainer, loan: Dataset, rejected: Any
) -> None:
    """The mode off keeps no equations, but a fit in it would bind the rule to that of the graph."""
    rules = ["savings ~> credit_score", "age ~> debt"]
    other = fitted(graph=EDGES, causal=causal).with_rules(rules)
    assert_same(other, fitted(graph=EDGES, causal=causal, rules=rules), rejected.head(1))
    again = other.with_graph(EDGES[:1])
    assert_same(again, fitted(graph=EDGES[:1], causal=causal, rules=rules), rejected.head(1))


def test_what_does_not_depend_on_it_is_shared_and_the_first_explainer_stays(
    known: ProCE, loan: Dataset, rejected: Any
) -> None:
    before = explained(known, rejected.head(1)).to_frame()
    parts = known.fitted_
    for other in (known.with_graph(None), known.with_rules(RULES)):
        for name in ("codec", "classifier", "autoencoder", "index", "rows", "looks", "facts"):
            assert getattr(other.fitted_, name) is getattr(parts, name)
    assert known.fitted_ is parts
    assert known.graph is loan.graph
    assert explained(known, rejected.head(1)).to_frame().equals(before)


def test_parameters_and_clones_are_those_of_a_constructor(known: ProCE, loan: Dataset) -> None:
    other = known.with_graph(EDGES, causal="soft").with_rules(RULES)
    changed = {"graph": EDGES, "causal": "soft", "rules": RULES}
    parameters = known.get_params(deep=False)
    assert other.get_params(deep=False) == {**parameters, **changed}
    assert other.with_graph(None, causal="auto").causal == "auto"
    copy = clone(other)
    assert not hasattr(copy, "fitted_")
    assert copy.graph == EDGES


def test_a_parameter_that_was_set_before_counts(known: ProCE, loan: Dataset) -> None:
    other = known.with_rules(known.rules).set_params(rules=RULES)
    assert [rule.text for rule, _ in other.with_graph(EDGES).fitted_.rules] == list(RULES)
    other.set_params(seed=6)
    with pytest.raises(NotFittedError, match="seed of this ProCE was set after the fit"):
        other.with_graph(EDGES)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda e: e.with_graph("discovr"), GraphError, "graph is 'discovr'; expected 'discover'"),
        (lambda e: e.with_graph([("income", "nonsense")]), GraphError, "nonsense"),
        (lambda e: e.with_graph([("debt", "savings"), ("savings", "debt")]), GraphError, "cycle"),
        (lambda e: e.with_graph(None, causal="hard"), SearchError, "needs a causal graph"),
        (lambda e: e.with_graph(EDGES, causal="hrad"), SearchError, "causal is 'hrad'"),
        (lambda e: e.with_rules(["cf.debt <"]), RuleError, "cf.debt <"),
        (lambda e: e.with_rules(["cf.debt > 1 and cf.debt < 0"]), RuleError, "no row can obey"),
        (lambda e: e.with_rules("cf.debt <= x.debt"), SearchError, "rules is .* expected a list"),
    ],
)
def test_what_the_fit_refuses_is_refused(
    change: Any, error: Any, message: str, known: ProCE
) -> None:
    with pytest.raises(error, match=message):
        change(known)


def test_before_fit_nothing_is_exchanged() -> None:
    for change in (lambda e: e.with_graph(None), lambda e: e.with_rules([])):
        with pytest.raises(NotFittedError, match=r"call \.fit\(X\)"):
            change(ProCE(bank))


def test_a_loaded_explainer(known: ProCE, fitted: Explainer, rejected: Any, tmp_path: Path) -> None:
    loaded = ProCE.load(known.save(tmp_path / "saved"))
    expected = fitted(graph=EDGES, rules=RULES)
    assert_same(loaded.with_graph(EDGES).with_rules(RULES), expected, rejected.head(1))
    again = ProCE.load(loaded.with_graph(EDGES).save(tmp_path / "again"))
    assert_same(again.with_rules(RULES), expected, rejected.head(1))


def test_without_the_training_rows_a_graph_is_refused_and_rules_are_not(
    known: ProCE, loan: Dataset, rejected: Any, tmp_path: Path
) -> None:
    loaded = ProCE.load(known.save(tmp_path / "saved", rows=False))
    for graph in (EDGES, "discover", StructuralCausalModel.fit(*_on_rows(loan))):
        with pytest.raises(GraphError, match=r"saved without the training rows.* rows=True"):
            loaded.with_graph(graph)
    assert loaded.with_graph(None).fitted_.mode == "off"
    assert loaded.with_graph(loan.truth).fitted_.mode == "hard"
    found = explained(loaded.with_rules(RULES), rejected.head(1)).counterfactuals()
    assert len(found)
    assert (found["debt"] <= rejected["debt"].iloc[0]).all()
    with pytest.raises(RuleError, match="saved without the training rows"):
        loaded.with_rules(["age ~> amount"])


def _on_rows(loan: Dataset) -> tuple[CausalGraph, Floats, Codec]:
    codec = Codec.fit(loan.recourse_schema, loan.frame)
    return CausalGraph(EDGES), codec.encode(loan.frame), codec


def test_a_schema_that_was_inferred_stays() -> None:
    explainer = ProCE(bank, schema=SCHEMA, settings=TINY).fit(people())
    assert explainer.with_graph([("savings", "debt")]).schema_.names == explainer.schema_.names
