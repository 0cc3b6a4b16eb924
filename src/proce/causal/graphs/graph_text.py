"""Graphs as networkx, and as the text of Graphviz and DAGitty, both ways."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from proce.causal.graphs.dot_text import WrittenEdge, WrittenGraph, mistake, read
from proce.causal.graphs.edges import Edge
from proce.causal.graphs.origin import Origin
from proce.errors import GraphError

if TYPE_CHECKING:
    from proce.causal.graph import CausalGraph

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_KEYWORDS = {"graph", "digraph", "subgraph", "node", "edge", "strict", "dag", "pdag", "mag", "pag"}
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_REFUSED = {
    "<->": "an unmeasured common cause",
    "<-@": "an end that may be either",
    "@->": "an end that may be either",
    "@-@": "two ends that may be either",
    "@--": "an end that may be either",
    "--@": "an end that may be either",
}


def from_networkx(graph: Any) -> "CausalGraph":
    """Read a ``networkx.DiGraph``, with the ``confidence`` of its edges where they have it."""
    if not graph.is_directed():
        raise GraphError(
            "got an undirected networkx graph; expected a DiGraph, whose edges say which feature"
            " is the cause."
        )
    edges = list(graph.edges(data="confidence"))
    return _graph(
        nodes=list(graph.nodes),
        edges=[(a, b) for a, b, _ in edges],
        confidence={(a, b): share for a, b, share in edges if share is not None},
        undirected=[(a, b) for a, b in graph.graph.get("undirected", ())],
        algorithm=graph.graph.get("discovered_by"),
    )


def to_networkx(graph: "CausalGraph") -> Any:
    """Return a ``networkx.DiGraph``; undirected pairs stand in ``.graph["undirected"]``."""
    import networkx

    digraph = networkx.DiGraph()
    digraph.add_nodes_from(graph.nodes)
    digraph.add_edges_from(graph.edges)
    for edge, share in graph.confidence.items():
        digraph.edges[edge]["confidence"] = share
    if graph.undirected:
        digraph.graph["undirected"] = list(graph.undirected)
    if graph.origin.algorithm is not None:
        digraph.graph["discovered_by"] = graph.origin.algorithm
    return digraph


def from_dot(text: str) -> "CausalGraph":
    """Read Graphviz text: ``digraph { age -> income; }``.

    A node is known by its name, not its label. ``dir=none`` leaves a pair undirected.
    """
    written = read(text, "DOT")
    if written.kind != "digraph":
        raise GraphError(
            f"DOT text: this is a {written.kind!r}; expected a digraph, whose edges say which"
            " feature is the cause."
        )
    return _from_text(written, lambda edge: _dot_directions(edge, text))


def to_dot(graph: "CausalGraph") -> str:
    """Return Graphviz text, with confidences; undirected pairs have ``dir=none``."""
    name = {each: _quoted(each.replace("\\", r"\\")) for each in graph.nodes}
    sure = {edge: f' [confidence="{share!r}"]' for edge, share in graph.confidence.items()}
    lines = ["rankdir=LR;"]
    if graph.origin.algorithm is not None:
        lines.append(f"discovered_by={_quoted(graph.origin.algorithm)};")
    lines += [f"{name[each]};" for each in graph.nodes]
    lines += [f"{name[a]} -> {name[b]}{sure.get((a, b), '')};" for a, b in graph.edges]
    lines += [f"{name[a]} -> {name[b]} [dir=none];" for a, b in graph.undirected]
    return "\n".join(["digraph {", *(f"  {each}" for each in lines), "}", ""])


def from_dagitty(text: str) -> "CausalGraph":
    """Read DAGitty text: ``dag { age -> income }``; a ``pdag`` may hold ``a -- b``."""
    written = read(text, "DAGitty")
    if written.kind not in ("dag", "pdag"):
        raise GraphError(
            f"DAGitty text: this is a {written.kind!r}; expected 'dag {{ a -> b }}', or a 'pdag'"
            " where some pairs are left undirected."
        )
    for name, attributes in written.nodes.items():
        if "latent" in attributes or "unobserved" in attributes:
            raise GraphError(
                f"DAGitty text: {name!r} is marked as latent. A graph here is over measured"
                " features; remove it, and know that consequences through it are not seen."
            )
    return _from_text(written, lambda edge: _dagitty_directions(edge, text))


def to_dagitty(graph: "CausalGraph") -> str:
    """Return DAGitty text, without confidences; undirected pairs are ``a -- b``."""
    for each in graph.nodes:
        if each.endswith("\\") or _CONTROL.search(each):
            raise GraphError(
                f"DAGitty text cannot hold the name {each!r}: it has a control character, or ends"
                " in a backslash. Rename the feature, or write JSON."
            )
    name = {each: _quoted(each) for each in graph.nodes}
    lines = [name[each] for each in graph.nodes]
    lines += [f"{name[a]} -> {name[b]}" for a, b in graph.edges]
    lines += [f"{name[a]} -- {name[b]}" for a, b in graph.undirected]
    return "\n".join(["pdag {" if graph.undirected else "dag {", *lines, "}", ""])


def _quoted(name: str) -> str:
    if _PLAIN.fullmatch(name) and name.lower() not in _KEYWORDS:
        return name
    return '"' + name.replace('"', r"\"") + '"'


def _dot_directions(edge: WrittenEdge, text: str) -> tuple[Edge, bool]:
    """Return ``(cause, effect)``, and whether the direction is known."""
    if edge.sign != "->":
        raise mistake("DOT", text, edge.at, f"found {edge.sign!r} in a digraph; expected '->'.")
    match edge.attributes.get("dir", "forward"):
        case "forward":
            return (edge.left, edge.right), True
        case "back":
            return (edge.right, edge.left), True
        case "none":
            return (edge.left, edge.right), False
        case other:
            what = f"the direction {other!r} has no cause; expected forward, back or none."
            raise mistake("DOT", text, edge.at, what)


def _dagitty_directions(edge: WrittenEdge, text: str) -> tuple[Edge, bool]:
    if edge.sign in _REFUSED:
        what = (
            f"{edge.left} {edge.sign} {edge.right} stands for {_REFUSED[edge.sign]}, which a causal"
            " graph of features cannot hold; give a direction, or remove the edge."
        )
        raise mistake("DAGitty", text, edge.at, what)
    ends = (edge.right, edge.left) if edge.sign == "<-" else (edge.left, edge.right)
    return ends, edge.sign != "--"


def _from_text(
    written: WrittenGraph, directions: Callable[[WrittenEdge], tuple[Edge, bool]]
) -> "CausalGraph":
    """Build what was written; an edge that is written twice counts once."""
    edges: dict[Edge, None] = {}
    undirected: dict[Edge, None] = {}
    confidence: dict[Edge, float] = {}
    for edge in written.edges:
        ends, known = directions(edge)
        if known:
            edges[ends] = None
        elif ends[::-1] not in undirected:
            undirected[ends] = None
        if known and "confidence" in edge.attributes:
            confidence[ends] = _number(edge.attributes["confidence"])
    return _graph(
        nodes=written.nodes,
        edges=edges,
        confidence=confidence,
        undirected=undirected,
        algorithm=written.attributes.get("discovered_by"),
    )


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise GraphError(f"the confidence {text!r} is not a number; expected 0 to 1.") from None


def _graph(
    nodes: Iterable[str],
    edges: Iterable[Edge],
    confidence: Mapping[Edge, float],
    undirected: Iterable[Edge],
    algorithm: str | None,
) -> "CausalGraph":
    from proce.causal.graph import CausalGraph

    return CausalGraph(edges, nodes, confidence, Origin(algorithm), undirected)
