"""Networks in kernels give what their layers give, and the same for a row in any batch."""

from itertools import pairwise

import numpy as np
import pytest
import torch
from torch import nn

from proce.compiled.row_network import CellInput, CellKind, RowNetworkArrays
from proce.compiled.row_network_kernels import LANES

N_LEVELS = 5


def numbers(*values) -> torch.Tensor:
    return torch.tensor(values)


def by_hand() -> RowNetworkArrays:
    """A number, a rank from 0 to 2 and a level of two, then a hidden layer of two and one output.

    hidden = relu((1, -1) + number * (2, 1) + rank / 2 * (4, 0) + level), output = 10 + 3 a - b.
    """
    last = nn.Linear(2, 1)
    with torch.no_grad():
        last.weight.copy_(numbers([3.0, -1.0]))
        last.bias.copy_(numbers(10.0))
    inputs = [
        CellInput(CellKind.NUMBER, numbers([2.0, 1.0]), numbers(0.5, 0.0), low=-1.0, high=2.0),
        CellInput(CellKind.RANK, numbers([4.0, 0.0]), numbers(0.0, 8.0), reach=2.0),
        CellInput(CellKind.LEVEL, numbers([0.0, 3.0], [-9.0, 5.0]), numbers(0.0, 0.0)),
    ]
    return RowNetworkArrays.of(inputs, numbers(1.0, -1.0), [nn.ReLU(), last])


def test_a_network_computed_by_hand():
    rows = torch.tensor(
        [
            [0.5, 1.0, 0.0],  # a = 1 + 1 + 2, b = -1 + 0.5 + 3
            [0.5, 1.0, 1.0],  # a = 4 - 9 below 0, b = -1 + 0.5 + 5
            [7.0, 0.0, 0.0],  # the number is cut to 2: a = 1 + 4, b = -1 + 2 + 3
            [torch.nan, -1.0, -1.0],  # a = 1 + 0.5, b = -1 + 8
        ],
        dtype=torch.float64,
    )
    assert by_hand().outputs(rows)[:, 0].tolist() == [19.5, 5.5, 21.0, 7.5]
    points = torch.tensor([[19.5], [20.0]])
    offsets = by_hand().mean_squared_offsets(rows.reshape(2, 2, 3), points)
    assert offsets.tolist() == [[0.0, 196.0], [1.0, 156.25]]
    chances = by_hand().class_probabilities(rows)
    assert chances is not None
    assert chances[1].tolist() == pytest.approx([1 / (1 + np.exp(5.5)), 1 / (1 + np.exp(-5.5))])


class Mixed:
    """A random network on numbers, ranks and levels, as layers on columns and as arrays."""

    def __init__(self, hidden, n_outputs, seed):
        draw = torch.Generator().manual_seed(seed)
        self.kinds = [CellKind.NUMBER, CellKind.LEVEL, CellKind.RANK] * 3 + [CellKind.NUMBER]
        widths = [N_LEVELS if kind is CellKind.LEVEL else 1 for kind in self.kinds]
        sizes = [sum(widths) + len(widths), *hidden, n_outputs]
        layers: list[nn.Module] = []
        for n_inputs, n_units in pairwise(sizes):
            linear = nn.Linear(n_inputs, n_units)
            for weights in linear.parameters():
                nn.init.normal_(weights, std=n_inputs**-0.5, generator=draw)
            layers += [linear, nn.ReLU()]
        self.layers = nn.Sequential(*layers[:-1]).requires_grad_(False)
        columns = torch.split(layers[0].weight.detach().T[: sum(widths)], widths)
        flags = layers[0].weight.detach().T[sum(widths) :]
        inputs = [
            CellInput(kind, own, flag, factor=0.5, shift=0.25, reach=2.0)
            if kind is CellKind.NUMBER
            else CellInput(kind, own, flag)
            for kind, own, flag in zip(self.kinds, columns, flags, strict=True)
        ]
        self.arrays = RowNetworkArrays.of(inputs, layers[0].bias.detach(), layers[1:-1])
        self.draw = draw

    def rows(self, n):
        codes = torch.randint(-1, N_LEVELS, (n, len(self.kinds)), generator=self.draw).double()
        values = torch.rand(n, len(self.kinds), generator=self.draw, dtype=torch.float64)
        values[values < 0.1] = torch.nan
        is_number = torch.tensor([kind is CellKind.NUMBER for kind in self.kinds])
        return torch.where(is_number, values, codes)

    def by_layers(self, rows):
        columns, flags = [], []
        for kind, cells in zip(self.kinds, rows.T, strict=True):
            missing = cells.isnan() if kind is CellKind.NUMBER else cells < 0
            flags.append(missing)
            if kind is CellKind.LEVEL:
                columns += [cells == level for level in range(N_LEVELS)]
            else:
                value = (0.5 * cells + 0.25) / 2 if kind is CellKind.NUMBER else cells
                columns.append(value.masked_fill(missing, 0.0))
        return self.layers(torch.stack([*columns, *flags], dim=-1).float())


