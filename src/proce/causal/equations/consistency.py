"""Checks that a graph, its equations and a schema fit together."""

from collections.abc import Mapping

from proce.causal.equations.mechanism import Choice, Mechanism, Ordered, Ranked
from proce.causal.graph import CausalGraph
from proce.causal.graphs.features import require_features
from proce.errors import GraphError, did_you_mean
from proce.schema import Codec, Continuous, Feature, Level, Schema


def check_consistency(
    graph: CausalGraph, mechanisms: Mapping[str, Mechanism], schema: Schema
) -> None:
    """Raise a GraphError where names, equations or numbers of levels do not fit."""
    require_features(graph.nodes, schema)
    _check_equations(graph, mechanisms)
    for name, mechanism in mechanisms.items():
        _check_levels(schema[name], mechanism)


def check_same_features(graph: CausalGraph, old_schema: Schema, new_schema: Schema) -> None:
    """Raise a GraphError where two schemas declare a feature of the graph differently."""
    require_features(graph.nodes, new_schema)
    for name in graph.nodes:
        old, new = old_schema[name], new_schema[name]
        if old.kind != new.kind or _levels(old) != _levels(new):
            raise GraphError(
                f"the equations know {name!r} as {old.kind} {_levels(old) or ''}; the new"
                f" schema has it as {new.kind} {_levels(new) or ''}. Declare it the same."
            )


def check_same_scale(
    graph: CausalGraph, mechanisms: Mapping[str, Mechanism], old_codec: Codec, new_codec: Codec
) -> None:
    """Raise a GraphError where an equation was fitted on another unit range than the new one."""
    fitted = [name for name, mechanism in mechanisms.items() if mechanism.units == "unit"]
    if fitted and _scale(graph, old_codec) != _scale(graph, new_codec):
        raise GraphError(
            f"the equation of {fitted[0]!r} was fitted on another unit range; fit it again with"
            " StructuralCausalModel.fit and the new codec."
        )


def require_equation(name: str, graph: CausalGraph) -> None:
    """Raise a GraphError where a feature has no causes."""
    if name not in graph.endogenous:
        raise GraphError(
            f"{name!r} has no equation; the features with causes are {', '.join(graph.endogenous)}."
            + did_you_mean(name, graph.endogenous)
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
    if isinstance(mechanism, Choice | Ordered | Ranked) and mechanism.n_levels != expected:
        raise GraphError(
            f"the equation of {feature.name!r} gives one of {mechanism.n_levels} levels; the"
            f" {feature.kind} feature has {expected}."
        )


def _scale(graph: CausalGraph, codec: Codec) -> list[tuple[float, float]]:
    positions = [codec.schema.position(name) for name in graph.nodes]
    return [(codec.low[position].item(), codec.span[position].item()) for position in positions]


def _levels(feature: Feature) -> tuple[Level, ...]:
    return () if isinstance(feature, Continuous) else feature.levels
