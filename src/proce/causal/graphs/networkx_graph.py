"""Graphs as ``networkx.DiGraph``, both ways."""

from typing import Any

from proce.arguments import brief
from proce.causal.graphs.dag import Dag
from proce.causal.graphs.origin import Origin
from proce.errors import GraphError


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
