"""Causal models of random graphs and equations: every kind of noise, curve, unit and action."""

from typing import Any

import numpy as np
import pandas as pd

from proce.arrays import Array
from proce.causal import (
    Additive,
    CausalGraph,
    Choice,
    Mechanism,
    Multiplicative,
    Ordered,
    Ranked,
    StructuralCausalModel,
)
from proce.causal.equations.regression import Exponential, Polynomial
from proce.causal.equations.terms import Terms
from proce.schema import Categorical, Codec, Continuous, Feature, Ordinal, Schema

_ACTIONS = ("free", "free", "free", "indirect", "fixed")


def random_model(seed: int, n_features: int = 7, given_share: float = 0.2) -> StructuralCausalModel:
    """Return a model in which a share of the equations are functions that nobody can look into."""
    draw = np.random.default_rng(seed)
    codec = _codec(draw, n_features)
    names = codec.schema.names
    edges = [
        (names[int(cause)], names[effect])
        for effect in range(1, n_features)
        for cause in draw.choice(effect, draw.integers(0, min(4, effect + 1)), replace=False)
    ]
    graph = CausalGraph(edges, names)
    return StructuralCausalModel(graph, mechanisms(graph, codec, draw, given_share), codec)


def mechanisms(
    graph: CausalGraph, codec: Codec, draw: np.random.Generator, given_share: float
) -> dict[str, Mechanism]:
    """Return a random mechanism for every effect of a graph."""
    by_name = {}
    for name in graph.endogenous:
        parents = tuple(codec.schema[cause] for cause in graph.parents(name))
        by_name[name] = _mechanism(codec.schema[name], parents, draw, draw.random() < given_share)
    return by_name


def random_rows(codec: Codec, shape: tuple[int, ...], seed: int, missing: float = 0.1) -> Array:
    """Return rows, some of whose cells are missing or far from all others."""
    draw = np.random.default_rng(seed)
    columns = []
    for position, feature in enumerate(codec.schema):
        values = draw.random(shape)
        gone = draw.random(shape) < missing
        if isinstance(feature, Continuous):
            values = 1.4 * values - 0.2
            step = float(codec.resolution[position] / codec.span[position])
            if feature.step is not None:
                values = np.round(values / step) * step
            columns.append(np.where(gone, np.nan, values))
        else:
            columns.append(np.where(gone, -1.0, np.floor(values * len(feature.levels))))
    return np.stack(columns, axis=-1)


def _codec(draw: np.random.Generator, n_features: int) -> Codec:
    features: list[Feature] = []
    columns: dict[str, Any] = {}
    for place in range(n_features):
        name, action = f"x{place}", str(draw.choice(_ACTIONS))
        kind = draw.integers(4)
        if kind < 2:
            step = float(draw.choice([0.5, 1.0])) if kind else None
            features.append(Continuous(name, step=step, action=action))
            columns[name] = np.round(draw.uniform(-3, 8, 50) * 2) / 2
        else:
            levels = tuple("abcde"[: draw.integers(2, 6)])
            features.append((Ordinal if kind == 2 else Categorical)(name, levels, action=action))
            columns[name] = draw.choice(levels, 50)
    return Codec.fit(Schema(features), pd.DataFrame(columns), str(draw.choice(["range", "bulk"])))


def _mechanism(
    effect: Feature, parents: tuple[Feature, ...], draw: np.random.Generator, is_given: bool
) -> Mechanism:
    units: Any = str(draw.choice(["unit", "raw"]))
    if isinstance(effect, Categorical):
        n_levels = len(effect.levels)
        return Choice(_opaque(_polynomial(parents, draw, n_levels), is_given), n_levels, units)
    equation = _polynomial(parents, draw)
    if isinstance(effect, Ordinal):
        if draw.random() < 0.5:
            return Ranked(_opaque(equation, is_given), len(effect.levels), units)
        ends = np.sort(draw.normal(0, 2, len(effect.levels) - 1))
        noise: Any = str(draw.choice(["drawn", "median"]))
        return Ordered(_opaque(equation, is_given), ends, units, noise)
    if draw.random() < 0.4:
        origin = float(draw.choice([0.0, -0.5]))
        equation = Exponential(equation.terms, equation.weights, origin)
        return Multiplicative(_opaque(equation, is_given), origin, units)
    limits = (-0.1, 1.3) if draw.random() < 0.3 else (-np.inf, np.inf)
    return Additive(_opaque(equation, is_given), limits, units)


def _polynomial(
    parents: tuple[Feature, ...], draw: np.random.Generator, n_outputs: int = 0
) -> Polynomial:
    numbers = [parent.name for parent in parents if isinstance(parent, Continuous)]
    chosen = {
        part: [n for n in numbers if draw.random() < 0.5] for part in ("knots", "ends", "maps")
    }
    terms = Terms(
        parents,
        degree=int(draw.integers(1, 3)),
        knots=tuple((n, tuple(np.sort(draw.random(draw.integers(3, 6))))) for n in chosen["knots"]),
        ends=tuple((n, 0.1, 0.9) for n in chosen["ends"]),
        maps=tuple((n, float(draw.uniform(0.5, 2)), 0.1) for n in chosen["maps"]),
    )
    shape = (terms.size, n_outputs) if n_outputs else (terms.size,)
    return Polynomial(terms, draw.normal(0, 0.3, shape))


def _opaque(equation: Any, is_given: bool) -> Any:
    return (lambda parents: equation(parents)) if is_given else equation
