"""On a CUDA device a network on rows gives what it gives on the CPU, but for rounding."""

import pytest
import torch
from torch import nn

pytest.importorskip("triton")

from proce.compiled.gpu.row_network import RowNetworkOnDevice
from proce.compiled.row_network import CellInput, CellKind, RowNetworkArrays


def network(seed: int) -> RowNetworkArrays:
    """Return a network of a number, a rank that is never missing, and a level."""
    torch.manual_seed(seed)
    number = CellInput(CellKind.NUMBER, torch.randn(1, 5), torch.randn(5), 2.0, -0.5, -0.2, 1.2)
    rank = CellInput(CellKind.RANK, torch.randn(1, 5), None, reach=3.0)
    level = CellInput(CellKind.LEVEL, torch.randn(4, 5), torch.randn(5))
    layers = [nn.ReLU(), nn.Linear(5, 3), nn.ReLU(), nn.Linear(3, 2)]
    return RowNetworkArrays.of([number, rank, level], torch.randn(5), layers)


def on(device: torch.device, arrays: RowNetworkArrays) -> RowNetworkOnDevice:
    names = ("cells", "scales", "table", "layers", "weights")
    return RowNetworkOnDevice(
        *(torch.from_numpy(getattr(arrays, name)).to(device) for name in names)
    )


def test_rows_with_missing_cells_give_what_the_cpu_gives(device):
    torch.manual_seed(3)
    rows = torch.rand(130, 3).double()
    rows[:, 1], rows[:, 2] = (rows[:, 1] * 4).floor(), (rows[:, 2] * 4).floor()
    rows[3, 0], rows[4, 2] = torch.nan, -1.0
    arrays = network(0)
    given = on(device, arrays)(rows.to(device)).cpu()
    torch.testing.assert_close(given, arrays.outputs(rows), atol=1e-5, rtol=1e-5)


def test_a_cell_that_may_not_be_missing_gives_no_number(device):
    rows = torch.tensor([[0.5, -1.0, 2.0], [0.5, 1.0, 2.0]]).double()
    given = on(device, network(0))(rows.to(device)).cpu()
    assert given[0].isnan().all()
    assert given[1].isfinite().all()


def test_outputs_are_compared_with_the_point_of_their_row(device):
    torch.manual_seed(4)
    rows = torch.rand(3, 50, 3).double()
    rows[..., 1:] = (rows[..., 1:] * 4).floor()
    points, arrays = torch.rand(3, 2), network(0)
    given = on(device, arrays).mean_squared_offsets(rows.to(device), points.to(device)).cpu()
    torch.testing.assert_close(given, arrays.mean_squared_offsets(rows, points), atol=1e-5, rtol=0)
