"""Graphs as JSON text, with everything they hold, and as ``networkx.DiGraph``, both ways."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from proce.arguments import brief
from proce.causal.graphs.dag import Dag, Edge, Origin
from proce.errors import GraphError
from proce.json_reading import check_format, is_shallow, parse_json

FORMAT = 1
_MAX_RESAMPLED_NODES = 1_000_000  # some seconds
_FORM = '{"format": 1, "nodes": ["a", "b"], "edges": [{"cause": "a", "effect": "b"}]}'


def write_json(dag: Dag) -> str:
    """Return everything as JSON text, origin and resamples included."""
    record: dict[str, Any] = {
        "format": FORMAT,
        "nodes": dag.nodes,
        "edges": [_edge_record(dag, edge) for edge in dag.edges],
    }
    if dag.undirected:
        record["undirected"] = dag.undirected
    if dag.origin.discovered:
        record["origin"] = {
            "algorithm": dag.origin.algorithm,
            "settings": dag.origin.settings,
            "warnings": dag.origin.warnings,
        }
    if dag.origin.edited:
        record["edited"] = True
    if dag.resamples:
        record["resamples"] = [_resample_record(resample, dag.nodes) for resample in dag.resamples]
    parts = [f"{json.dumps(key)}: {_compact(value)}" for key, value in record.items()]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def read_json(text: str) -> Dag:
    """Read what :func:`write_json` wrote."""
    record = _record(text)
    nodes, resamples = record["nodes"], _list(record, "resamples")
    if len(nodes) * len(resamples) > _MAX_RESAMPLED_NODES:
        raise GraphError(
            f"the graph has {len(resamples):,} resamples of {len(nodes):,} nodes each; at most"
            f" {_MAX_RESAMPLED_NODES:,} nodes in all are read. Leave out some of the resamples."
        )
    edges = [_read_edge(item) for item in record["edges"]]
    return Dag(
        [edge for edge, _ in edges],
        nodes,
        {edge: share for edge, share in edges if share is not None},
        replace(_read_origin(record.get("origin")), edited=record.get("edited") is True),
        [_read_pair(item) for item in _list(record, "undirected")],
        [_read_resample(item, nodes) for item in resamples],
    )


def _edge_record(dag: Dag, edge: Edge) -> dict[str, Any]:
    record: dict[str, Any] = {"cause": edge[0], "effect": edge[1]}
    if edge in dag.confidence:
        record["confidence"] = dag.confidence[edge]
    return record


def _resample_record(resample: Dag, nodes: Sequence[str]) -> dict[str, Any]:
    position = {name: number for number, name in enumerate(nodes)}
    return {
        "edges": [[position[cause], position[effect]] for cause, effect in resample.edges],
        "undirected": [[position[one], position[other]] for one, other in resample.undirected],
    }


def _compact(value: Any) -> str:
    """Return a list with an item per line, all else on one line."""
    if isinstance(value, list) and value:
        items = [json.dumps(item, ensure_ascii=False) for item in value]
        return "[\n  " + ",\n  ".join(items) + "\n]"
    return json.dumps(value, ensure_ascii=False)


def _record(text: str) -> dict[str, Any]:
    try:
        record = parse_json(text)
    except ValueError as error:
        raise GraphError(f"the graph is not JSON: {error}.") from None
    if not isinstance(record, dict):
        raise GraphError(f"the graph is not of the form {_FORM}.")
    version = record.get("format")
    wrong = GraphError(f"the graph's format is {version!r}; expected {FORMAT}, as in {_FORM}.")
    newer = f"the graph has format {version}"
    check_format(version, FORMAT, wrong, newer, "save the graph again", GraphError)
    for field in ("nodes", "edges"):
        if not isinstance(record.get(field), list):
            raise GraphError(f"the graph has no list of {field}; expected {_FORM}.")
    return record


def _list(record: dict[str, Any], field: str) -> list[Any]:
    items = record.get(field, [])
    if not isinstance(items, list):
        raise GraphError(f"the graph's {field!r} is {items!r}; expected a list.")
    return items


def _read_edge(record: Any) -> tuple[Edge, float | None]:
    match record:
        case {"cause": str(cause), "effect": str(effect)}:
            return (cause, effect), record.get("confidence")
    raise GraphError(f'{record!r} is not an edge; expected {{"cause": "a", "effect": "b"}}.')


def _read_pair(record: Any) -> Edge:
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
            plain = isinstance(settings, dict) and isinstance(warnings, list)
            if plain and is_shallow([settings, warnings]):
                return Origin(algorithm, settings, tuple(str(text) for text in warnings))
    raise GraphError(
        f'the graph\'s origin is {record!r}; expected {{"algorithm": ..., "settings": {{...}},'
        ' "warnings": [...]}.'
    )


def _read_resample(record: Any, nodes: list[str]) -> Dag:
    match record:
        case {"edges": list(edges), "undirected": list(undirected)}:
            return Dag(
                [_named(pair, nodes) for pair in edges],
                nodes,
                undirected=[_named(pair, nodes) for pair in undirected],
            )
    raise GraphError("a resample of the graph is not of the form {'edges': …, 'undirected': …}.")


def _named(pair: Any, nodes: list[str]) -> Edge:
    match pair:
        case [int(one), int(other)] if 0 <= one < len(nodes) and 0 <= other < len(nodes):
            return nodes[one], nodes[other]
    raise GraphError(f"{pair!r} in a resample is not a pair of positions among the nodes.")


def read_networkx(digraph: Any) -> Dag:
    """Read a ``networkx.DiGraph``, with the ``confidence`` of its edges where they have one."""
    if not (hasattr(digraph, "is_directed") and hasattr(digraph, "edges")):
        raise GraphError(f"graph is {brief(digraph)}; expected a networkx.DiGraph.")
    if not digraph.is_directed():
        raise GraphError(
            "got an undirected networkx graph; expected a DiGraph, whose edges say which feature"
            " is the cause."
        )
    edges = list(digraph.edges(data="confidence"))
    return Dag(
        [(cause, effect) for cause, effect, _ in edges],
        list(digraph.nodes),
        {(cause, effect): share for cause, effect, share in edges if share is not None},
        Origin(digraph.graph.get("discovered_by")),
        [(one, other) for one, other in digraph.graph.get("undirected", ())],
    )


def write_networkx(dag: Dag) -> Any:
    """Return a ``networkx.DiGraph``; undirected pairs stand in ``.graph["undirected"]``."""
    import networkx

    digraph = networkx.DiGraph()
    digraph.add_nodes_from(dag.nodes)
    digraph.add_edges_from(dag.edges)
    for edge, share in dag.confidence.items():
        digraph.edges[edge]["confidence"] = share
    if dag.undirected:
        digraph.graph["undirected"] = list(dag.undirected)
    if dag.origin.algorithm is not None:
        digraph.graph["discovered_by"] = dag.origin.algorithm
    return digraph
