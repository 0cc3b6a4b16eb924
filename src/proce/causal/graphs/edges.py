"""Pairs of names ``(cause, effect)``, and what is wrong with them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from numbers import Real
from typing import Any

from proce.arguments import brief
from proce.errors import GraphError, did_you_mean

Edge = tuple[str, str]
_MAX_NAMES = 20  # in a message


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
            listed = ", ".join(names[:_MAX_NAMES]) + ", …" * (len(names) > _MAX_NAMES)
            raise GraphError(
                f"unknown feature {name!r} in a causal graph over {listed or 'nothing'}: an edge"
                " names it, and nodes does not." + did_you_mean(name, names)
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
        shown = ", ".join(known[:_MAX_NAMES]) + ", …" * (len(known) > _MAX_NAMES)
        raise GraphError(
            f"unknown feature {name!r} in a causal graph over {shown}." + did_you_mean(name, known)
        )


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
