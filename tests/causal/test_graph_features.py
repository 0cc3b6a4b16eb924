"""Graphs beside a schema: names, the label, what is fixed; confidence, origin, open pairs."""

import pickle

import networkx
import pytest

from proce.causal import CausalGraph, Origin, PairShares
from proce.errors import GraphError
from proce.schema import Categorical, Continuous, Schema

SCHEMA = Schema(
    [
        Continuous("age", action="increase"),
        Categorical("sex", ("f", "m"), action="fixed"),
        Continuous("income"),
        Continuous("birth_year", action="fixed"),
    ]
)


def test_a_graph_is_laid_over_the_features_of_a_schema() -> None:
    graph = CausalGraph([("sex", "income")], resamples=[CausalGraph([], nodes=["sex", "income"])])
    over = graph.over(SCHEMA)
    assert over.nodes == SCHEMA.names
    assert over.edges == graph.edges
    assert over.resamples[0].nodes == SCHEMA.names


def test_a_name_that_is_no_feature_comes_with_a_near_one() -> None:
    with pytest.raises(GraphError, match=r"'incme', which is not a feature.*Did you mean 'income'"):
        CausalGraph([("age", "incme")]).over(SCHEMA)


def test_a_graph_that_names_the_label_is_refused_as_such() -> None:
    with pytest.raises(GraphError, match="'approved', which is the label and not a feature"):
        CausalGraph([("income", "approved")]).over(SCHEMA, label="approved")


def test_edges_into_fixed_features_are_allowed_and_explained() -> None:
    graph = CausalGraph([("age", "birth_year"), ("sex", "birth_year"), ("age", "income")])
    assert graph.cut_edges(SCHEMA) == (("age", "birth_year"), ("sex", "birth_year"))
    assert graph.cut_sentence(SCHEMA) == (
        "These features are fixed and never move, so the edges into them are cut: birth_year"
        " (from age, sex)."
    )
    assert CausalGraph([("age", "income")]).cut_sentence(SCHEMA) == ""


def test_one_entry_takes_graphs_edges_and_networkx() -> None:
    graph = CausalGraph([("a", "b")])
    assert CausalGraph.accept(graph) is graph
    assert CausalGraph.accept([("a", "b")]) == graph
    assert CausalGraph.accept(pair for pair in [("a", "b")]) == graph
    assert CausalGraph.accept(networkx.DiGraph([("a", "b")])) == graph


@pytest.mark.parametrize("thing", ["digraph { a -> b }", 3, None, {"a": "b"}, b"ab"])
def test_the_entry_refuses_what_is_none_of_these(thing: object) -> None:
    with pytest.raises(GraphError, match="expected a CausalGraph, a list of"):
        CausalGraph.accept(thing)


def test_confidence_is_a_share_of_an_edge_that_exists() -> None:
    graph = CausalGraph([("a", "b"), ("b", "c")], confidence={("b", "c"): 1})
    assert graph.confidence == {("b", "c"): 1.0}
    with pytest.raises(GraphError, match="a confidence for b -> a, which is not an edge"):
        CausalGraph([("a", "b")], confidence={("b", "a"): 0.5})
    for share in (1.2, -0.1, float("nan"), "high", True):
        with pytest.raises(GraphError, match="expected a share from 0 to 1"):
            CausalGraph([("a", "b")], confidence={("a", "b"): share})  # type: ignore[dict-item]


def test_undirected_pairs_are_no_edges_until_a_person_decides() -> None:
    graph = CausalGraph([("a", "b")], nodes=tuple("abcd"), undirected=[("c", "b"), ("d", "a")])
    assert graph.undirected == (("a", "d"), ("b", "c"))
    assert graph.roots == ("a", "c", "d")
    decided = graph.decide(("c", "b"))
    assert decided.edges == (("a", "b"), ("c", "b"))
    assert decided.undirected == (("a", "d"),)
    with pytest.raises(GraphError, match=r"c -> d was not left undirected; .* a -- d, b -- c"):
        graph.decide(("c", "d"))
    with pytest.raises(GraphError, match="unknown feature 'x'"):
        graph.decide(("x", "a"))


def test_a_decision_that_closes_a_cycle_is_refused() -> None:
    graph = CausalGraph([("a", "b"), ("b", "c")], undirected=[("a", "c")])
    with pytest.raises(GraphError, match="has a cycle: a -> b -> c -> a"):
        graph.decide(("c", "a"))


def test_a_pair_is_an_edge_or_undirected() -> None:
    with pytest.raises(GraphError, match="b -> a is an edge and an undirected pair"):
        CausalGraph([("b", "a")], undirected=[("a", "b")])
    with pytest.raises(GraphError, match="undirected pair 'a -- b' is given twice"):
        CausalGraph([], undirected=[("a", "b"), ("b", "a")])


def test_shares_count_every_pair_and_direction_of_the_resamples() -> None:
    resamples = [
        CausalGraph([("a", "b")], nodes=tuple("abc")),
        CausalGraph([("b", "a"), ("c", "b")], nodes=tuple("abc")),
        CausalGraph([], nodes=tuple("cba"), undirected=[("a", "b")]),
        CausalGraph([("a", "b")], nodes=tuple("abc")),
    ]
    graph = CausalGraph([("a", "b")], nodes=tuple("abc"), resamples=resamples)
    assert graph.shares == (
        PairShares(("a", "b"), forward=0.5, backward=0.25, undirected=0.25),
        PairShares(("b", "c"), forward=0.0, backward=0.25, undirected=0.0),
    )
    assert graph.shares[0].joined == 1.0
    with pytest.raises(GraphError, match="other nodes than the graph"):
        CausalGraph([("a", "b")], resamples=[CausalGraph([], nodes=tuple("abc"))])


def test_equality_is_of_nodes_and_edges_alone() -> None:
    plain = CausalGraph([("a", "b")], nodes=tuple("abc"))
    rich = CausalGraph(
        [("a", "b")], tuple("cba"), {("a", "b"): 0.4}, Origin("pc"), [("b", "c")], [plain]
    )
    assert plain == rich
    assert hash(plain) == hash(rich)


def test_a_graph_says_where_it_comes_from() -> None:
    given = CausalGraph([("a", "b")])
    assert not given.origin.discovered
    assert repr(given) == "CausalGraph(2 features, 1 edge, given)"
    proposed = CausalGraph(
        [("a", "b")], tuple("abc"), {("a", "b"): 0.42}, Origin("pc"), [("b", "c")]
    )
    assert proposed.origin.discovered
    assert str(proposed).splitlines() == [
        "CausalGraph(3 features, 1 edge, 1 undirected, discovered by pc)",
        "a -> b  42%",
        "b -- c  undecided",
    ]


def test_a_graph_survives_pickling_between_processes() -> None:
    graph = CausalGraph([("a", "b")], origin=Origin("pc", {"alpha": 0.1}))
    back = pickle.loads(pickle.dumps(graph))  # noqa: S301
    assert back == graph
    assert back.origin == graph.origin


def test_names_must_be_text() -> None:
    with pytest.raises(GraphError, match="3, which is not the name of a feature"):
        CausalGraph([], nodes=["a", 3])  # type: ignore[list-item]
    with pytest.raises(GraphError, match="'', which is not the name of a feature"):
        CausalGraph([], nodes=["a", ""])
