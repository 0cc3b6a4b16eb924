"""Equations for numba: what they give the candidates of one person, without their columns.

All kernels take the effects, the parents and the weights of a
:class:`~proce.causal.programs.program.Program`, and the place of one of its effects. They loop
over candidates themselves: to call a kernel with arrays costs as much as to solve an equation.
"""

import numpy as np
from numpy.typing import NDArray

from proce.causal.programs.program import Floats, Kind, Link, Table
from proce.compiled.elementary import exp
from proce.compiled.kernel import kernel

Ints = NDArray[np.int64]
_LARGEST = np.finfo(np.float64).max


@kernel
def clamped(value: float, low: float, high: float) -> float:
    """Return a value, or the end that it is beyond; what is no number stays none."""
    if value < low:
        return low
    return high if value > high else value


@kernel
def sizes(effects: Table) -> tuple[int, int]:
    """Return how many parents and how many outputs an equation has at most."""
    n_parents, n_outputs = 1, 1
    for model in range(effects.shape[0]):
        for place in range(effects.shape[1]):
            n_parents = max(n_parents, effects[model, place].n_parents)
            n_outputs = max(n_outputs, effects[model, place].n_outputs)
    return n_parents, n_outputs


@kernel
def read_parents(
    effects: Table,
    parents: Table,
    model: int,
    place: int,
    rows: Floats,
    columns: Ints,
    amounts: Floats,
) -> None:
    """Write the active column ``(p, c)`` of each parent in rows ``(c, f)``, and what stands in it.

    A missing number counts as 0, a missing level as the first. A code that is no level has the
    column after the last one, whose weight is 0.
    """
    first, none = effects[model, place].first_parent, effects[model, place].n_columns
    for cause in range(effects[model, place].n_parents):
        parent = parents[first + cause]
        position, column, n_levels = parent.position, parent.column, parent.n_levels
        if parent.kind == Kind.LEVEL:
            for c in range(len(rows)):
                value = rows[c, position]
                code = np.int64(value) if value > 0 else 0
                known = (value < 0 or code == value) and code < n_levels
                columns[cause, c] = column + code if known else none
                amounts[cause, c] = 1.0
            continue
        span, low, factor, shift = parent.span, parent.low, parent.factor, parent.shift
        lowest, highest, divisor = parent.lowest, parent.highest, parent.divisor
        is_rank = parent.kind == Kind.RANK
        for c in range(len(rows)):
            value = rows[c, position]
            if is_rank:
                value = 0.0 if value < 0 else value
            else:
                value = clamped(value, -_LARGEST, _LARGEST) if value == value else 0.0
            value = clamped((value * span + low) * factor + shift, lowest, highest)
            columns[cause, c] = column
            amounts[cause, c] = value / divisor


@kernel
def predict(
    effects: Table,
    parents: Table,
    weights: Floats,
    model: int,
    place: int,
    rows: Floats,
    columns: Ints,
    amounts: Floats,
    slopes: Floats,
    predicted: Floats,
) -> None:
    """Write the equation without its noise for rows ``(c, f)``, or its logits, ``(o, c)``.

    ``columns (p, c)``, ``amounts (p, c)`` and ``slopes (c,)`` are room to work in.
    """
    read_parents(effects, parents, model, place, rows, columns, amounts)
    effect, n_rows = effects[model, place], len(rows)
    n_columns, n_parents = effect.n_columns + 1, effect.n_parents
    for output in range(effect.n_outputs):
        constant = effect.weights + output * effect.stride
        plain, matrix = constant + 1, constant + 1 + n_columns
        for c in range(n_rows):
            predicted[output, c] = weights[constant]
        for cause in range(n_parents):
            is_level = parents[effect.first_parent + cause].kind == Kind.LEVEL
            for c in range(n_rows):
                slopes[c] = weights[plain + columns[cause, c]]
            for other in range(cause, n_parents if effect.has_products else cause):
                if is_level or parents[effect.first_parent + other].kind == Kind.LEVEL:
                    for c in range(n_rows):
                        cell = columns[cause, c] * n_columns + columns[other, c]
                        slopes[c] += weights[matrix + cell] * amounts[other, c]
                else:
                    weight = weights[matrix + columns[cause, 0] * n_columns + columns[other, 0]]
                    for c in range(n_rows):
                        slopes[c] += weight * amounts[other, c]
            for c in range(n_rows):
                predicted[output, c] += slopes[c] * amounts[cause, c]
            parent = parents[effect.first_parent + cause]
            if parent.n_knots:
                n_bends = parent.n_knots - 1
                bends = parent.knots + parent.n_knots + output * n_bends
                last = weights[parent.knots + n_bends]
                for c in range(n_rows):
                    slopes[c] = max(amounts[cause, c] - last, 0.0) ** 3
                for bend in range(n_bends):
                    knot, weight = weights[parent.knots + bend], weights[bends + bend]
                    for c in range(n_rows):
                        beyond = max(amounts[cause, c] - knot, 0.0)
                        predicted[output, c] += weight * (beyond**3 - slopes[c])
        if effect.is_exponential:
            for c in range(n_rows):
                predicted[output, c] = exp(predicted[output, c]) + effect.equation_origin


@kernel
def respond(
    effects: Table,
    weights: Floats,
    model: int,
    place: int,
    residual: Floats,
    owners: Ints,
    predicted: Floats,
    values: Floats,
) -> None:
    """Write the values ``(c,)`` that predictions ``(o, c)`` come to under the owners' noise.

    ``residual (i, w)`` is the noise of each person, and ``owners (c,)`` says whose rows these are.
    The first line of the predictions is lost.
    """
    effect, n_rows = effects[model, place], len(owners)
    link, first = effect.link, effect.noise
    for c in range(n_rows):
        values[c] = predicted[0, c] + residual[owners[c], first]
    if link == Link.CHOICE:
        for c in range(n_rows):
            predicted[0, c] = values[c]
            values[c] = 0.0
        for output in range(1, effect.n_outputs):
            for c in range(n_rows):
                logit = predicted[output, c] + residual[owners[c], first + output]
                if logit > predicted[0, c]:
                    predicted[0, c] = logit
                    values[c] = output
    elif link == Link.ORDERED:
        for c in range(n_rows):
            predicted[0, c] = values[c]
            values[c] = 0.0
        for level in range(effect.n_levels - 1):
            threshold = weights[effect.thresholds + level]
            for c in range(n_rows):
                values[c] += 1.0 if threshold < predicted[0, c] else 0.0
    elif link == Link.RANKED:
        highest = effect.n_levels - 1.0
        for c in range(n_rows):
            values[c] = clamped(np.rint(values[c]), 0.0, highest)
    elif link == Link.MULTIPLICATIVE:
        origin, owner, factor = effect.noise_origin, -1, 0.0
        for c in range(n_rows):
            if owners[c] != owner:
                owner = owners[c]
                factor = exp(residual[owner, first])
            values[c] = (predicted[0, c] - origin) * factor + origin
    else:
        for c in range(n_rows):
            values[c] = clamped(values[c], effect.lowest, effect.highest)
    for c in range(n_rows):
        values[c] = (values[c] - effect.low) / effect.span
