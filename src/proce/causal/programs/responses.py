"""Equations for numba: what they give the candidates of one person, without their columns.

All kernels take a :class:`~proce.causal.programs.program.Program` and the place of one of its
effects. They loop over candidates themselves: to call a kernel with arrays costs as much as to
solve an equation.
"""

from typing import NamedTuple

import numpy as np

from proce.arrays import Flags, Floats, Ints
from proce.causal.programs.program import Program, Record
from proce.compiled.cells import CellKind, clamped, entered, is_level, known_or_first
from proce.compiled.elementary import exp
from proce.compiled.kernel import ZERO, kernel, part

BLOCK = 256  # rows that are worked on at once, which fit the cache
_LARGEST = np.finfo(np.float64).max


class Workspace(NamedTuple):
    """Memory that the equations of a program need for a block of rows."""

    columns: Ints  # (p, c), the active column of each parent, and what stands in it
    amounts: Floats
    slopes: Floats  # (c,)
    predicted: Floats  # (o, c), what an equation gives without its noise, or its logits
    values: Floats  # (c,), what causes lead to with the noise, and whether they decide it
    decides: Flags


@part
def workspace(program: Program) -> Workspace:
    """Return memory for a block of rows and any of the equations of a program."""
    n_parents, n_outputs = 1, 1
    for model in range(program.effects.shape[0]):
        for place in range(program.effects.shape[1]):
            n_parents = max(n_parents, program.effects[model, place].n_parents)
            n_outputs = max(n_outputs, program.effects[model, place].n_outputs)
    return Workspace(
        np.empty((n_parents, BLOCK), np.int64),
        np.empty((n_parents, BLOCK)),
        np.empty(BLOCK),
        np.empty((n_outputs, BLOCK)),
        np.empty(BLOCK),
        np.empty(BLOCK, np.bool_),
    )


@part
def read_parents(
    program: Program,
    model: int,
    place: int,
    rows: Floats,
    columns: Ints,
    amounts: Floats,
) -> None:
    """Write each parent's active column ``(p, c)`` in rows ``(c, f)``, and what stands in it."""
    # A missing number counts as 0, a missing level as the first. A code that is no level has the
    # column after the last one, whose weight is 0.
    first, none = (
        program.effects[model, place].first_parent,
        program.effects[model, place].n_columns,
    )
    for cause in range(program.effects[model, place].n_parents):
        parent = program.parents[first + cause]
        position, column, n_levels = parent.position, parent.column, parent.n_levels
        if parent.kind == CellKind.LEVEL:
            for c in range(len(rows)):
                value = known_or_first(rows[c, position], False)
                columns[cause, c] = column + int(value) if is_level(value, n_levels) else none
                amounts[cause, c] = 1.0
            continue
        factor, shift, divisor = parent.factor, parent.shift, parent.divisor
        lowest, highest = parent.lowest, parent.highest
        is_number = parent.kind == CellKind.NUMBER
        for c in range(len(rows)):
            value = clamped(known_or_first(rows[c, position], is_number), -_LARGEST, _LARGEST)
            columns[cause, c] = column
            amounts[cause, c] = entered(value, factor, shift, lowest, highest, divisor)


