"""A directed acyclic graph over features as plain values; edges are ``(cause, effect)``."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from heapq import heappop, heappush
from numbers import Real
from typing import Any

from proce.arguments import brief, checked
from proce.errors import GraphError, did_you_mean

Edge = tuple[str, str]
_MAX_SHOWN = 20  # names in a message
_MAX_CYCLE = 12  # of a cycle, in a message

GIVEN = "given"
EDITED = "edited"


@dataclass(frozen=True)
class Origin:
    """Whether a graph was given or discovered, and what its discovery could not know."""

    algorithm: str | None = None  # what discovered the graph; `None` where a person gave it
    # how the graph was discovered, in plain values that survive JSON
    settings: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()  # what the discovery cannot know, one sentence or two each
    edited: bool = False  # whether a person has changed edges since

    def __post_init__(self) -> None:
        object.__setattr__(self, "settings", dict(self.settings))
        object.__setattr__(self, "warnings", tuple(self.warnings))

    @property
    def discovered(self) -> bool:
        """Whether the graph was read off data rather than given."""
        return self.algorithm is not None

    def __str__(self) -> str:
        if self.discovered:
            return f"discovered by {self.algorithm}{', then edited' * self.edited}"
        return EDITED if self.edited else GIVEN

    def __hash__(self) -> int:
        return hash((self.algorithm, self.warnings, self.edited))


@dataclass(frozen=True, eq=False)
class Dag:
    """A causal graph as plain values, checked when it is made.

    The readers of text and the discovery return it; :class:`proce.CausalGraph`, which people
    hold, adds the verbs. Two graphs are equal where they have the same nodes and the same
    edges, in any order.
    """

    edges: tuple[Edge, ...]  # as for `CausalGraph`
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
        for part, value in fields.items():
            object.__setattr__(self, part, value)
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
        if len(cycle) > _MAX_CYCLE:
            cycle = [*cycle[: _MAX_CYCLE - 2], "…", cycle[-1]]
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


def checked_edge(edge: Any) -> Edge:
    """Return a pair of two different names, or raise a GraphError."""
    match edge:
        case (str(cause), str(effect)):
            pass
        case _:
            raise GraphError(
                f"{brief(edge)} is not an edge; expected a pair of names (cause, effect)."
            )
    if cause == effect:
        raise GraphError(f"{cause!r} is given as its own cause; remove the edge {arrow(edge)}.")
    return cause, effect


def checked_nodes(nodes: Iterable[Any], edges: Iterable[Edge]) -> tuple[str, ...]:
    """Return the names of nodes: text, each once, and all that the edges name among them."""
    names = tuple(nodes)
    for name in names:
        if not isinstance(name, str) or not name:
            raise GraphError(
                f"nodes holds {brief(name)}, which is not the name of a feature; expected text."
            )
    refuse_repeats("feature", names)
    known = set(names)
    for name in dict.fromkeys(name for edge in edges for name in edge):
        if name not in known:
            raise GraphError(
                f"unknown feature {name!r} in a causal graph over {_shown(names) or 'nothing'}:"
                " an edge names it, and nodes does not." + did_you_mean(name, names)
            )
    return names


def checked_undirected(
    pairs: Iterable[Edge], edges: Iterable[Edge], nodes: Sequence[str]
) -> tuple[Edge, ...]:
    """Return pairs in the order of the nodes, none of them twice or an edge already."""
    position = {name: number for number, name in enumerate(nodes)}
    in_order = [sorted_pair(pair, position) for pair in pairs]
    refuse_repeats("undirected pair", [line(pair) for pair in in_order])
    undirected = set(in_order)
    for edge in edges:
        if sorted_pair(edge, position) in undirected:
            raise GraphError(
                f"{arrow(edge)} is an edge and an undirected pair at once; give it as one of them."
            )
    return tuple(sorted(in_order, key=lambda pair: (position[pair[0]], position[pair[1]])))


def checked_confidence(
    confidence: Mapping[Edge, float], edges: Sequence[Edge]
) -> dict[Edge, float]:
    """Return shares between 0 and 1 of edges that exist, in the order of the edges."""
    existing = set(edges)
    for edge, share in confidence.items():
        if checked_edge(edge) not in existing:
            raise GraphError(f"there is a confidence for {arrow(edge)}, which is not an edge.")
        if not isinstance(share, Real) or isinstance(share, bool) or not 0 <= share <= 1:
            raise GraphError(
                f"the confidence of {arrow(edge)} is {share!r}; expected a share from 0 to 1."
            )
    return {edge: float(confidence[edge]) for edge in edges if edge in confidence}


def sorted_pair(pair: Edge, position: Mapping[str, int]) -> Edge:
    """Return a pair with the name of the lower position first."""
    one, other = pair
    return (one, other) if position[one] < position[other] else (other, one)


def arrow(edge: Edge) -> str:
    """Return an edge for a message."""
    return f"{edge[0]} -> {edge[1]}"


def line(pair: Edge) -> str:
    """Return an undirected pair for a message."""
    return f"{pair[0]} -- {pair[1]}"


def refuse_repeats(what: str, names: Iterable[str]) -> None:
    """Raise a GraphError where something is listed twice."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise GraphError(f"the {what} {name!r} is given twice; give each once.")
        seen.add(name)


def require_name(name: Any, known: Sequence[str]) -> None:
    """Raise a GraphError where a name is unknown, with a near one."""
    if not isinstance(name, str) or name not in known:
        raise GraphError(
            f"unknown feature {name!r} in a causal graph over {_shown(known)}."
            + did_you_mean(name, known)
        )


def _shown(names: Sequence[str]) -> str:
    return ", ".join(names[:_MAX_SHOWN]) + ", …" * (len(names) > _MAX_SHOWN)


def reached_from(names: Iterable[str], edges: Collection[Edge]) -> set[str]:
    """Return some features, and all that they cause, directly or not."""
    reached: set[str] = set()
    found = set(names)
    while found:
        reached |= found
        found = {effect for cause, effect in edges if cause in found} - reached
    return reached


def cycle_among(stuck: Sequence[str], parents: Mapping[str, Sequence[str]]) -> list[str]:
    """Return a closed path among names that all have a cause among themselves."""
    places = {name: place for place, name in enumerate(stuck)}
    path, visited = [stuck[0]], {stuck[0]}
    while True:  # every stuck name has a stuck cause, so the walk must return
        path.append(next(cause for cause in parents[path[-1]] if cause in places))
        if path[-1] in visited:
            break
        visited.add(path[-1])
    loop = path[path.index(path[-1]) + 1 :][::-1]
    first = loop.index(min(loop, key=places.__getitem__))
    return [*loop[first:], *loop[:first], loop[first]]
