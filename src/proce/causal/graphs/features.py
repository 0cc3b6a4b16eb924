"""A graph beside a schema: names that are no features, edges that are cut, and missing causes."""

from collections.abc import Collection, Iterable

from proce.causal.graphs.dag import Edge, reached_from
from proce.errors import GraphError, did_you_mean
from proce.schema import Action, Schema


def require_features(
    names: Iterable[str],  # the nodes of the graph
    schema: Schema,
    # the name of what the model predicts, for a clear message where the graph has it
    label: str | None = None,
) -> None:
    """Raise a GraphError where a graph names something that is not a feature of the schema."""
    for name in names:
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


def cut_edges(edges: Iterable[Edge], schema: Schema) -> tuple[Edge, ...]:
    """Return the edges into features that the schema holds fixed, or that only time moves."""
    without_causes = {feature.name for feature in schema if feature.action.has_no_causes}
    return tuple(edge for edge in edges if edge[1] in without_causes)


def cut_sentence(edges: Iterable[Edge], schema: Schema) -> str:
    """Say which edges are cut because their effect is fixed or waits; empty where none is.

    The causes of a feature are named in the order of the schema.
    """
    causes: dict[str, list[str]] = {}
    for cause, effect in cut_edges(edges, schema):
        causes.setdefault(effect, []).append(cause)
    if not causes:
        return ""
    parts = [
        f"{effect} (from {', '.join(sorted(names, key=schema.position))})"
        for effect, names in causes.items()
    ]
    why = "are fixed and never move"
    if any(schema[effect].action is Action.WAITS for effect in causes):
        why = "are fixed or move with time alone"
    return f"These features {why}, so the edges into them are cut: {'; '.join(parts)}."


def unknown_causes(
    # the causal graph, and the features; edges into features without causes are cut
    edges: Iterable[Edge],
    schema: Schema,
    missing: Collection[str],  # the features that are missing in the row
    moved: Collection[str],  # the features that end elsewhere
    by_hand: Collection[str],  # the features that are acted on or held: they follow from nothing
) -> tuple[str, ...]:
    """Return the missing features without which it is not known what follows from actions."""
    # An effect of which a cause is missing stays as it is, since the noise of its equation is not
    # known. Where it would follow from an action, directly or not, what is told of it is a guess.
    # An effect that is missing itself is missing afterwards too.
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
