"""The causal graph of an explainer, and graphs that a person makes of it.

An edited graph has its equations fitted anew; all else of the explainer is shared. The last few
edited graphs are kept. Arrows to and from features that a view does not show are left as they are
by whoever edits in that view.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from proce.causal import CausalGraph
from proce.causal.graphs.dag import Dag, Edge, Origin
from proce.causal.graphs.text import read_dagitty
from proce.errors import GraphError
from proce.methods import ProCE
from proce.server.explainer_api.errors import RequestError, brief, listed, near
from proce.server.explainer_api.handlers.role_view import RoleView
from proce.server.explainer_api.lru_cache import LruCache

_MAX_KEPT = 4  # edited graphs
_WITHOUT_ROWS = (
    "the explainer was saved without the rows that equations are fitted on, so its graph cannot be"
    " edited. Save it with its rows."
)


class Graphs:
    """The explainer with its own graph, and with the last few graphs that somebody asked for."""

    def __init__(self, explainer: ProCE) -> None:
        self.explainer = explainer
        self._edited: LruCache[frozenset[Edge], ProCE] = LruCache(_MAX_KEPT)

    @property
    def own(self) -> CausalGraph | None:
        """The graph that the explainer was fitted with; ``None`` where it has none, or no use."""
        scm = self.explainer.fitted_.scm
        return None if scm is None else scm.graph

    @property
    def can_edit(self) -> bool:
        """Whether equations can be fitted to another graph."""
        return self.explainer.fitted_.left_out is None

    def edges(self, role: RoleView) -> tuple[Edge, ...]:
        """Return the edges of the explainer's graph that a view shows."""
        shown = set(role.names)
        return () if self.own is None else tuple(e for e in self.own.edges if shown.issuperset(e))

    def read(self, graph: Mapping[str, Any], role: RoleView) -> CausalGraph:
        """Return the graph over all features that a request asks for, or say what is wrong."""
        edges = edges_of(graph, role)
        if not self.can_edit:
            raise RequestError("graph", _WITHOUT_ROWS)
        return self._whole(edges, role)

    def check(self, graph: Mapping[str, Any], role: RoleView) -> dict[str, Any]:
        """Return whether a graph can be used, and its canonical form, or what is wrong with it."""
        try:
            known = edges_of(graph, role)
            self.read(graph, role)
        except RequestError as error:
            wrong = {"ok": False, "error": error.message, "position": error.position}
            return {**wrong, "edges": [], "dagitty": ""}
        return {
            "ok": True,
            "error": None,
            "position": None,
            "edges": [list(edge) for edge in known],
            "dagitty": dagitty_of(known, role.names),
        }

    def explainer_for(self, graph: CausalGraph | None) -> ProCE:
        """Return the explainer with a graph: fitted now, or a moment ago."""
        if graph is None or (self.own is not None and set(graph.edges) == set(self.own.edges)):
            return self.explainer
        return self._edited.get(frozenset(graph.edges), lambda: self._fitted(graph))

    def _fitted(self, graph: CausalGraph) -> ProCE:
        causal = self.explainer.causal
        return self.explainer.with_graph(graph, "auto" if causal == "off" else causal)

    def _whole(self, edges: Sequence[Edge], role: RoleView) -> CausalGraph:
        """Return the edges that a view shows together with those that it does not."""
        names, own, shown = role.whole.schema.names, self.own, set(role.names)
        hidden = [] if own is None else [e for e in own.edges if not shown.issuperset(e)]
        confidence = {} if own is None else {e: c for e, c in own.confidence.items() if e in edges}
        origin = replace(Origin() if own is None else own.origin, edited=True)
        try:
            return CausalGraph([*edges, *hidden], names, confidence, origin)
        except GraphError as error:
            if not role.redaction.in_text(str(error)):
                raise RequestError("graph", str(error)) from None
        raise RequestError(
            "graph",
            "together with arrows that this view does not show the graph has a cycle. Remove one of"
            " the arrows that you added.",
        )


def edges_of(graph: Mapping[str, Any], role: RoleView) -> tuple[Edge, ...]:
    """Return the edges that a request gives, in the order of the features, or say what is wrong."""
    if graph.get("dagitty") is not None:
        field = "graph.dagitty"
        n_pairs = len(role.names) * (len(role.names) - 1)
        read = _read(lambda: read_dagitty(graph["dagitty"], n_pairs), field)
        nodes, edges = read.nodes, read.edges
        if read.undirected:
            one, other = read.undirected[0]
            message = f"{brief(one)} -- {brief(other)} has no direction; write one as -> or <-."
            raise RequestError(field, message)
    else:
        field = "graph.edges"
        edges = tuple(dict.fromkeys((cause, effect) for cause, effect in graph["edges"]))
        nodes = tuple(dict.fromkeys(name for edge in edges for name in edge))
    for name in nodes:
        if name not in role.codec.schema:
            raise RequestError(
                field,
                f"{brief(name)} is no feature; the features are {listed(role.names)}."
                + near(name, role.names),
            )
    checked = _read(lambda: CausalGraph(edges, role.names), field)
    place = {name: position for position, name in enumerate(role.names)}
    return tuple(sorted(checked.edges, key=lambda edge: (place[edge[0]], place[edge[1]])))


def dagitty_of(edges: Sequence[Edge], names: Sequence[str]) -> str:
    """Return the DAGitty text of a graph; empty where a name cannot be written in it."""
    try:
        return CausalGraph(edges, names).to_dagitty()
    except GraphError:
        return ""


def _read(make: Callable[[], Dag], field: str) -> Dag:
    """Return a graph; what is wrong with it is told of a field, with the place in the text."""
    try:
        return make()
    except GraphError as error:
        raise RequestError(field, str(error), error.position) from None
