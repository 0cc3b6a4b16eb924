"""Graphs as JSON text, with everything they hold."""

import json
from typing import TYPE_CHECKING, Any

from proce.causal.graphs.edges import Edge
from proce.causal.graphs.origin import Origin
from proce.errors import GraphError

if TYPE_CHECKING:
    from proce.causal.graph import CausalGraph

FORMAT = 1
_FORM = '{"format": 1, "nodes": ["a", "b"], "edges": [{"cause": "a", "effect": "b"}]}'


def to_json(graph: "CausalGraph") -> str:
    """Return everything as JSON text, origin and resamples included."""
    record: dict[str, Any] = {
        "format": FORMAT,
        "nodes": graph.nodes,
        "edges": [_edge_record(graph, edge) for edge in graph.edges],
    }
    if graph.undirected:
        record["undirected"] = graph.undirected
    if graph.origin.discovered:
        record["origin"] = {
            "algorithm": graph.origin.algorithm,
            "settings": graph.origin.settings,
            "warnings": graph.origin.warnings,
        }
    if graph.resamples:
        place = {name: at for at, name in enumerate(graph.nodes)}
        record["resamples"] = [
            {
                "edges": [[place[a], place[b]] for a, b in each.edges],
                "undirected": [[place[a], place[b]] for a, b in each.undirected],
            }
            for each in graph.resamples
        ]
    parts = [f"{json.dumps(key)}: {_compact(value)}" for key, value in record.items()]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def from_json(text: str) -> "CausalGraph":
    """Read what :func:`to_json` wrote."""
    from proce.causal.graph import CausalGraph

    record = _record(text)
    nodes = record["nodes"]
    edges = [_read_edge(each) for each in record["edges"]]
    origin = _read_origin(record.get("origin"))
    return CausalGraph(
        [edge for edge, _ in edges],
        nodes,
        {edge: share for edge, share in edges if share is not None},
        origin,
        [_pair(each) for each in _list(record, "undirected")],
        [_read_resample(each, nodes) for each in _list(record, "resamples")],
    )


def _edge_record(graph: "CausalGraph", edge: Edge) -> dict[str, Any]:
    record: dict[str, Any] = {"cause": edge[0], "effect": edge[1]}
    if edge in graph.confidence:
        record["confidence"] = graph.confidence[edge]
    return record


def _compact(value: Any) -> str:
    """Return a list with an item per line, all else on one line."""
    if isinstance(value, list) and value:
        items = [json.dumps(item, ensure_ascii=False) for item in value]
        return "[\n  " + ",\n  ".join(items) + "\n]"
    return json.dumps(value, ensure_ascii=False)


def _record(text: str) -> dict[str, Any]:
    try:
        record = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise GraphError(f"the graph is not JSON: {error}.") from None
    if not isinstance(record, dict):
        raise GraphError(f"the graph is not of the form {_FORM}.")
    version = record.get("format")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise GraphError(f"the graph's format is {version!r}; expected {FORMAT}, as in {_FORM}.")
    if version > FORMAT:
        raise GraphError(
            f"the graph has format {version}; this version of proce reads up to {FORMAT}. Update"
            " proce, or save the graph again with this version."
        )
    for field in ("nodes", "edges"):
        if not isinstance(record.get(field), list):
            raise GraphError(f"the graph has no list of {field}; expected {_FORM}.")
    return record


def _list(record: dict[str, Any], field: str) -> list[Any]:
    found = record.get(field, [])
    if not isinstance(found, list):
        raise GraphError(f"the graph's {field!r} is {found!r}; expected a list.")
    return found


def _read_edge(record: Any) -> tuple[Edge, float | None]:
    match record:
        case {"cause": str(cause), "effect": str(effect)}:
            return (cause, effect), record.get("confidence")
    raise GraphError(f'{record!r} is not an edge; expected {{"cause": "a", "effect": "b"}}.')


def _pair(record: Any) -> Edge:
    match record:
        case [str(one), str(other)]:
            return one, other
    raise GraphError(f'{record!r} is not an undirected pair; expected ["a", "b"].')


def _read_origin(record: Any) -> Origin:
    match record:
        case None:
            return Origin()
        case {"algorithm": str(algorithm)}:
            settings, warnings = record.get("settings", {}), record.get("warnings", [])
            if isinstance(settings, dict) and isinstance(warnings, list):
                return Origin(algorithm, settings, tuple(str(each) for each in warnings))
    raise GraphError(
        f'the graph\'s origin is {record!r}; expected {{"algorithm": ..., "settings": {{...}},'
        ' "warnings": [...]}.'
    )


def _read_resample(record: Any, nodes: list[str]) -> "CausalGraph":
    from proce.causal.graph import CausalGraph

    match record:
        case {"edges": list(edges), "undirected": list(undirected)}:
            return CausalGraph(
                [_named(each, nodes) for each in edges],
                nodes,
                undirected=[_named(each, nodes) for each in undirected],
            )
    raise GraphError("a resample of the graph is not of the form {'edges': …, 'undirected': …}.")


def _named(pair: Any, nodes: list[str]) -> Edge:
    match pair:
        case [int(one), int(other)] if 0 <= one < len(nodes) and 0 <= other < len(nodes):
            return nodes[one], nodes[other]
    raise GraphError(f"{pair!r} in a resample is not a pair of positions among the nodes.")