SIZES = [((64, 32, 16), 1), ((7, 5, 3), 3), ((256, 128, 64, 32, 16), 1), ((33,), 18), ((8,), 2)]


@pytest.mark.parametrize(("hidden", "n_outputs"), SIZES)
def test_kernels_give_what_the_layers_give(hidden, n_outputs):
    network = Mixed(hidden, n_outputs, seed=len(hidden))
    rows = network.rows(3 * LANES + 5)
    expected = network.by_layers(rows)
    torch.testing.assert_close(network.arrays.outputs(rows), expected, rtol=1e-5, atol=1e-5)
    logits = expected.double()
    if n_outputs == 1:
        logits = torch.cat([torch.zeros_like(logits), logits], dim=-1)
    chances = network.arrays.class_probabilities(rows)
    torch.testing.assert_close(chances, logits.softmax(-1), rtol=1e-5, atol=1e-5)
    points = torch.randn(7, n_outputs, generator=network.draw)
    offsets = network.arrays.mean_squared_offsets(rows[:154].reshape(7, 22, -1), points)
    squares = (expected[:154].reshape(7, 22, -1) - points[:, None]).square().mean(-1)
    torch.testing.assert_close(offsets, squares.double(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("hidden", "n_outputs"), SIZES)
def test_what_a_row_gives_does_not_depend_on_its_batch(hidden, n_outputs):
    network = Mixed(hidden, n_outputs, seed=11)
    rows = network.rows(4 * LANES)
    points = torch.randn(4, n_outputs, generator=network.draw)
    outputs, chances = network.arrays.outputs(rows), network.arrays.class_probabilities(rows)
    offsets = network.arrays.mean_squared_offsets(rows.reshape(4, LANES, -1), points)
    for start, count in ((0, 1), (1, 7), (13, LANES), (50, 2 * LANES + 1), (200, 56)):
        some = slice(start, start + count)
        assert torch.equal(network.arrays.outputs(rows[some]), outputs[some])
        assert torch.equal(network.arrays.class_probabilities(rows[some]), chances[some])
    for point in range(4):
        for size in (1, 9, LANES):
            part = rows.reshape(4, LANES, -1)[point, -size:][None]
            alone = network.arrays.mean_squared_offsets(part, points[point, None])
            assert torch.equal(alone[0], offsets[point, -size:])


def test_a_cell_that_may_not_be_missing_has_no_answer():
    inputs = [CellInput(CellKind.NUMBER, numbers([2.0, 1.0]), None)]
    network = RowNetworkArrays.of(inputs, numbers(0.0, 0.0), [nn.ReLU(), nn.Linear(2, 1)])
    assert network.class_probabilities(torch.tensor([[0.5]], dtype=torch.float64)) is not None
    assert network.class_probabilities(torch.tensor([[torch.nan]], dtype=torch.float64)) is None


def test_an_output_that_is_not_a_number_is_no_answer():
    last = nn.Linear(2, 1)
    nn.init.constant_(last.weight, torch.nan)
    inputs = [CellInput(CellKind.NUMBER, numbers([2.0, 1.0]), None)]
    network = RowNetworkArrays.of(inputs, numbers(0.0, 0.0), [nn.ReLU(), last])
    assert network.class_probabilities(torch.tensor([[0.5]], dtype=torch.float64)) is None
