"""Graphs as DOT, DAGitty, networkx and JSON, and back."""

import json
import re
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from typing import Any

import networkx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proce.causal import CausalGraph, Origin
from proce.errors import GraphError

NAMES = st.one_of(
    st.sampled_from(["age", "hours per week", 'a "quoted" one', "node", "1.5", "é", "a->b", "#x"]),
    st.text(min_size=1, max_size=8),
)
# What DAGitty can hold: no control characters, no backslash at the end.
PRINTABLE = st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=8).filter(
    lambda name: not name.endswith("\\")
)


@st.composite
def graphs(draw: st.DrawFn, names: st.SearchStrategy[str] = NAMES) -> CausalGraph:
    nodes = draw(st.lists(names, unique=True, max_size=6))
    pairs = [(a, b) for first, a in enumerate(nodes) for b in nodes[first + 1 :]]
    kinds = draw(st.lists(st.sampled_from("del"), min_size=len(pairs), max_size=len(pairs)))
    edges = [pair for pair, kind in zip(pairs, kinds, strict=True) if kind == "e"]
    shares = {edge: draw(st.floats(0, 1)) for edge in edges if draw(st.booleans())}
    return CausalGraph(
        edges,
        draw(st.permutations(nodes)),
        shares,
        Origin(draw(st.sampled_from([None, "pc", 'my "own"']))),
        [pair for pair, kind in zip(pairs, kinds, strict=True) if kind == "l"],
    )


def same(one: CausalGraph, other: CausalGraph) -> bool:
    return (
        one == other
        and one.nodes == other.nodes
        and set(map(frozenset, one.undirected)) == set(map(frozenset, other.undirected))
    )


@given(graphs())
def test_dot_text_comes_back_as_the_same_graph(graph: CausalGraph) -> None:
    back = CausalGraph.from_dot(graph.to_dot())
    assert same(back, graph)
    assert back.confidence == graph.confidence
    assert back.origin.algorithm == graph.origin.algorithm


@given(graphs(PRINTABLE))
def test_dagitty_text_comes_back_as_the_same_graph(graph: CausalGraph) -> None:
    assert same(CausalGraph.from_dagitty(graph.to_dagitty()), graph)


@given(graphs())
def test_networkx_comes_back_as_the_same_graph(graph: CausalGraph) -> None:
    back = CausalGraph.from_networkx(graph.to_networkx())
    assert same(back, graph)
    assert back.confidence == graph.confidence
    assert back.origin.algorithm == graph.origin.algorithm


@given(graphs())
def test_json_comes_back_with_everything(graph: CausalGraph) -> None:
    full = CausalGraph(
        graph.edges,
        graph.nodes,
        graph.confidence,
        Origin("pc", {"alpha": 0.01, "tiers": [["a"]]}, ("a warning",)),
        graph.undirected,
        [CausalGraph(graph.edges[:1], graph.nodes, undirected=graph.undirected), graph],
    )
    back = CausalGraph.from_json(full.to_json())
    assert same(back, full)
    assert (back.edges, back.confidence, back.origin) == (full.edges, full.confidence, full.origin)
    assert back.resamples == full.resamples
    assert back.shares == full.shares


def test_dot_as_people_write_it() -> None:
    text = """
    // what we believe
    strict digraph "loan model" {
        rankdir = LR; node [shape=box];
        age [label="Age of the person", pos="0,1"]
        age -> income -> {savings; debt} [color="red" style=dotted];
        subgraph cluster_home { housing; "hours per week"; }
        # a comment of its own
        income:e -> housing:w
        edge [dir=none] sex -> age /* not
        decided */
    }
    """
    graph = CausalGraph.from_dot(text)
    assert set(graph.edges) == {
        ("age", "income"),
        ("income", "savings"),
        ("income", "debt"),
        ("income", "housing"),
    }
    assert graph.undirected == (("age", "sex"),)
    assert "hours per week" in graph.nodes


