"""Equations that were fitted on one unit range, for rows on another of the same training rows."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from proce.causal.equations.boosted import Boosted
from proce.causal.equations.consistency import check_same_scale
from proce.causal.equations.mechanism import (
    Additive,
    Choice,
    Mechanism,
    Multiplicative,
    Ordered,
    Ranked,
)
from proce.causal.equations.polynomial import Exponential, Polynomial
from proce.causal.graph import CausalGraph
from proce.compiled.elementary import logarithms
from proce.schema import Codec, Continuous
from proce.schema.scale import scale_map

Map = tuple[float, float]  # factor and shift: old = new * factor + shift


def on_scale_of(
    codec: Codec, graph: CausalGraph, mechanisms: Mapping[str, Mechanism], old: Codec
) -> dict[str, Mechanism]:
    """Return mechanisms over the rows of one codec for the rows of another.

    Equations in raw units stay as they are. Those that were learned on the unit range are
    carried over where both codecs are of the same training rows, and refused otherwise.

    Parameters
    ----------
    codec
        The codec of the new rows.
    graph, mechanisms
        The causes, and the equation of each effect.
    old
        The codec of the rows that the equations were fitted on.
    """
    check_same_scale(graph, mechanisms, old.by_range, codec.by_range)
    maps: dict[str, Map] = {}
    for name in graph.nodes:
        before, after = old.schema.position(name), codec.schema.position(name)
        ends = codec.low[after], codec.span[after], old.low[before], old.span[before]
        factor, shift = (float(part) for part in scale_map(*ends))
        if isinstance(codec.schema[name], Continuous) and (factor, shift) != (1.0, 0.0):
            maps[name] = factor, shift
    return {name: _rescaled(name, mechanism, maps) for name, mechanism in mechanisms.items()}


def _rescaled(name: str, mechanism: Mechanism, maps: Mapping[str, Map]) -> Mechanism:
    if mechanism.units != "unit" or not maps:
        return mechanism
    if isinstance(mechanism, Ranked | Choice):
        return replace(mechanism, predict=_carried(mechanism.predict, maps, (1.0, 0.0)))
    if isinstance(mechanism, Ordered):
        return replace(mechanism, score=_carried(mechanism.score, maps, (1.0, 0.0)))
    factor, shift = maps.get(name, (1.0, 0.0))
    if isinstance(mechanism, Additive):
        low, high = ((limit - shift) / factor for limit in mechanism.limits)
        equation = _carried(mechanism.predict, maps, (factor, shift))
        return replace(mechanism, predict=equation, limits=(low, high))
    if isinstance(mechanism, Multiplicative):
        equation = _carried(mechanism.predict, maps, (factor, shift))
        return replace(mechanism, predict=equation, origin=(mechanism.origin - shift) / factor)
    return mechanism


def _carried(equation: Any, maps: Mapping[str, Map], own: Map) -> Any:
    """Return an equation whose causes and effect are on the new unit range."""
    factor, shift = own
    if isinstance(equation, Exponential):
        polynomial = equation.polynomial
        weights = polynomial.weights.copy()
        weights[0] -= logarithms(np.array(factor))
        terms = polynomial.terms.mapped_by(maps)
        return Exponential(Polynomial(terms, weights), (equation.origin - shift) / factor)
    if isinstance(equation, Polynomial):
        weights = equation.weights / factor
        weights[0] -= shift / factor
        return Polynomial(equation.terms.mapped_by(maps), weights)
    if isinstance(equation, Boosted):
        rate, start = equation.output
        output = rate / factor, (start - shift) / factor
        return Boosted(equation.terms.mapped_by(maps), equation.model, output)
    return lambda parents: (_old_units(equation, parents, maps) - shift) / factor


def _old_units(equation: Any, parents: Mapping[str, Any], maps: Mapping[str, Map]) -> Any:
    """Return what a person's own equation on the unit range says of parents on the new one."""
    known = {name: maps.get(name, (1.0, 0.0)) for name in parents}
    return equation(
        {name: values * known[name][0] + known[name][1] for name, values in parents.items()}
    )
