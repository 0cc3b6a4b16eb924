"""What mechanisms give, in a few lines of NumPy: the slow reference of the kernels."""

from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri, softmax

from proce.arrays import Array
from proce.causal import Additive, Choice, Multiplicative, Ordered
from proce.causal.equations.regression import Exponential
from proce.schema import Categorical, Continuous

MIN_GAP, FARTHEST = 1e-9, 40.0


def solve(equation: Any, parents: dict[str, Array]) -> Array:
    """Return a weighted sum of columns, or its exponential."""
    linear = columns(equation.terms, parents) @ equation.weights[1:] + equation.weights[0]
    return np.exp(linear) + equation.origin if isinstance(equation, Exponential) else linear


def columns(terms: Any, parents: dict[str, Array]) -> Array:
    """Return the columns ``(n, m)`` of terms; a missing number is 0, a missing level the first."""
    maps, ends = ({name: pair for name, *pair in part} for part in (terms.maps, terms.ends))
    numbers, plain = {}, []
    for parent in terms.parents:
        values = np.nan_to_num(parents[parent.name])
        if isinstance(parent, Continuous):
            factor, shift = maps.get(parent.name, (1, 0))
            numbers[parent.name] = np.clip(
                values * factor + shift, *ends.get(parent.name, (-np.inf, np.inf))
            )
            plain.append(numbers[parent.name][:, None])
        elif isinstance(parent, Categorical):
            plain.append(np.maximum(values, 0)[:, None] == np.arange(len(parent.levels)))
        else:
            plain.append(np.maximum(values, 0)[:, None] / max(1, len(parent.levels) - 1))
    first = np.concatenate(plain, axis=1).astype(np.float64)
    bends = [bend(numbers[name], np.array(knots)) for name, knots in terms.knots]
    one, other = terms.products
    return np.concatenate([first, first[:, one] * first[:, other], *bends], axis=1)


def bend(values: Array, knots: Array) -> Array:
    """Return the curved columns of a natural cubic spline."""
    cubes = np.maximum(values[:, None] - knots, 0) ** 3
    scale = (knots[-1] - knots[:-1]) * (knots[-1] - knots[0]) ** 2
    parts = (cubes[:, :-1] - cubes[:, -1:]) / scale
    return parts[:, :-1] - parts[:, -1:]


def respond(mechanism: Any, predicted: Array, noise: Array) -> Array:
    """Return the values of predictions ``(n,)`` or ``(n, l)`` under noise ``(n, w)``."""
    first = noise[:, 0]
    if isinstance(mechanism, Choice):
        return (predicted + noise).argmax(-1)
    if isinstance(mechanism, Ordered):
        return np.searchsorted(mechanism.thresholds, predicted + first)
    if isinstance(mechanism, Multiplicative):
        return (predicted - mechanism.origin) * np.exp(first) + mechanism.origin
    if isinstance(mechanism, Additive):
        return np.clip(predicted + first, *mechanism.limits)
    return np.clip(np.rint(predicted + first), 0, mechanism.n_levels - 1)


def explain(mechanism: Any, predicted: Array, value: Array, uniforms: Array) -> Array:
    """Return the noise ``(n, w)`` under which predictions come to values ``(n,)``."""
    if isinstance(mechanism, Choice):
        rows, own = np.arange(len(value)), value.astype(int)
        drawn = -np.log(uniforms)
        highest = np.log(np.exp(predicted).sum(-1)) - np.log(drawn[rows, own])
        noise = -np.log(np.exp(predicted - highest[:, None]) + np.maximum(drawn, MIN_GAP))
        noise[rows, own] = highest - predicted[rows, own]
        return noise
    if isinstance(mechanism, Ordered):
        low, high = ends(mechanism, predicted, value)
        share = 0.5 if mechanism.noise == "median" else uniforms[:, 0]
        below = ndtri(ndtr(low) + (ndtr(high) - ndtr(low)) * share)
        above = -ndtri(ndtr(-high) + (ndtr(-low) - ndtr(-high)) * (1 - share))
        gap = np.minimum((high - low) / 4, MIN_GAP)
        drawn = np.where(low > 0, above, below)
        return np.maximum(np.minimum(drawn, high - gap), low + gap)[:, None]
    if isinstance(mechanism, Multiplicative):
        ratio = (value - mechanism.origin) / (predicted - mechanism.origin)
        return np.log(ratio)[:, None]
    return (value - predicted)[:, None]


def chance(mechanism: Any, predicted: Array, value: Array) -> Array:
    """Return the chance of levels ``(n,)``."""
    if isinstance(mechanism, Choice):
        return softmax(predicted, axis=-1)[np.arange(len(value)), value.astype(int)]
    low, high = ends(mechanism, predicted, value)
    return np.where(low > 0, ndtr(-low) - ndtr(-high), ndtr(high) - ndtr(low))


def ends(mechanism: Ordered, score: Array, rank: Array) -> tuple[Array, Array]:
    """Return the least and the most noise under which ranks come about."""
    edges = np.pad(mechanism.thresholds, 1, constant_values=np.inf)
    edges[0] = -np.inf
    low, high = edges[rank.astype(int)] - score, edges[rank.astype(int) + 1] - score
    farthest = np.minimum(high, 0) - FARTHEST, np.maximum(low, 0) + FARTHEST
    return np.maximum(low, farthest[0]), np.minimum(high, farthest[1])
