"""A directed acyclic graph over features; edges are ``(cause, effect)``."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from proce.causal.discovery.discover import discover
from proce.causal.drawing.plot import plot
from proce.causal.graphs.edges import (
    Edge as Edge,
)
from proce.causal.graphs.edges import (
    arrow,
    checked_confidence,
    checked_edge,
    checked_nodes,
    checked_undirected,
    cycle_among,
    line,
    refuse_repeats,
    require_name,
    sorted_pair,
)
from proce.causal.graphs.graph_json import from_json, to_json
from proce.causal.graphs.graph_text import (
    from_dagitty,
    from_dot,
    from_networkx,
    to_dagitty,
    to_dot,
    to_networkx,
)
from proce.causal.graphs.origin import Origin, PairShares, pair_shares
from proce.errors import GraphError, did_you_mean
from proce.schema import Action, Schema


@dataclass(frozen=True, eq=False, repr=False)
class CausalGraph:
    """Which feature causes which.

    Two graphs are equal where they have the same nodes and the same edges, in any order;
    confidence, origin, undirected pairs and resamples do not count.

    Parameters
    ----------
    edges
        Pairs ``(cause, effect)``.
    nodes
        All features, in the order in which they are listed; ``None`` takes them from the
        edges and the undirected pairs, in the order in which they first appear.
    confidence
        For some edges or all of them, the share in [0, 1] of the resamples that found it.
    origin
        Given by a person, or discovered by which algorithm with which settings.
    undirected
        Pairs that are joined, but which causes which is left for a person to decide
        (``decide``). They are not edges: nothing is propagated along them.
    resamples
        The graphs that were discovered on resampled rows, over the same nodes.

    Examples
    --------
    >>> graph = CausalGraph([("income", "amount"), ("age", "income")])
    >>> graph.order
    ('age', 'income', 'amount')
    >>> graph.parents("amount")
    ('income',)
    """

    edges: tuple[Edge, ...]
    nodes: tuple[str, ...]
    confidence: Mapping[Edge, float]
    origin: Origin
    undirected: tuple[Edge, ...]
    resamples: "tuple[CausalGraph, ...]"

    def __init__(
        self,
        edges: Iterable[Edge],
        nodes: Iterable[str] | None = None,
        confidence: Mapping[Edge, float] | None = None,
        origin: Origin | None = None,
        undirected: Iterable[Edge] = (),
        resamples: "Iterable[CausalGraph]" = (),
    ) -> None:
        pairs = tuple(checked_edge(edge) for edge in edges)
        open_pairs = tuple(checked_edge(edge) for edge in undirected)
        named = (*pairs, *open_pairs)
        given = dict.fromkeys(name for edge in named for name in edge) if nodes is None else nodes
        listed = checked_nodes(given, named)
        refuse_repeats("edge", [arrow(edge) for edge in pairs])
        fields = {
            "edges": pairs,
            "nodes": listed,
            "confidence": checked_confidence(confidence or {}, pairs),
            "origin": origin or Origin(),
            "undirected": checked_undirected(open_pairs, pairs, listed),
            "resamples": tuple(resamples),
        }
        for field, value in fields.items():
            object.__setattr__(self, field, value)
        for graph in self.resamples:
            if set(graph.nodes) != set(listed):
                raise GraphError("a resampled graph has other nodes than the graph itself.")
        if len(self.order) < len(self.nodes):
            stuck = [name for name in self.nodes if name not in set(self.order)]
            path = " -> ".join(cycle_among(stuck, self._parents))
            raise GraphError(
                f"the graph has a cycle: {path}. A cause cannot be its own effect; remove one of"
                " these edges."
            )

    @classmethod
    def accept(cls, graph: Any) -> "CausalGraph":
        """Return a graph from a graph, a list of edges or a ``networkx.DiGraph``."""
        if isinstance(graph, CausalGraph):
            return graph
        if hasattr(graph, "is_directed") and hasattr(graph, "edges"):
            return cls.from_networkx(graph)
        if isinstance(graph, Iterable) and not isinstance(graph, str | bytes | Mapping):
            return cls(graph)
        raise GraphError(
            f"got {_brief(graph)}; expected a CausalGraph, a list of (cause, effect) or a"
            " networkx.DiGraph. Text is read by CausalGraph.from_dot, from_dagitty or from_json."
        )

    discover = staticmethod(discover)
    from_networkx = staticmethod(from_networkx)
    from_dot = staticmethod(from_dot)
    from_dagitty = staticmethod(from_dagitty)
    from_json = staticmethod(from_json)
    to_networkx = to_networkx
    to_dot = to_dot
    to_dagitty = to_dagitty
    to_json = to_json
    plot = plot

    def parents(self, name: str) -> tuple[str, ...]:
        """Return the direct causes of a feature."""
        require_name(name, self.nodes)
        return self._parents[name]

    def descendants(self, name: str) -> tuple[str, ...]:
        """Return all features that a feature causes, directly or not, in causal order."""
        require_name(name, self.nodes)
        reached = {name}
        for each in self.order:
            if reached.intersection(self._parents[each]):
                reached.add(each)
        return tuple(each for each in self.order if each in reached and each != name)

    def over(self, schema: Schema, label: str | None = None) -> "CausalGraph":
        """Return the graph with the schema's features as its nodes, in their order.

        Parameters
        ----------
        schema
            Must hold every feature that the graph names.
        label
            The name of what the model predicts, for a clear message where the graph has it.
        """
        for name in self.nodes:
            if name in schema:
                continue
            if name == label:
                raise GraphError(
                    f"the graph names {name!r}, which is the label and not a feature: a graph is"
                    " over what the model sees. Remove it and its edges."
                )
            raise GraphError(
                f"the graph names {name!r}, which is not a feature; the features are"
                f" {', '.join(schema.names)}." + did_you_mean(name, schema.names)
            )
        return replace(
            self, nodes=schema.names, resamples=tuple(g.over(schema) for g in self.resamples)
        )

    def cut_edges(self, schema: Schema) -> tuple[Edge, ...]:
        """Return the edges into features that the schema holds fixed: nothing flows along them."""
        fixed = {feature.name for feature in schema if feature.action is Action.FIXED}
        return tuple(edge for edge in self.edges if edge[1] in fixed)

    def cut_sentence(self, schema: Schema) -> str:
        """Say which edges are cut because their effect is fixed; empty where none is."""
        effects = dict.fromkeys(effect for _, effect in self.cut_edges(schema))
        if not effects:
            return ""
        parts = [f"{name} (from {', '.join(self.parents(name))})" for name in effects]
        return (
            f"These features are fixed and never move, so the edges into them are cut:"
            f" {'; '.join(parts)}."
        )

    def decide(self, *edges: Edge) -> "CausalGraph":
        """Return the graph with undirected pairs turned into these edges ``(cause, effect)``."""
        place = {name: at for at, name in enumerate(self.nodes)}
        decided = []
        for edge in map(checked_edge, edges):
            for name in edge:
                require_name(name, self.nodes)
            decided.append(sorted_pair(edge, place))
            if decided[-1] not in self.undirected:
                raise GraphError(
                    f"{arrow(edge)} was not left undirected; the undirected pairs are"
                    f" {', '.join(line(pair) for pair in self.undirected) or 'none'}."
                )
        left = tuple(pair for pair in self.undirected if pair not in decided)
        return replace(self, edges=(*self.edges, *edges), undirected=left)

    @cached_property
    def shares(self) -> tuple[PairShares, ...]:
        """How often the resamples joined each pair, and in which direction."""
        return pair_shares(self.nodes, self.resamples)

    @cached_property
    def order(self) -> tuple[str, ...]:
        """All features, causes before effects; otherwise as listed in ``nodes``."""
        waiting = {name: len(self._parents[name]) for name in self.nodes}
        done: list[str] = []
        while ready := next((name for name, causes in waiting.items() if causes == 0), None):
            del waiting[ready]
            done.append(ready)
            for effect in self._children[ready]:
                waiting[effect] -= 1
        return tuple(done)

    @cached_property
    def roots(self) -> tuple[str, ...]:
        """The features without a cause (the paper's U), in causal order."""
        return tuple(name for name in self.order if not self._parents[name])

    @cached_property
    def endogenous(self) -> tuple[str, ...]:
        """The features with a cause (the paper's V), in causal order."""
        return tuple(name for name in self.order if self._parents[name])

    @cached_property
    def _parents(self) -> dict[str, tuple[str, ...]]:
        causes: dict[str, set[str]] = {name: set() for name in self.nodes}
        for cause, effect in self.edges:
            causes[effect].add(cause)
        return {name: tuple(n for n in self.nodes if n in causes[name]) for name in self.nodes}

    @cached_property
    def _children(self) -> dict[str, list[str]]:
        effects: dict[str, list[str]] = {name: [] for name in self.nodes}
        for cause, effect in self.edges:
            effects[cause].append(effect)
        return effects

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CausalGraph):
            return NotImplemented
        return set(self.nodes) == set(other.nodes) and set(self.edges) == set(other.edges)

    def __hash__(self) -> int:
        return hash((frozenset(self.nodes), frozenset(self.edges)))

    def __repr__(self) -> str:
        undecided = f", {len(self.undirected)} undirected" if self.undirected else ""
        return (
            f"CausalGraph({len(self.nodes)} features, {len(self.edges)} edges{undecided},"
            f" {self.origin})"
        )

    def __str__(self) -> str:
        """Return one line per edge, then the undirected pairs."""
        sure = {edge: f"  {share:.0%}" for edge, share in self.confidence.items()}
        lines = [arrow(edge) + sure.get(edge, "") for edge in self.edges]
        lines += [f"{line(pair)}  undecided" for pair in self.undirected]
        return "\n".join([repr(self), *lines])


def _brief(thing: object) -> str:
    text = repr(thing)
    return text if len(text) <= 60 else f"{text[:59]}…"
