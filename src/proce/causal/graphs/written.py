"""What a text says of nodes and edges, turned into a graph."""

from collections.abc import Iterable
from dataclasses import dataclass

from proce.causal.graphs.dag import Dag
from proce.causal.graphs.edges import Edge
from proce.causal.graphs.origin import Origin
from proce.errors import GraphError

MAX_EDGES = 100_000


@dataclass(frozen=True, slots=True)
class WrittenEdge:
    """Two names that a text joins.

    Attributes
    ----------
    names
        The cause and the effect; in the order of the text where the pair is undirected.
    directed
        Whether the text says which is the cause.
    confidence
        What the text gives as the confidence of the edge.
    """

    names: Edge
    directed: bool
    confidence: str | None = None


def dag_of(
    nodes: Iterable[str], written_edges: Iterable[WrittenEdge], algorithm: str | None = None
) -> Dag:
    """Build the graph that was written; an edge that is written twice counts once."""
    edges: dict[Edge, None] = {}
    undirected: dict[Edge, None] = {}
    confidence: dict[Edge, float] = {}
    for edge in written_edges:
        if edge.directed:
            edges[edge.names] = None
            if edge.confidence is not None:
                confidence[edge.names] = _number(edge.confidence)
        elif edge.names[::-1] not in undirected:
            undirected[edge.names] = None
    return Dag(edges, nodes, confidence, Origin(algorithm), undirected)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise GraphError(f"the confidence {text!r} is not a number; expected 0 to 1.") from None
