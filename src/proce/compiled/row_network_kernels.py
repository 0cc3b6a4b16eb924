"""The kernels that run a network on rows of numbers and level codes, in float32.

The first layer adds up rows of a table: a number takes its share of one row, a level picks one. The
further layers are products. Candidates stand side by side in lanes, every lane is computed by the
same operations in the same order, and nothing is added up across lanes; so what a row gives does
not depend on its batch, to the last bit.
"""

import math

import numpy as np
from numpy.typing import NDArray

from proce.compiled.kernel import kernel

Doubles = NDArray[np.float64]
Singles = NDArray[np.float32]
Ints = NDArray[np.int64]

LANES = 64  # candidates at a time; a constant, so that the loops over them become vectors
NUMBER, RANK, LEVEL = 0, 1, 2  # what a cell is: NaN where missing, or below 0 for the other two
KIND, FIRST_ROW, N_LEVELS, MISSING_ROW = 0, 1, 2, 3  # columns of `cells`
FACTOR, SHIFT, LOW, HIGH, REACH = 0, 1, 2, 3, 4  # columns of `scales`
N_INPUTS, N_OUTPUTS, IS_RAMP = 0, 1, 2  # columns of `layers`
_ZERO = np.float32(0)
_ONE = np.float32(1)


@kernel
def outputs(
    rows: Doubles,
    cells: Ints,
    scales: Doubles,
    table: Singles,
    layers: Ints,
    weights: Singles,
    given: Singles,
) -> bool:
    """Write the outputs ``given (n, o)`` of rows ``(n, f)``; return whether all could be read."""
    first, second, hidden, taken, shares = _buffers(cells, layers)
    n_rows, n_outputs = given.shape
    for start in range(0, n_rows, LANES):
        count = min(LANES, n_rows - start)
        if not _enter(
            rows, start, count, cells, scales, table, layers, first, hidden, taken, shares
        ):
            return False
        last = _pass_on(layers, weights, first, second)
        for lane in range(count):
            for output in range(n_outputs):
                given[start + lane, output] = last[output * LANES + lane]
    return True


@kernel
def class_probabilities(
    rows: Doubles,
    cells: Ints,
    scales: Doubles,
    table: Singles,
    layers: Ints,
    weights: Singles,
    given: Doubles,
) -> bool:
    """Write the class probabilities ``given (n, k)`` of rows; return whether all are numbers.

    One output is the logit of the second of two classes; several are logits of their classes.
    """
    first, second, hidden, taken, shares = _buffers(cells, layers)
    n_rows, n_classes = given.shape
    n_outputs = layers[-1, N_OUTPUTS]
    for start in range(0, n_rows, LANES):
        count = min(LANES, n_rows - start)
        if not _enter(
            rows, start, count, cells, scales, table, layers, first, hidden, taken, shares
        ):
            return False
        last = _pass_on(layers, weights, first, second)
        for lane in range(count):
            row = given[start + lane]
            if n_outputs == 1:
                logit = np.float64(last[lane])
                small = math.exp(-abs(logit))  # 1 - p loses digits near 1
                larger, smaller = 1.0 / (1.0 + small), small / (1.0 + small)
                row[0], row[1] = (smaller, larger) if logit > 0 else (larger, smaller)
            else:
                highest = last[lane]
                for output in range(1, n_outputs):
                    highest = max(highest, last[output * LANES + lane])
                total = 0.0
                for output in range(n_outputs):
                    row[output] = math.exp(np.float64(last[output * LANES + lane] - highest))
                    total += row[output]
                for output in range(n_outputs):
                    row[output] /= total
            for label in range(n_classes):
                if math.isnan(row[label]):
                    return False
    return True


