"""Equations and a codec: what must be the same, and what is carried to another unit range."""

from collections.abc import Mapping

from proce.causal.equations.learned import SAME, Map
from proce.causal.equations.mechanism import Linked, Mechanism
from proce.causal.graph import CausalGraph
from proce.causal.graphs.features import require_features
from proce.errors import GraphError
from proce.schema import Codec, Continuous, Feature, Level, Schema
from proce.schema.scale import scale_map


def on_scale_of(
    codec: Codec, graph: CausalGraph, mechanisms: Mapping[str, Mechanism], old: Codec
) -> dict[str, Mechanism]:
    """Return mechanisms over the rows of one codec for the rows of another.

    Equations in raw units stay as they are. Those that were learned on the unit range are
    carried over where both codecs are of the same training rows, and refused otherwise.
    """
    _check_same_scale(graph, mechanisms, old.by_range, codec.by_range)
    maps: dict[str, Map] = {}
    for name in graph.nodes:
        before, after = old.schema.position(name), codec.schema.position(name)
        ends = codec.low[after], codec.span[after], old.low[before], old.span[before]
        factor, shift = (float(part) for part in scale_map(*ends))
        if isinstance(codec.schema[name], Continuous) and (factor, shift) != SAME:
            maps[name] = factor, shift
    return {name: _rescaled(mechanism, maps, name) for name, mechanism in mechanisms.items()}


def _rescaled(mechanism: Mechanism, maps: Mapping[str, Map], name: str) -> Mechanism:
    if mechanism.units != "unit" or not maps or not isinstance(mechanism, Linked):
        return mechanism
    return mechanism.rescaled(maps, maps.get(name, SAME))


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


def _check_same_scale(
    graph: CausalGraph, mechanisms: Mapping[str, Mechanism], old_codec: Codec, new_codec: Codec
) -> None:
    """Raise a GraphError where an equation was fitted on another unit range than the new one."""
    fitted = [name for name, mechanism in mechanisms.items() if mechanism.units == "unit"]
    if fitted and _scale(graph, old_codec) != _scale(graph, new_codec):
        raise GraphError(
            f"the equation of {fitted[0]!r} was fitted on another unit range; fit it again with"
            " StructuralCausalModel.fit and the new codec."
        )


def _scale(graph: CausalGraph, codec: Codec) -> list[tuple[float, float]]:
    positions = [codec.schema.position(name) for name in graph.nodes]
    return [(codec.low[position].item(), codec.span[position].item()) for position in positions]


def _levels(feature: Feature) -> tuple[Level, ...]:
    return () if isinstance(feature, Continuous) else feature.levels
