"""Causal graphs: order, kinship, and the errors of a graph that cannot be."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proce.causal import CausalGraph
from proce.errors import GraphError

DIAMOND = CausalGraph([("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")])


def test_a_diamond_by_hand() -> None:
    assert DIAMOND.nodes == ("a", "b", "c", "d")
    assert DIAMOND.order == ("a", "b", "c", "d")
    assert DIAMOND.parents("d") == ("b", "c")
    assert DIAMOND.roots == ("a",)
    assert DIAMOND.endogenous == ("b", "c", "d")
    assert DIAMOND.descendants("b") == ("d",)
    assert DIAMOND.descendants("a") == ("b", "c", "d")
    assert DIAMOND.descendants("d") == ()


def test_the_order_follows_the_list_of_nodes_where_causes_allow() -> None:
    graph = CausalGraph([("z", "a"), ("y", "b")], nodes=["b", "a", "z", "y"])
    assert graph.order == ("z", "a", "y", "b")
    assert graph.roots == ("z", "y")


def test_a_feature_without_edges_is_a_root() -> None:
    graph = CausalGraph([("a", "b")], nodes=["lonely", "a", "b"])
    assert graph.roots == ("lonely", "a")
    assert graph.descendants("lonely") == ()
    assert CausalGraph([], nodes=["a", "b"]).endogenous == ()


def test_graphs_are_equal_in_any_order_of_nodes_and_edges() -> None:
    other = CausalGraph([("c", "d"), ("b", "d"), ("a", "c"), ("a", "b")], nodes=tuple("dcba"))
    assert other == DIAMOND
    assert hash(other) == hash(DIAMOND)
    assert CausalGraph([("a", "b")]) != CausalGraph([("b", "a")])
    assert CausalGraph([("a", "b")]) != CausalGraph([("a", "b")], nodes=tuple("abc"))
    assert DIAMOND != "diamond"


@pytest.mark.parametrize(
    ("edges", "path"),
    [
        ([("a", "b"), ("b", "a")], "a -> b -> a"),
        ([("a", "b"), ("b", "c"), ("c", "a")], "a -> b -> c -> a"),
        ([("r", "a"), ("a", "b"), ("b", "c"), ("c", "b"), ("c", "d")], "b -> c -> b"),
        ([("d", "e"), ("b", "c"), ("c", "d"), ("d", "b")], "d -> b -> c -> d"),
    ],
)
def test_a_cycle_is_reported_as_the_path_that_closes_it(
    edges: list[tuple[str, str]], path: str
) -> None:
    with pytest.raises(GraphError, match=f"has a cycle: {path}\\."):
        CausalGraph(edges)


def test_a_feature_is_not_its_own_cause() -> None:
    with pytest.raises(GraphError, match="'income' is given as its own cause"):
        CausalGraph([("income", "income")])


def test_an_edge_or_a_feature_given_twice_is_refused() -> None:
    with pytest.raises(GraphError, match="the edge 'a -> b' is given twice"):
        CausalGraph([("a", "b"), ("a", "b")])
    with pytest.raises(GraphError, match="the feature 'a' is given twice"):
        CausalGraph([("a", "b")], nodes=["a", "b", "a"])


def test_an_unknown_name_comes_with_a_near_one() -> None:
    with pytest.raises(GraphError, match=r"unknown feature 'incme'.*Did you mean 'income'\?"):
        CausalGraph([("incme", "amount")], nodes=["income", "amount"])
    with pytest.raises(GraphError, match="unknown feature 'e'"):
        DIAMOND.parents("e")
    with pytest.raises(GraphError, match="unknown feature 'e'"):
        DIAMOND.descendants("e")


@pytest.mark.parametrize("edge", ["ab", ("a",), ("a", "b", "c"), ("a", 1), None])
def test_what_is_no_pair_of_names_is_refused(edge: object) -> None:
    with pytest.raises(GraphError, match="is not an edge; expected a pair"):
        CausalGraph([edge])  # type: ignore[list-item]


@given(st.sets(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=30), st.randoms())
def test_causes_stand_before_effects_in_any_graph(pairs: set[tuple[int, int]], random) -> None:
    names = list("abcdefghi")
    random.shuffle(names)
    edges = [(names[low], names[high]) for low, high in pairs if low < high]
    graph = CausalGraph(edges, nodes=sorted(names))
    places = {name: place for place, name in enumerate(graph.order)}
    assert sorted(graph.order) == sorted(names)
    assert all(places[cause] < places[effect] for cause, effect in edges)
    for name in names:
        below = set(graph.descendants(name))
        children = {effect for cause, effect in edges if cause == name}
        assert below == children.union(*(graph.descendants(child) for child in children))


@given(st.lists(st.sampled_from("abcdef"), min_size=2, max_size=6, unique=True), st.randoms())
def test_any_ring_is_found(ring: list[str], random) -> None:
    edges = list(zip(ring, ring[1:] + ring[:1], strict=True))
    random.shuffle(edges)
    with pytest.raises(GraphError) as caught:
        CausalGraph(edges, nodes=tuple("abcdef"))
    path = str(caught.value).split("cycle: ")[1].split(".")[0].split(" -> ")
    assert path[0] == path[-1]
    assert set(pairwise(path)) == set(edges)