@pytest.mark.parametrize(
    ("text", "edges"),
    [
        ("digraph { a [name=x, obj_dict=y] a -> b [src=1; dst=2, obj_dict=3] }", [("a", "b")]),
        ('digraph { "a:b" -> "c#d" -> "e//f" }', [("a:b", "c#d"), ("c#d", "e//f")]),
        ('digraph { "a\\\\\nb" -> c }', [("a\\\nb", "c")]),  # a backslash, then a new line
        ('digraph { "x" + "y" -> "edge" }', [("xy", "edge")]),
        (
            "digraph { node -> edge; subgraphs -> strict }",
            [("node", "edge"), ("subgraphs", "strict")],
        ),
        ('digraph { a -> b; "a" -> "b"; a -> b [dir=forward] }', [("a", "b")]),
        (
            "DIGRAPH g { a -> {b {c}} -> d [dir=back] }",
            [("b", "a"), ("c", "a"), ("d", "b"), ("d", "c")],
        ),
        ("digraph { -1 -> 2.5 -> é -> 𝛼 }", [("-1", "2.5"), ("2.5", "é"), ("é", "𝛼")]),
    ],
)
def test_dot_names_are_read_as_they_are_written(
    text: str, edges: list[tuple[str, str]], capfd: pytest.CaptureFixture[str]
) -> None:
    assert set(CausalGraph.from_dot(text).edges) == set(edges)
    assert capfd.readouterr() == ("", "")


def test_edge_defaults_hold_from_where_they_stand_and_inside_their_braces() -> None:
    text = "digraph { a -> b; { edge [dir=none] c -> d } e -> f; edge [confidence=0.5] g -> h }"
    graph = CausalGraph.from_dot(text)
    assert graph.edges == (("a", "b"), ("e", "f"), ("g", "h"))
    assert graph.undirected == (("c", "d"),)
    assert graph.confidence == {("g", "h"): 0.5}


def test_dagitty_as_the_site_writes_it() -> None:
    text = """dag {
    bb="-2.2,-1.9,1.7,1.5"
    "hours per week" [outcome,pos="0.3,-0.4"]
    age [exposure,pos="-1.2,-0.5"]
    sex
    age -> "hours per week" [pos="-0.4,0.2"]
    "hours per week" <- sex
    }"""
    graph = CausalGraph.from_dagitty(text)
    assert graph.nodes == ("hours per week", "age", "sex")
    assert set(graph.edges) == {("age", "hours per week"), ("sex", "hours per week")}
    assert CausalGraph.from_dagitty("dag{ x y -> z }").nodes == ("x", "y", "z")
    assert CausalGraph.from_dagitty("pdag { a -- b }").undirected == (("a", "b"),)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("digraph { a -> }", "line 1, column 16: expected a name or '{'; found '}'"),
        (
            "digraph {\n a -> b",
            "line 2, column 8: expected a name, an edge 'a -> b' or '}'; found the end",
        ),
        ("digraph {\n\n  a -- b }", "line 3, column 5: found '--' in a digraph; expected '->'"),
        ('digraph { "a -> b }', "line 1, column 11: a quote opens here"),
        ("digraph { a -> b } c", "line 1, column 20: expected nothing after"),
        ("digraph { a -> b [dir=both] }", "line 1, column 23: the direction 'both' has no cause"),
        ("digraph { <b>a</b> -> b }", "column 11: '<' opens a name in HTML"),
        ("digraph { a [=2] }", "column 14: expected an attribute or ']'"),
        ("digraph { a -> b ; % }", "column 20: '%' does not belong here"),
        ("digraph { a [b=] }", "column 16: expected a value; found ']'"),
        ("digraph { a [b=c] ] }", "column 19: expected a name, an edge 'a -> b' or '}'; found ']'"),
        ("digraph { a = b = c }", "column 17: expected a name, an edge 'a -> b' or '}'; found '='"),
        ('digraph { "a" + b }', "column 17: expected quoted text after '+'"),
        ("digraph { a -> b } digraph { c }", "column 20: expected nothing after"),
        ("digraph { {a b}; -> c }", "column 18: expected a name or '}' before this; found '->'"),
        ("digraph { subgraph a; b }", "column 11: 'subgraph' is a word of the language"),
        ("digraph { {a b} [color=red] }", "column 17: expected a name, an edge 'a -> b' or '}'"),
        ("digraph { a:b:c:d }", "column 16: expected a name, an edge 'a -> b' or '}'; found ':'"),
        ("digraph a -> b }", "column 11: expected '{'; found '->'"),
        ("digraphs { a -> b }", "this is a 'digraphs'; expected a digraph"),
        ("", "line 1, column 1: expected the kind of the graph"),
        ("digraph " + "{" * 30, "line 1, column 29: braces are nested more than 20"),
        ("graph { a -- b }", "this is a 'graph'; expected a digraph"),
        ("digraph { a -> b -> a }", "has a cycle: a -> b -> a"),
        (
            "digraph { a -> b [confidence=high] }",
            "column 30: the confidence 'high' is not a number",
        ),
        ("digraph { a -> b [confidence=7] }", "is 7.0; expected a share"),
    ],
)
def test_what_dot_text_is_wrong_says_where(text: str, place: str) -> None:
    with pytest.raises(GraphError) as caught:
        CausalGraph.from_dot(text)
    assert place in str(caught.value)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("dag { a <-> b }", "column 9: a <-> b stands for an unmeasured common cause"),
        ("pag { a -> b }", "this is a 'pag'"),
        ("dag { u [latent] u -> a }", "line 1, column 10: 'u' is marked as latent"),
        ("dag { subgraph a b }", "column 7: 'subgraph' is a word of the language"),
        ("dag {" + "{" * 30, "column 25: braces are nested more than 20"),
        ("digraph { a -> b }", "this is a 'digraph'; expected 'dag { a -> b }'"),
    ],
)
def test_what_dagitty_says_that_a_graph_of_features_cannot_hold(text: str, place: str) -> None:
    with pytest.raises(GraphError) as caught:
        CausalGraph.from_dagitty(text)
    assert place in str(caught.value)