@part
def predict(
    program: Program,
    model: int,
    place: int,
    rows: Floats,
    work: Workspace,
) -> None:
    """Write what an equation gives rows ``(c, f)`` without its noise, or its logits, ``(o, c)``."""
    # The outputs stand in the workspace, whose columns and amounts are those of the rows then.
    columns, amounts, slopes, predicted = work.columns, work.amounts, work.slopes, work.predicted
    read_parents(program, model, place, rows, columns, amounts)
    effect, n_rows = program.effects[model, place], len(rows)
    n_columns, n_parents = effect.n_columns + 1, effect.n_parents
    for output in range(effect.n_outputs):
        constant = effect.weights + output * effect.stride
        plain, matrix = constant + 1, constant + 1 + n_columns
        for c in range(n_rows):
            predicted[output, c] = program.weights[constant]
        for cause in range(n_parents):
            is_level = program.parents[effect.first_parent + cause].kind == CellKind.LEVEL
            for c in range(n_rows):
                slopes[c] = program.weights[plain + columns[cause, c]]
            for other in range(cause, n_parents if effect.has_products else cause):
                if is_level or program.parents[effect.first_parent + other].kind == CellKind.LEVEL:
                    for c in range(n_rows):
                        cell = columns[cause, c] * n_columns + columns[other, c]
                        slopes[c] += program.weights[matrix + cell] * amounts[other, c]
                else:
                    weight = program.weights[
                        matrix + columns[cause, 0] * n_columns + columns[other, 0]
                    ]
                    for c in range(n_rows):
                        slopes[c] += weight * amounts[other, c]
            for c in range(n_rows):
                predicted[output, c] += slopes[c] * amounts[cause, c]
            parent = program.parents[effect.first_parent + cause]
            if parent.n_knots:
                line = predicted[output]
                _add_bends(program, parent, output, amounts[cause], slopes, line, n_rows)
        if effect.is_exponential:
            for c in range(n_rows):
                predicted[output, c] = exp(predicted[output, c]) + effect.equation_origin


@part
def _add_bends(
    program: Program,
    parent: Record,
    output: int,
    amounts: Floats,
    cubes: Floats,
    sums: Floats,
    n_rows: int,
) -> None:
    """Add to ``sums (c,)`` the weighted bends of an output, of a parent's amounts ``(c,)``."""
    # A bend is the cube of what is beyond a knot, less that of what is beyond the last one.
    n_bends = parent.n_knots - 1
    bends = parent.knots + parent.n_knots + output * n_bends
    last = program.weights[parent.knots + n_bends]
    for c in range(n_rows):
        cubes[c] = max(amounts[c] - last, 0.0) ** 3
    for bend in range(n_bends):
        knot, weight = program.weights[parent.knots + bend], program.weights[bends + bend]
        for c in range(n_rows):
            sums[c] += weight * (max(amounts[c] - knot, 0.0) ** 3 - cubes[c])


@kernel
def write_columns(
    program: Program, rows: Floats, factors: Ints, bends: Ints, columns: Floats
) -> None:
    """Write the columns ``(n, m)`` of the first equation for rows ``(n, f)``; all are 0 before."""
    # The columns are the plain ones, the products of those at `factors (2, q)`, and from
    # `bends (p,)` on the bends of each parent, whose weights are those of as many outputs.
    work, effect = workspace(program), program.effects[0, 0]
    active, amounts, bent = work.columns, work.amounts, work.predicted[0]
    for begin in range(0, len(rows), BLOCK):
        block = columns[begin : begin + BLOCK]
        read_parents(program, ZERO, ZERO, rows[begin : begin + BLOCK], active, amounts)
        for cause in range(effect.n_parents):
            for c in range(len(block)):
                if active[cause, c] < effect.n_columns:
                    block[c, active[cause, c]] = amounts[cause, c]
        for c in range(len(block)):
            for pair in range(factors.shape[1]):
                product = block[c, factors[0, pair]] * block[c, factors[1, pair]]
                block[c, effect.n_columns + pair] = product
        for cause in range(effect.n_parents):
            parent = program.parents[effect.first_parent + cause]
            for bend in range(parent.n_knots - 2):
                bent[:] = 0.0
                _add_bends(program, parent, bend, amounts[cause], work.slopes, bent, len(block))
                for c in range(len(block)):
                    block[c, bends[cause] + bend] = bent[c]


@kernel
def write_predicted(program: Program, rows: Floats, predicted: Floats) -> None:
    """Write the first equation without its noise for rows ``(n, f)``, or its logits, ``(o, n)``."""
    work = workspace(program)
    for begin in range(0, len(rows), BLOCK):
        end = min(begin + BLOCK, len(rows))
        predict(program, ZERO, ZERO, rows[begin:end], work)
        for output in range(len(predicted)):
            for row in range(begin, end):
                predicted[output, row] = work.predicted[output, row - begin]


def solve(program: Program, rows: Floats) -> Floats:
    """Return what the first equation of a program gives without its noise, ``(o, n)``."""
    predicted = np.empty((int(program.effects["n_outputs"][0, 0]), len(rows)))
    write_predicted(program, rows, predicted)
    return predicted
