"""What must be true of a graph, its equations and a schema before they work together."""

from collections.abc import Mapping

from proce.causal.graph import CausalGraph
from proce.causal.models.mechanism import Choice, Mechanism, Ranked
from proce.errors import GraphError, did_you_mean
from proce.schema import Continuous, Feature, Level, Schema


def check_consistency(
    graph: CausalGraph, mechanisms: Mapping[str, Mechanism], schema: Schema
) -> None:
    """Raise a GraphError where names, equations or numbers of levels do not fit."""
    check_names(graph, schema)
    _check_equations(graph, mechanisms)
    for name, mechanism in mechanisms.items():
        _check_levels(schema[name], mechanism)


def check_same_features(graph: CausalGraph, ours: Schema, theirs: Schema) -> None:
    """Raise a GraphError where two schemas declare a feature of the graph differently."""
    check_names(graph, theirs)
    for name in graph.nodes:
        old, new = ours[name], theirs[name]
        if old.kind != new.kind or _levels(old) != _levels(new):
            raise GraphError(
                f"the equations know {name!r} as {old.kind} {_levels(old) or ''}; the new"
                f" schema has it as {new.kind} {_levels(new) or ''}. Declare it the same."
            )


def require_equation(name: str, graph: CausalGraph) -> None:
    """Raise a GraphError where a feature has no causes."""
    if name not in graph.endogenous:
        raise GraphError(
            f"{name!r} has no equation; the features with causes are {', '.join(graph.endogenous)}."
            + did_you_mean(name, graph.endogenous)
        )


def check_names(graph: CausalGraph, schema: Schema) -> None:
    """Raise a GraphError where the graph names something that is not a feature."""
    for name in graph.nodes:
        if name not in schema:
            raise GraphError(
                f"the graph names {name!r}, which is not a feature; the features are"
                f" {', '.join(schema.names)}." + did_you_mean(name, schema.names)
            )


def _check_equations(graph: CausalGraph, mechanisms: Mapping[str, Mechanism]) -> None:
    for name in graph.endogenous:
        if name not in mechanisms:
            raise GraphError(
                f"{name!r} has causes ({', '.join(graph.parents(name))}) but no equation;"
                " give a mechanism for it, or remove the edges into it."
            )
    for name in mechanisms:
        if name not in graph.endogenous:
            raise GraphError(
                f"there is an equation for {name!r}, which the graph gives no cause; add the edges"
                " into it, or remove the equation." + did_you_mean(name, graph.endogenous)
            )


def _check_levels(feature: Feature, mechanism: Mechanism) -> None:
    expected = len(_levels(feature))
    if isinstance(mechanism, Choice | Ranked) and mechanism.n_levels != expected:
        raise GraphError(
            f"the equation of {feature.name!r} gives one of {mechanism.n_levels} levels; the"
            f" {feature.kind} feature has {expected}."
        )


def _levels(feature: Feature) -> tuple[Level, ...]:
    return () if isinstance(feature, Continuous) else feature.levels
