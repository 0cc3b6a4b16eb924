"""The record of a directed acyclic graph over features; edges are ``(cause, effect)``."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from heapq import heappop, heappush

from proce.arguments import brief, checked
from proce.causal.graphs.edges import (
    Edge,
    arrow,
    checked_confidence,
    checked_edge,
    checked_nodes,
    checked_undirected,
    cycle_among,
    reached_from,
    refuse_repeats,
    require_name,
)
from proce.causal.graphs.origin import Origin
from proce.errors import GraphError

_MAX_NAMES = 12  # of a cycle, in a message


@dataclass(frozen=True, eq=False)
class Dag:
    """A causal graph as plain values, checked when it is made.

    The readers of text and the discovery return it; :class:`proce.CausalGraph`, which people
    hold, adds the verbs. Two graphs are equal where they have the same nodes and the same
    edges, in any order.

    Parameters
    ----------
    edges, nodes, confidence, origin, undirected, resamples
        As for :class:`proce.CausalGraph`.
    """

    edges: tuple[Edge, ...]
    nodes: tuple[str, ...]
    confidence: Mapping[Edge, float]
    origin: Origin
    undirected: tuple[Edge, ...]
    resamples: "tuple[Dag, ...]"

    def __init__(
        self,
        edges: Iterable[Edge],
        nodes: Iterable[str] | None = None,
        confidence: Mapping[Edge, float] | None = None,
        origin: Origin | None = None,
        undirected: Iterable[Edge] = (),
        resamples: "Iterable[Dag]" = (),
    ) -> None:
        directed = tuple(checked_edge(edge) for edge in edges)
        pairs = tuple(checked_edge(pair) for pair in undirected)
        joined = (*directed, *pairs)
        if nodes is None:
            nodes = dict.fromkeys(name for pair in joined for name in pair)
        names = checked_nodes(nodes, joined)
        refuse_repeats("edge", [arrow(edge) for edge in directed])
        fields = {
            "edges": directed,
            "nodes": names,
            "confidence": checked_confidence(confidence or {}, directed),
            "origin": origin or Origin(),
            "undirected": checked_undirected(pairs, directed, names),
            "resamples": tuple(resamples),
        }
        for field, value in fields.items():
            object.__setattr__(self, field, value)
        self._refuse_other_nodes()
        self._refuse_cycle()

    @checked(GraphError)
    def parents(self, name: str) -> tuple[str, ...]:
        """Return the direct causes of a feature."""
        require_name(name, self.nodes)
        return self._parents[name]

    @checked(GraphError)
    def descendants(self, name: str) -> tuple[str, ...]:
        """Return all features that a feature causes, directly or not, in causal order."""
        require_name(name, self.nodes)
        reached = reached_from([name], self.edges)
        return tuple(feature for feature in self.order if feature in reached and feature != name)

    @cached_property
    def order(self) -> tuple[str, ...]:
        """All features, causes before effects; otherwise as listed in ``nodes``."""
        n_waiting = [len(self._parents[name]) for name in self.nodes]
        ready = [place for place, count in enumerate(n_waiting) if count == 0]  # a heap
        order: list[str] = []
        while ready:
            name = self.nodes[heappop(ready)]
            order.append(name)
            for effect in self._children.get(name, ()):
                place = self._places[effect]
                n_waiting[place] -= 1
                if n_waiting[place] == 0:
                    heappush(ready, place)
        return tuple(order)

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
        causes: dict[str, list[str]] = {}
        for cause, effect in self.edges:
            causes.setdefault(effect, []).append(cause)
        in_order = {
            name: tuple(sorted(own, key=self._places.__getitem__)) for name, own in causes.items()
        }
        return dict.fromkeys(self.nodes, ()) | in_order

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.nodes)}

    @cached_property
    def _children(self) -> dict[str, list[str]]:
        effects: dict[str, list[str]] = {}
        for cause, effect in self.edges:
            effects.setdefault(cause, []).append(effect)
        return effects

    def _refuse_other_nodes(self) -> None:
        for resample in self.resamples:
            if not isinstance(resample, Dag):
                raise GraphError(f"resamples holds {brief(resample)}; expected causal graphs.")
            if set(resample.nodes) != set(self.nodes):
                raise GraphError("a resampled graph has other nodes than the graph itself.")

    def _refuse_cycle(self) -> None:
        if len(self.order) == len(self.nodes):
            return
        ordered = set(self.order)
        stuck = [name for name in self.nodes if name not in ordered]
        cycle = cycle_among(stuck, self._parents)
        if len(cycle) > _MAX_NAMES:
            cycle = [*cycle[: _MAX_NAMES - 2], "…", cycle[-1]]
        path = " -> ".join(cycle)
        raise GraphError(
            f"the graph has a cycle: {path}. A cause cannot be its own effect; remove one of"
            " these edges."
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Dag):
            return NotImplemented
        return set(self.nodes) == set(other.nodes) and set(self.edges) == set(other.edges)

    def __hash__(self) -> int:
        return hash((frozenset(self.nodes), frozenset(self.edges)))
