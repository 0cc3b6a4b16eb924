"""A network on rows on a CUDA device: the first layer by a kernel, the others as products."""

import torch
import triton
from torch import Tensor

from proce.compiled.gpu.layers import first_layer_kernel, offset_kernel

_ROWS_AT_ONCE = 64  # of one program


class RowNetworkOnDevice:
    """The arrays of a network as tensors on a device.

    Parameters
    ----------
    cells, scales, table, layers, weights
        The arrays of :class:`proce.compiled.row_network.RowNetworkArrays`, as tensors there.
    """

    def __init__(
        self, cells: Tensor, scales: Tensor, table: Tensor, layers: Tensor, weights: Tensor
    ) -> None:
        self._cells, self._scales, self._table = cells, scales, table
        shapes: list[list[int]] = layers.tolist()
        self._first_is_ramp = bool(shapes[0][2])
        sizes = [size for inputs, outputs, _ in shapes[1:] for size in (inputs * outputs, outputs)]
        parts = iter(torch.split(weights, sizes))
        self._layers = [
            (next(parts).reshape(n_outputs, n_inputs).T, next(parts), bool(is_ramp))
            for n_inputs, n_outputs, is_ramp in shapes[1:]
        ]

    def __call__(self, rows: Tensor) -> Tensor:
        """Return the outputs ``(n, o)`` of rows ``(n, f)`` in float32.

        NaN where a cell is missing that may not be.
        """
        rows = rows.double().contiguous()
        n_hidden = self._table.shape[1]
        values = torch.empty(len(rows), n_hidden, dtype=torch.float32, device=rows.device)
        first_layer_kernel[(triton.cdiv(len(rows), _ROWS_AT_ONCE),)](
            rows,
            self._cells,
            self._scales,
            self._table,
            values,
            len(rows),
            rows.shape[1],
            n_hidden,
            IS_RAMP=self._first_is_ramp,
            B=_ROWS_AT_ONCE,
            H=triton.next_power_of_2(n_hidden),
        )
        for weights, bias, is_ramp in self._layers:
            values = torch.addmm(bias, values, weights)
            if is_ramp:
                values.relu_()
        return values

    def mean_squared_offsets(self, rows: Tensor, points: Tensor) -> Tensor:
        """Return how far outputs of rows ``(i, c, f)`` are from ``points (i, o)``, ``(i, c)``."""
        n_instances, n_candidates, _ = rows.shape
        outputs = self(rows.flatten(0, 1))
        given = torch.empty(n_instances, n_candidates, dtype=torch.float64, device=rows.device)
        if given.numel():
            offset_kernel[(triton.cdiv(len(outputs), _ROWS_AT_ONCE),)](
                outputs,
                points.to(outputs).contiguous(),
                given,
                len(outputs),
                n_candidates,
                outputs.shape[1],
                B=_ROWS_AT_ONCE,
                U=triton.next_power_of_2(outputs.shape[1]),
            )
        return given
