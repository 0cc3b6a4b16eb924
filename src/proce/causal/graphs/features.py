"""A graph beside a schema: names that are no features, and edges that the schema cuts."""

from collections.abc import Iterable

from proce.causal.graphs.edges import Edge
from proce.errors import GraphError, did_you_mean
from proce.schema import Action, Schema


def require_features(names: Iterable[str], schema: Schema, label: str | None = None) -> None:
    """Raise a GraphError where a graph names something that is not a feature of the schema.

    Parameters
    ----------
    names
        The nodes of the graph.
    schema
        The features.
    label
        The name of what the model predicts, for a clear message where the graph has it.
    """
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
