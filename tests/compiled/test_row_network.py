"""Networks in kernels give what their layers give, and the same for a row in any batch."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.special import softmax

from proce.arrays import Array
from proce.compiled.cells import CellKind
from proce.compiled.row_network import LANES, CellInput, Layer, RowNetwork

N_LEVELS = 5


def numbers(*values) -> Array:
    return np.array(values, np.float32)


def by_hand() -> RowNetwork:
    """A number, a rank from 0 to 2 and a level of two, then a hidden layer of two and one output.

    hidden = relu((1, -1) + number * (2, 1) + rank / 2 * (4, 0) + level), output = 10 + 3 a - b.
    """
    last = Layer(numbers([3.0, -1.0]), numbers(10.0))
    inputs = [
        CellInput(CellKind.NUMBER, numbers([2.0, 1.0]), numbers(0.5, 0.0), low=-1.0, high=2.0),
        CellInput(CellKind.RANK, numbers([4.0, 0.0]), numbers(0.0, 8.0), reach=2.0),
        CellInput(CellKind.LEVEL, numbers([0.0, 3.0], [-9.0, 5.0]), numbers(0.0, 0.0)),
    ]
    return RowNetwork.of(inputs, numbers(1.0, -1.0), True, [last])


def test_a_network_computed_by_hand():
    rows = np.array(
        [
            [0.5, 1.0, 0.0],  # a = 1 + 1 + 2, b = -1 + 0.5 + 3
            [0.5, 1.0, 1.0],  # a = 4 - 9 below 0, b = -1 + 0.5 + 5
            [7.0, 0.0, 0.0],  # the number is cut to 2: a = 1 + 4, b = -1 + 2 + 3
            [np.nan, -1.0, -1.0],  # a = 1 + 0.5, b = -1 + 8
        ],
        dtype=np.float64,
    )
    assert by_hand().outputs(rows)[:, 0].tolist() == [19.5, 5.5, 21.0, 7.5]
    points = numbers([19.5], [20.0])
    offsets = by_hand().mean_squared_offsets(rows.reshape(2, 2, 3), points)
    assert offsets.tolist() == [[0.0, 196.0], [1.0, 156.25]]
    chances = by_hand().class_probabilities(rows)
    assert chances is not None
    assert chances[1].tolist() == pytest.approx([1 / (1 + np.exp(5.5)), 1 / (1 + np.exp(-5.5))])


class Mixed:
    """A random network on numbers, ranks and levels, as layers on columns and as arrays."""

    def __init__(self, hidden, n_outputs, seed):
        self.draw = np.random.default_rng(seed)
        self.kinds = [CellKind.NUMBER, CellKind.LEVEL, CellKind.RANK] * 3 + [CellKind.NUMBER]
        widths = [N_LEVELS if kind is CellKind.LEVEL else 1 for kind in self.kinds]
        sizes = [sum(widths) + len(widths), *hidden, n_outputs]
        self.layers = [
            Layer(self.weights(n_units, n_inputs), self.weights(n_units), True)
            for n_inputs, n_units in pairwise(sizes)
        ]
        self.layers[-1] = self.layers[-1]._replace(is_ramp=False)
        first = self.layers[0]
        *columns, flags = np.split(first.weights.T, np.cumsum(widths))
        inputs = [
            CellInput(kind, own, flag, factor=0.5, shift=0.25, reach=2.0)
            if kind is CellKind.NUMBER
            else CellInput(kind, own, flag)
            for kind, own, flag in zip(self.kinds, columns, flags, strict=True)
        ]
        self.arrays = RowNetwork.of(inputs, first.bias, first.is_ramp, self.layers[1:])

    def weights(self, *shape):
        return (self.draw.standard_normal(shape) * shape[-1] ** -0.5).astype(np.float32)

    def points(self, n):
        return self.draw.standard_normal((n, self.arrays.n_outputs)).astype(np.float32)

    def rows(self, n):
        codes = self.draw.integers(-1, N_LEVELS, (n, len(self.kinds))).astype(np.float64)
        values = self.draw.random((n, len(self.kinds)))
        values[values < 0.1] = np.nan
        is_number = np.array([kind is CellKind.NUMBER for kind in self.kinds])
        return np.where(is_number, values, codes)

    def by_layers(self, rows):
        columns, flags = [], []
        for kind, cells in zip(self.kinds, rows.T, strict=True):
            missing = np.isnan(cells) if kind is CellKind.NUMBER else cells < 0
            flags.append(missing)
            if kind is CellKind.LEVEL:
                columns += [cells == level for level in range(N_LEVELS)]
            else:
                value = (0.5 * cells + 0.25) / 2 if kind is CellKind.NUMBER else cells
                columns.append(np.where(missing, 0.0, value))
        values = np.stack([*columns, *flags], axis=-1).astype(np.float64)
        for weights, bias, is_ramp in self.layers:
            values = values @ weights.T + bias
            values = np.maximum(values, 0) if is_ramp else values
        return values


SIZES = [((64, 32, 16), 1), ((7, 5, 3), 3), ((256, 128, 64, 32, 16), 1), ((33,), 18), ((8,), 2)]


@pytest.mark.parametrize(("hidden", "n_outputs"), SIZES)
def test_kernels_give_what_the_layers_give(hidden, n_outputs):
    network = Mixed(hidden, n_outputs, seed=len(hidden))
    rows = network.rows(3 * LANES + 5)
    expected = network.by_layers(rows)
    np.testing.assert_allclose(network.arrays.outputs(rows), expected, rtol=1e-5, atol=1e-5)
    logits = np.pad(expected, ((0, 0), (1, 0))) if n_outputs == 1 else expected
    chances = network.arrays.class_probabilities(rows)
    np.testing.assert_allclose(chances, softmax(logits, -1), rtol=1e-5, atol=1e-5)
    points = network.points(7)
    offsets = network.arrays.mean_squared_offsets(rows[:154].reshape(7, 22, -1), points)
    squares = np.square(expected[:154].reshape(7, 22, -1) - points[:, None]).mean(-1)
    np.testing.assert_allclose(offsets, squares, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("hidden", "n_outputs"), SIZES)
def test_what_a_row_gives_does_not_depend_on_its_batch(hidden, n_outputs):
    network = Mixed(hidden, n_outputs, seed=11)
    rows = network.rows(4 * LANES)
    points = network.points(4)
    outputs, chances = network.arrays.outputs(rows), network.arrays.class_probabilities(rows)
    offsets = network.arrays.mean_squared_offsets(rows.reshape(4, LANES, -1), points)
    for start, count in ((0, 1), (1, 7), (13, LANES), (50, 2 * LANES + 1), (200, 56)):
        some = slice(start, start + count)
        assert np.array_equal(network.arrays.outputs(rows[some]), outputs[some])
        assert np.array_equal(network.arrays.class_probabilities(rows[some]), chances[some])
    for point in range(4):
        for size in (1, 9, LANES):
            part = rows.reshape(4, LANES, -1)[point, -size:][None]
            alone = network.arrays.mean_squared_offsets(part, points[point, None])
            assert np.array_equal(alone[0], offsets[point, -size:])


def test_a_cell_that_may_not_be_missing_has_no_answer():
    inputs = [CellInput(CellKind.NUMBER, numbers([2.0, 1.0]), None)]
    last = Layer(numbers([1.0, 2.0]), numbers(0.0))
    network = RowNetwork.of(inputs, numbers(0.0, 0.0), True, [last])
    assert network.class_probabilities(np.array([[0.5]], dtype=np.float64)) is not None
    assert network.class_probabilities(np.array([[np.nan]], dtype=np.float64)) is None


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_an_output_that_is_not_a_number_gives_no_probability_that_is_one(n_outputs):
    last = Layer(np.full((n_outputs, 2), 1.0, np.float32), np.zeros(n_outputs, np.float32))
    last.weights[-1, 0] = np.nan
    inputs = [CellInput(CellKind.NUMBER, numbers([2.0, 1.0]), None)]
    network = RowNetwork.of(inputs, numbers(0.0, 0.0), True, [last])
    chances = network.class_probabilities(np.array([[0.5]]))
    assert chances is not None
    assert np.isnan(chances).all()


def test_probabilities_keep_their_digits_on_either_side():
    inputs = [CellInput(CellKind.NUMBER, numbers([1.0]), None)]
    network = RowNetwork.of(inputs, numbers(0.0), False, [])
    chances = network.class_probabilities(np.array([[40.0], [-40.0], [900.0]]))
    assert chances is not None
    assert chances[:, 0].tolist() == pytest.approx([np.exp(-40.0), 1.0, 0.0], rel=1e-12)
    assert chances[:, 1].tolist() == pytest.approx([1.0, np.exp(-40.0), 1.0], rel=1e-12)


def test_without_its_scale_a_network_reads_numbers_as_they_are():
    network = Mixed((7,), 2, seed=1)
    rows = network.rows(20)
    is_number = np.array([kind is CellKind.NUMBER for kind in network.kinds])
    scaled = np.where(is_number, 0.5 * rows + 0.25, rows)
    assert np.array_equal(
        network.arrays.without_scale().outputs(scaled), network.arrays.outputs(rows)
    )


def test_a_code_that_no_level_has_weighs_nothing():
    rows = np.array([[0.5, 1.0, code] for code in (2.0, 0.5)])
    assert by_hand().outputs(rows)[:, 0].tolist() == [22.0, 22.0]  # a = 4, b below 0