@kernel
def mean_squared_offsets(
    rows: Doubles,
    cells: Ints,
    scales: Doubles,
    table: Singles,
    layers: Ints,
    weights: Singles,
    points: Singles,
    given: Doubles,
) -> bool:
    """Write how far the outputs of rows are from points: the mean of the squares ``given (n,)``.

    The rows stand in as many groups of equal size as there are ``points (i, o)``.
    """
    first, second, hidden, taken, shares = _buffers(cells, layers)
    n_rows, n_outputs = len(given), points.shape[1]
    size = max(1, n_rows // max(1, len(points)))
    wanted = np.zeros(n_outputs * LANES, np.float32)
    totals = np.zeros(LANES, np.float32)
    filled = -1  # the point that all lanes hold
    for start in range(0, n_rows, LANES):
        count = min(LANES, n_rows - start)
        if not _enter(
            rows, start, count, cells, scales, table, layers, first, hidden, taken, shares
        ):
            return False
        last = _pass_on(layers, weights, first, second)
        lowest, highest = start // size, (start + count - 1) // size
        if lowest != highest or lowest != filled:
            for lane in range(LANES):
                point = points[min(start + lane, n_rows - 1) // size]
                for output in range(n_outputs):
                    wanted[output * LANES + lane] = point[output]
            filled = lowest if lowest == (start + LANES - 1) // size else -1
        totals[:] = _ZERO
        for output in range(n_outputs):
            offset = output * LANES
            for lane in range(LANES):
                gap = last[offset + lane] - wanted[offset + lane]
                totals[lane] += gap * gap
        for lane in range(count):
            given[start + lane] = totals[lane] / np.float32(n_outputs)
    return True


@kernel
def _buffers(cells: Ints, layers: Ints) -> tuple[Singles, Singles, Singles, Ints, Singles]:
    """Return the memory of a call: two blocks of lanes, one hidden layer, and picked rows."""
    widest = layers[:, N_OUTPUTS].max()
    n_picked = len(cells) + 4
    return (
        np.zeros(widest * LANES, np.float32),
        np.zeros(widest * LANES, np.float32),
        np.zeros(layers[0, N_OUTPUTS], np.float32),
        np.zeros(n_picked, np.int64),
        np.zeros(n_picked, np.float32),
    )


@kernel
def _enter(
    rows: Doubles,
    start: int,
    count: int,
    cells: Ints,
    scales: Doubles,
    table: Singles,
    layers: Ints,
    block: Singles,
    hidden: Singles,
    taken: Ints,
    shares: Singles,
) -> bool:
    """Write the first layer of some rows into lanes; return whether the rows could be read."""
    n_hidden, is_ramp = layers[0, N_OUTPUTS], layers[0, IS_RAMP] == 1
    for lane in range(count):
        n_picked = _pick(rows[start + lane], cells, scales, taken, shares)
        if n_picked == 0:
            return False
        hidden[:] = _ZERO
        for picked in range(0, n_picked, 4):
            a, b, c, d = taken[picked], taken[picked + 1], taken[picked + 2], taken[picked + 3]
            p, q, r, s = shares[picked], shares[picked + 1], shares[picked + 2], shares[picked + 3]
            one, two, three, four = table[a], table[b], table[c], table[d]
            for unit in range(n_hidden):
                added = p * one[unit] + q * two[unit] + r * three[unit] + s * four[unit]
                hidden[unit] += added
        for unit in range(n_hidden):
            value = hidden[unit]
            block[unit * LANES + lane] = _ZERO if is_ramp and value < _ZERO else value
    return True


@kernel
def _pick(row: Doubles, cells: Ints, scales: Doubles, taken: Ints, shares: Singles) -> int:
    """Write which rows of the table a row takes, and what share of each; return how many.

    The number is a multiple of four, or 0 where a cell is missing that may not be. The first row of
    the table is the bias. A code that no level has takes nothing.
    """
    taken[0], shares[0], count = 0, _ONE, 1
    for feature in range(len(row)):
        value = row[feature] * scales[feature, FACTOR] + scales[feature, SHIFT]
        kind = cells[feature, KIND]
        if math.isnan(value) if kind == NUMBER else value < 0:
            if cells[feature, MISSING_ROW] < 0:
                return 0
            taken[count], shares[count] = cells[feature, MISSING_ROW], _ONE
        elif kind == LEVEL:
            if not (value < cells[feature, N_LEVELS] and value == math.floor(value)):
                continue
            taken[count], shares[count] = cells[feature, FIRST_ROW] + np.int64(value), _ONE
        else:
            value = min(max(value, scales[feature, LOW]), scales[feature, HIGH])
            taken[count] = cells[feature, FIRST_ROW]
            shares[count] = np.float32(value) / np.float32(scales[feature, REACH])
        count += 1
    while count % 4:
        taken[count], shares[count] = 0, _ZERO
        count += 1
    return count


@kernel
def _pass_on(layers: Ints, weights: Singles, first: Singles, second: Singles) -> Singles:
    """Return the outputs of the last layer, in lanes, from those of the first."""
    values, others, offset = first, second, 0
    for layer in range(1, len(layers)):
        n_inputs, n_outputs = layers[layer, N_INPUTS], layers[layer, N_OUTPUTS]
        middle = offset + n_inputs * n_outputs
        _multiply(
            values, weights[offset:middle], weights[middle : middle + n_outputs], n_inputs, others
        )
        if layers[layer, IS_RAMP] == 1:
            for position in range(n_outputs * LANES):
                value = others[position]
                others[position] = _ZERO if value < _ZERO else value
        offset = middle + n_outputs
        values, others = others, values
    return values


@kernel
def _multiply(
    inputs: Singles,
    weights: Singles,
    bias: Singles,
    n_inputs: int,
    given: Singles,
) -> None:
    """Write a linear layer's outputs in lanes, four inputs and four outputs at a time."""
    n_outputs = len(bias)
    for output in range(n_outputs):
        own = given[output * LANES : (output + 1) * LANES]
        own[:] = bias[output]
    n_fours, n_whole = n_inputs - n_inputs % 4, n_outputs - n_outputs % 4
    for output in range(0, n_whole, 4):
        own = given[output * LANES : (output + 4) * LANES]
        for entry in range(0, n_fours, 4):
            o = output * n_inputs + entry
            a0, a1, a2, a3 = weights[o], weights[o + 1], weights[o + 2], weights[o + 3]
            o += n_inputs
            b0, b1, b2, b3 = weights[o], weights[o + 1], weights[o + 2], weights[o + 3]
            o += n_inputs
            c0, c1, c2, c3 = weights[o], weights[o + 1], weights[o + 2], weights[o + 3]
            o += n_inputs
            d0, d1, d2, d3 = weights[o], weights[o + 1], weights[o + 2], weights[o + 3]
            x = inputs[entry * LANES : (entry + 4) * LANES]
            for lane in range(LANES):
                x0, x1 = x[lane], x[LANES + lane]
                x2, x3 = x[2 * LANES + lane], x[3 * LANES + lane]
                own[lane] += a0 * x0 + a1 * x1 + a2 * x2 + a3 * x3
                own[LANES + lane] += b0 * x0 + b1 * x1 + b2 * x2 + b3 * x3
                own[2 * LANES + lane] += c0 * x0 + c1 * x1 + c2 * x2 + c3 * x3
                own[3 * LANES + lane] += d0 * x0 + d1 * x1 + d2 * x2 + d3 * x3
    for output in range(n_outputs):
        own = given[output * LANES : (output + 1) * LANES]
        for entry in range(n_fours if output < n_whole else 0, n_inputs):
            weight = weights[output * n_inputs + entry]
            x = inputs[entry * LANES : (entry + 1) * LANES]
            for lane in range(LANES):
                own[lane] += weight * x[lane]