def test_dagitty_cannot_hold_every_name() -> None:
    with pytest.raises(GraphError, match="DAGitty text cannot hold the name"):
        CausalGraph([], nodes=["a\nb"]).to_dagitty()


def test_text_is_bounded() -> None:
    many = "{" + " ".join(f"a{n}" for n in range(400)) + "}"
    with pytest.raises(GraphError, match="more than 100,000 edges"):
        CausalGraph.from_dot(f"digraph {{ {many} -> {many.replace('a', 'b')} }}")
    with pytest.raises(GraphError, match="at most 1,000,000 are read"):
        CausalGraph.from_dot("digraph {" + " " * 1_000_001)


@pytest.mark.parametrize("n", [8_000, pytest.param(40_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("read", [CausalGraph.from_dot, CausalGraph.from_dagitty])
def test_long_text_takes_time_and_memory_in_proportion(
    read: Callable[[str], CausalGraph], n: int
) -> None:
    kind = "digraph" if read is CausalGraph.from_dot else "dag"
    assert len(read(kind + " {" + "a " * 10 * n + "}").nodes) == 1
    defaults = " ".join(f"edge [a{number}=1]" for number in range(n))
    assert read(f"{kind} {{ {defaults} {'a -> b ' * n} }}").edges == (("a", "b"),)


# Parts of a text, with the names and the edges that they stand for.
Part = tuple[str, list[str], list[tuple[str, str]]]
SPACES = st.sampled_from([" ", "\n", "\t", " /* a -> b */ ", " // }\n", " # {\n"])
ATTRIBUTES = st.sampled_from(["", "[]", '[color="a;b", style=dotted]', "[x=1][y;z]"])


@st.composite
def parts_of_names(draw: st.DrawFn) -> Part:
    name = f"n{draw(st.integers(0, 999))}"
    written = draw(st.sampled_from([name, f'"{name}"', f'"" + "{name}"', f"{name}:port:n"]))
    return written, [name], []


@st.composite
def statements(draw: st.DrawFn, inner: st.SearchStrategy[Part]) -> Part:
    """Chains of names and groups, whose edges go from every name of one to all of the next."""
    sides = draw(st.lists(inner, min_size=1, max_size=3))
    space, attributes = draw(SPACES), draw(ATTRIBUTES) if len(sides) > 1 else ""
    text = f"{space}->{space}".join(side[0] for side in sides)
    edges = [edge for side in sides for edge in side[2]]
    for (_, left, _), (_, right, _) in pairwise(sides):
        edges += [(one, other) for one in left for other in right]
    return text + attributes, [name for side in sides for name in side[1]], edges


@st.composite
def groups(draw: st.DrawFn, inner: st.SearchStrategy[Part]) -> Part:
    own = draw(st.lists(statements(inner), max_size=3))
    separator = draw(st.sampled_from(["; ", " ", "\n"])) + draw(SPACES)
    opening = draw(st.sampled_from(["{", "subgraph {", "subgraph cluster_1{"]))
    text = opening + separator.join(["", *(part[0] for part in own), ""]) + "}"
    return text, [n for part in own for n in part[1]], [e for part in own for e in part[2]]


@given(st.lists(statements(st.recursive(parts_of_names(), groups, max_leaves=6)), max_size=4))
def test_chains_and_groups_join_every_name_to_all_of_the_next(parts: list[Part]) -> None:
    text = " ".join(part[0] for part in parts)
    names = dict.fromkeys(name for part in parts for name in part[1])
    edges = dict.fromkeys(edge for part in parts for edge in part[2])
    for read, kind in ((CausalGraph.from_dot, "digraph"), (CausalGraph.from_dagitty, "dag")):
        try:
            expected = CausalGraph(list(edges), list(names))
        except GraphError as error:  # a cycle
            with pytest.raises(GraphError, match=re.escape(str(error)[:20])):
                read(f"{kind} {{ {text} }}")
        else:
            assert same(read(f"{kind} {{ {text} }}"), expected)


@given(st.text(alphabet='digraph{}[]"->=;,ab \\\n#/*@<', max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    for reader in (CausalGraph.from_dot, CausalGraph.from_dagitty, CausalGraph.from_json):
        for whole in (text, "digraph { " + text, "dag {" + text + "}"):
            with suppress(GraphError):
                reader(whole)


def test_networkx_graphs_without_direction_or_names_are_refused() -> None:
    with pytest.raises(GraphError, match="undirected networkx graph"):
        CausalGraph.from_networkx(networkx.Graph([("a", "b")]))
    with pytest.raises(GraphError, match="is not an edge"):
        CausalGraph.from_networkx(networkx.DiGraph([(1, 2)]))


def json_text(**fields: Any) -> str:
    edges = [{"cause": "a", "effect": "b"}]
    return json.dumps({"format": 1, "nodes": ["a", "b"], "edges": edges} | fields)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 2}, "has format 2; this version of proce reads up to 1"),
        ({"format": None}, "format is None; expected 1"),
        ({"nodes": "ab"}, "no list of nodes"),
        ({"edges": [["a", "b"]]}, r"\['a', 'b'\] is not an edge"),
        ({"edges": [{"cause": "a", "effect": "c"}]}, "unknown feature 'c'"),
        ({"edges": [{"cause": "a", "effect": "b", "confidence": "x"}]}, "is 'x'; expected a share"),
        ({"undirected": [["a"]]}, "is not an undirected pair"),
        ({"undirected": 3}, "expected a list"),
        ({"origin": {"algorithm": 3}}, "origin is"),
        ({"resamples": [{"edges": [[0, 9]], "undirected": []}]}, "not a pair of positions"),
        ({"resamples": [[]]}, "a resample of the graph is not of the form"),
    ],
)
def test_json_that_does_not_fit_is_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(GraphError, match=message):
        CausalGraph.from_json(json_text(**change))


@pytest.mark.parametrize("text", ["", "[]", "3", "{", "null"])
def test_what_is_no_json_object_is_refused(text: str) -> None:
    with pytest.raises(GraphError, match="the graph is not"):
        CausalGraph.from_json(text)


def test_a_number_of_many_digits_is_refused() -> None:
    with pytest.raises(GraphError, match="the graph is not JSON: Exceeds the limit"):
        CausalGraph.from_json(f'{{"format": {"1" * 5_000}}}')


@pytest.mark.parametrize("share", [10**400, -(10**400), 1e300, "0.5", True])
def test_a_confidence_that_is_no_share_is_refused(share: Any) -> None:
    edges = [{"cause": "a", "effect": "b", "confidence": share}]
    with pytest.raises(GraphError, match="expected a share from 0 to 1"):
        CausalGraph.from_json(json_text(edges=edges))


def test_settings_that_nest_without_end_are_refused() -> None:
    settings: dict[str, Any] = {}
    for _ in range(300):
        settings = {"a": settings}
    with pytest.raises(GraphError, match="the graph's origin is"):
        CausalGraph.from_json(json_text(origin={"algorithm": "pc", "settings": settings}))


def test_half_a_character_is_refused() -> None:
    with pytest.raises(GraphError, match="half a character"):
        CausalGraph.from_json(json_text(nodes=["a", "b", "\ud800"]))


def test_a_short_text_cannot_ask_for_endless_work() -> None:
    nodes = [f"n{number}" for number in range(2_001)]
    resamples = [{"edges": [], "undirected": []}] * 500
    with pytest.raises(GraphError, match="500 resamples of 2,001 nodes each"):
        CausalGraph.from_json(json_text(nodes=nodes, edges=[], resamples=resamples))
