"""Networks on rows of numbers and level codes, as flat arrays and the kernels that run them.

The arithmetic is in float32. The first layer adds up rows of a table: a number takes its share of
one row, a level picks one. The further layers are products. Candidates stand side by side in lanes,
every lane is computed by the same operations in the same order, and nothing is added up across
lanes; so what a row gives does not depend on its batch, to the last bit.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from proce.arrays import Array, Floats, Ints, Singles
from proce.compiled.cells import CellKind, entered, is_level, is_missing
from proce.compiled.elementary import write_probabilities
from proce.compiled.kernel import kernel, part

LANES = 64  # candidates at a time; a constant, so that the loops over them become vectors
_NUMBER, _LEVEL = int(CellKind.NUMBER), int(CellKind.LEVEL)
KIND, FIRST_ROW, N_LEVELS, MISSING_ROW = 0, 1, 2, 3  # columns of `cells`
FACTOR, SHIFT, LOW, HIGH, REACH = 0, 1, 2, 3, 4  # columns of `scales`
N_INPUTS, N_OUTPUTS, IS_RAMP = 0, 1, 2  # columns of `layers`
_ZERO = np.float32(0)


@dataclass(frozen=True, eq=False)
class CellInput:
    """How the cells of one feature enter the first layer."""

    kind: CellKind  # what the cells are
    weights: Array  # (r, h), the weights of the number, or those of each level
    missing: Array | None  # (h,), the weights of a missing cell; None where no cell may be missing
    # factor, shift, low, high, reach: a number enters as min(max(factor * x + shift, low), high) /
    # reach
    factor: float = 1.0
    shift: float = 0.0
    low: float = -np.inf
    high: float = np.inf
    reach: float = 1.0


class Layer(NamedTuple):
    """A linear layer: ``weights (o, i)``, ``bias (o,)``, and whether what is negative becomes 0."""

    weights: Array
    bias: Array
    is_ramp: bool = False


class RowNetwork(NamedTuple):
    """A network from rows ``(n, f)`` to outputs ``(n, o)``; make it with :meth:`of`."""

    # (f, 4): what a cell is, the first row of the table that belongs to it, how many levels it has,
    # and the row of the table for a missing cell, or -1
    cells: Ints
    scales: Floats  # (f, 5): factor, shift, low, high and reach of numbers
    table: Singles  # (t, h), the rows that the first layer adds up; the first one is its bias
    layers: Ints  # (l, 3): the inputs, the outputs and whether negative outputs become 0
    weights: Singles  # the weights and biases of all layers but the first, one after the other

    @classmethod
    def of(
        cls, inputs: Sequence[CellInput], bias: Array, is_ramp: bool, layers: Sequence[Layer]
    ) -> "RowNetwork":
        """Return a network as arrays.

        Shapes: bias, is_ramp ``(h,)``.
        """
        rows, cells, n_rows = [bias[None]], [], 1
        for given in inputs:
            first, n_rows = n_rows, n_rows + len(given.weights)
            rows.append(given.weights)
            missing = -1
            if given.missing is not None:
                rows.append(given.missing[None])
                missing, n_rows = n_rows, n_rows + 1
            cells.append((given.kind, first, len(given.weights), missing))
        shapes = [[len(inputs), len(bias), int(is_ramp)]]
        shapes += [[*layer.weights.shape[::-1], int(layer.is_ramp)] for layer in layers]
        flat = [part.ravel() for layer in layers for part in (layer.weights, layer.bias)]
        scales = [(own.factor, own.shift, own.low, own.high, own.reach) for own in inputs]
        return cls(
            np.array(cells, np.int64).reshape(-1, 4),
            np.array(scales, np.float64).reshape(-1, 5),
            np.concatenate(rows).astype(np.float32, order="C"),
            np.array(shapes, np.int64),
            np.concatenate([np.empty(0, np.float32), *flat]).astype(np.float32),
        )

    @property
    def n_outputs(self) -> int:
        """How many numbers the network gives for a row."""
        return int(self.layers[-1, N_OUTPUTS])

    def without_scale(self) -> "RowNetwork":
        """Return the network for numbers that need neither factor nor shift."""
        scales = self.scales.copy()
        scales[:, :2] = 1.0, 0.0
        return self._replace(scales=scales)

    def outputs(self, rows: Floats) -> Singles:
        """Return the outputs ``(…, o)`` of rows ``(…, f)``; any cell may be missing."""
        given = np.empty((*rows.shape[:-1], self.n_outputs), np.float32)
        done = write_outputs(_lines(rows), self, given.reshape(-1, self.n_outputs))
        assert done, "every feature of such a network may be missing"
        return given

    def class_probabilities(self, rows: Floats) -> Floats | None:
        """Return the class probabilities ``(n, k)`` of rows ``(n, f)``.

        One output is the logit of the second of two classes; several are logits of their classes.
        ``None`` where a cell is missing that may not be.
        """
        logits = np.empty((len(rows), self.n_outputs), np.float32)
        if not write_outputs(_lines(rows), self, logits):
            return None
        given = np.empty((len(rows), max(2, self.n_outputs)))
        write_probabilities(logits.astype(np.float64), given)
        return given

    def mean_squared_offsets(self, rows: Floats, points: Singles) -> Floats:
        """Return how far the outputs of rows ``(i, c, f)`` are from ``points (i, o)``, ``(i, c)``.

        That is the mean of the squared differences; any cell may be missing.
        """
        given = np.empty(rows.shape[:2])
        write_mean_squares(self.outputs(rows), points, given)
        return given


def _lines(rows: Floats) -> Floats:
    """Return rows ``(…, f)`` as one contiguous array ``(n, f)``."""
    return np.ascontiguousarray(rows, np.float64).reshape(-1, rows.shape[-1])


@kernel
def write_outputs(
    rows: Floats,
    network: RowNetwork,
    given: Singles,
) -> bool:
    """Write the outputs ``given (n, o)`` of rows ``(n, f)``; return whether all could be read."""
    layers, weights, widest = network.layers, network.weights, 0
    for layer in range(len(layers)):
        widest = max(widest, layers[layer, N_OUTPUTS])
    values, others = np.empty(widest * LANES, np.float32), np.empty(widest * LANES, np.float32)
    for place in range(len(values)):
        values[place] = others[place] = _ZERO  # also in lanes that hold no row
    picks, hidden = _no_picks(network), np.empty(layers[0, N_OUTPUTS], np.float32)
    n_rows = len(rows)
    for start in range(0, n_rows, LANES):
        count = min(LANES, n_rows - start)
        if not _enter(rows[start : start + count], network, picks, hidden, values):
            return False
        offset = 0
        for layer in range(1, len(layers)):
            n_inputs, n_outputs = layers[layer, N_INPUTS], layers[layer, N_OUTPUTS]
            middle = offset + n_inputs * n_outputs
            bias = weights[middle : middle + n_outputs]
            _multiply(values, weights[offset:middle], bias, n_inputs, others)
            if layers[layer, IS_RAMP] == 1:
                for place in range(n_outputs * LANES):
                    others[place] = _ZERO if others[place] < _ZERO else others[place]
            offset = middle + n_outputs
            values, others = others, values
        for lane in range(count):
            for output in range(given.shape[1]):
                given[start + lane, output] = values[output * LANES + lane]
    return True


@kernel
def write_mean_squares(outputs: Singles, points: Singles, given: Floats) -> None:
    """Write how far outputs ``(i, c, o)`` are from points ``(i, o)``: the mean of the squares."""
    for i in range(len(outputs)):
        for c in range(outputs.shape[1]):
            total = _ZERO
            for output in range(outputs.shape[2]):
                gap = outputs[i, c, output] - points[i, output]
                total += gap * gap
            given[i, c] = total / np.float32(outputs.shape[2])


class Picks(NamedTuple):
    """Which rows of the table a row of cells takes, ``taken (p,)``, and the ``shares`` of each."""

    taken: Ints
    shares: Floats


@part
def _no_picks(network: RowNetwork) -> Picks:
    """Return memory for the picks of a row."""
    n_picks = len(network.cells) + 4
    return Picks(np.empty(n_picks, np.int64), np.empty(n_picks))


@part
def _enter(
    rows: Floats, network: RowNetwork, picks: Picks, hidden: Singles, block: Singles
) -> bool:
    """Write the first layer of rows ``(r, f)`` into lanes, at most as many as there are.

    A ``block (h * lanes,)`` holds the lanes of one unit after the other, ``hidden (h,)`` the units
    of one row. Return whether the rows could be read.
    """
    table, (taken, shares) = network.table, picks
    n_hidden, is_ramp = network.layers[0, N_OUTPUTS], network.layers[0, IS_RAMP] == 1
    for lane in range(len(rows)):
        n_picked = _pick(rows[lane], network, picks)
        if n_picked <= 0:
            return False
        for unit in range(n_hidden):
            hidden[unit] = _ZERO
        for picked in range(0, n_picked, 4):
            a, b, c, d = taken[picked], taken[picked + 1], taken[picked + 2], taken[picked + 3]
            p, q = np.float32(shares[picked]), np.float32(shares[picked + 1])
            r, s = np.float32(shares[picked + 2]), np.float32(shares[picked + 3])
            one, two, three, four = table[a], table[b], table[c], table[d]
            for unit in range(n_hidden):
                added = p * one[unit] + q * two[unit] + r * three[unit] + s * four[unit]
                hidden[unit] += added
        for unit in range(n_hidden):
            value = hidden[unit]
            block[unit * LANES + lane] = _ZERO if is_ramp and value < _ZERO else value
    return True


@part
def _pick(row: Floats, network: RowNetwork, picks: Picks) -> int:
    """Write what a row ``(f,)`` takes from the table, beginning with the bias; return how much.

    That is a multiple of four or, where a cell is missing that may not be, the position of the
    feature times -1. A code that no level has takes nothing.
    """
    cells, scales, taken, shares = network.cells, network.scales, picks.taken, picks.shares
    taken[0], shares[0], count = 0, 1.0, 1
    for feature in range(len(row)):
        value, kind = row[feature], cells[feature, KIND]
        if is_missing(value, kind == _NUMBER):
            if cells[feature, MISSING_ROW] < 0:
                return -feature
            taken[count], shares[count] = cells[feature, MISSING_ROW], 1.0
        elif kind == _LEVEL:
            if not is_level(value, cells[feature, N_LEVELS]):
                continue
            taken[count], shares[count] = cells[feature, FIRST_ROW] + np.int64(value), 1.0
        else:
            factor, shift = scales[feature, FACTOR], scales[feature, SHIFT]
            low, high = scales[feature, LOW], scales[feature, HIGH]
            taken[count] = cells[feature, FIRST_ROW]
            shares[count] = entered(value, factor, shift, low, high, scales[feature, REACH])
        count += 1
    while count % 4:
        taken[count], shares[count] = 0, 0.0
        count += 1
    return count


@kernel
def write_inputs(
    rows: Floats, network: RowNetwork, columns: Ints, given: Floats
) -> tuple[int, int]:
    """Write what rows put into the columns ``given (n, w)``, which are 0, before they are weighed.

    ``columns (t,)`` are those of the rows of the table. Return the positions of the first row that
    cannot be read and of the feature that it lacks, or -1 twice.
    """
    picks = taken, shares = _no_picks(network)
    for row in range(len(rows)):
        n_picked = _pick(rows[row], network, picks)
        if n_picked <= 0:
            return row, -n_picked
        for place in range(1, n_picked):
            if taken[place] > 0:  # others fill up to four
                given[row, columns[taken[place]]] = shares[place]
    return -1, -1


@part
def _multiply(
    inputs: Singles,
    weights: Singles,
    bias: Singles,
    n_inputs: int,
    given: Singles,
) -> None:
    """Write a linear layer's outputs in lanes, four inputs and four outputs at a time.

    ``inputs (i * lanes,)`` and ``given (o * lanes,)`` hold the lanes of one unit after the other,
    ``weights (o * i,)`` those of one output after the other. Each output adds its inputs in their
    order, whatever the lane.
    """
    n_outputs = len(bias)
    for output in range(n_outputs):
        for lane in range(LANES):
            given[output * LANES + lane] = bias[output]
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
