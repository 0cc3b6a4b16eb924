"""What is not known of the consequences of actions because a cell is missing."""

from collections.abc import Collection, Iterable

from proce.causal.graphs.edges import Edge, reached_from
from proce.causal.graphs.features import cut_edges
from proce.schema import Schema


def unknown_causes(
    edges: Iterable[Edge],
    schema: Schema,
    missing: Collection[str],
    moved: Collection[str],
    by_hand: Collection[str],
) -> tuple[str, ...]:
    """Return the missing features without which it is not known what follows from actions.

    An effect of which a cause is missing stays as it is, since the noise of its equation is not
    known. Where it would follow from an action, directly or not, what is told of it is a guess. An
    effect that is missing itself is missing afterwards too.

    Parameters
    ----------
    edges, schema
        The causal graph, and the features; edges into features without causes are cut.
    missing
        The features that are missing in the row.
    moved
        The features that end elsewhere.
    by_hand
        The features that are acted on or held: they follow from nothing.
    """
    edges = tuple(edges)
    cut = set(cut_edges(edges, schema))
    kept = [edge for edge in edges if edge not in cut and edge[1] not in by_hand]
    reached = reached_from(moved, kept)
    unknown = {
        cause
        for cause, effect in kept
        if cause in missing and effect in reached and effect not in missing
    }
    return tuple(name for name in schema.names if name in unknown)
