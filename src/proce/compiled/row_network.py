"""Networks on rows as flat arrays, for the kernels of :mod:`proce.compiled.row_network_kernels`."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import TYPE_CHECKING, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

if TYPE_CHECKING:
    from proce.compiled.gpu.row_network import RowNetworkOnDevice


class CellKind(IntEnum):
    """How a cell enters a network; the numbers are those that the kernels know."""

    NUMBER = 0  # as a number that is NaN where it is missing
    RANK = 1  # as a number that is below 0 where it is missing
    LEVEL = 2  # by one row of weights for each level; below 0 where it is missing


@dataclass(frozen=True, eq=False)
class CellInput:
    """How the cells of one feature enter the first layer.

    Attributes
    ----------
    kind
        What the cells are.
    weights
        ``(r, h)``, the weights of the number, or those of each level.
    missing
        ``(h,)``, the weights of a missing cell; ``None`` where no cell may be missing.
    factor, shift, low, high, reach
        A number enters as ``min(max(factor * x + shift, low), high) / reach``.
    """

    kind: CellKind
    weights: Tensor
    missing: Tensor | None
    factor: float = 1.0
    shift: float = 0.0
    low: float = -np.inf
    high: float = np.inf
    reach: float = 1.0


@dataclass(frozen=True, eq=False)
class RowNetworkArrays:
    """A network from rows ``(n, f)`` to outputs ``(n, o)``; make it with :meth:`of`.

    Attributes
    ----------
    cells
        ``(f, 4)``: what a cell is, the first row of the table that belongs to it, how many levels
        it has, and the row of the table for a missing cell, or -1.
    scales
        ``(f, 5)``: factor, shift, low, high and reach of numbers.
    table
        ``(t, h)``, the rows that the first layer adds up; the first one is its bias.
    layers
        ``(l, 3)``: the inputs, the outputs and whether negative outputs become 0.
    weights
        The weights and biases of all layers but the first, one after the other.
    """

    cells: NDArray[np.int64]
    scales: NDArray[np.float64]
    table: NDArray[np.float32]
    layers: NDArray[np.int64]
    weights: NDArray[np.float32]
    _on_devices: "dict[torch.device, RowNetworkOnDevice]" = field(
        default_factory=dict, init=False, repr=False
    )

    @classmethod
    def of(cls, inputs: Sequence[CellInput], bias: Tensor, layers: Sequence[nn.Module]) -> Self:
        """Return a network as arrays.

        Parameters
        ----------
        inputs
            How the cells of each feature enter the first layer, in the order of the features.
        bias
            ``(h,)``, of the first layer.
        layers
            What follows the first layer: linear layers, and ReLU after some of them.
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
        shapes = [[len(inputs), len(bias), 0]]
        flat: list[Tensor] = []
        for layer in layers:
            if isinstance(layer, nn.Linear):
                shapes.append([layer.in_features, layer.out_features, 0])
                flat += [layer.weight.flatten(), layer.bias]
            else:
                assert isinstance(layer, nn.ReLU), f"{layer} has no kernel"
                shapes[-1][2] = 1
        scales = [(own.factor, own.shift, own.low, own.high, own.reach) for own in inputs]
        return cls(
            np.array(cells, np.int64).reshape(-1, 4),
            np.array(scales, np.float64).reshape(-1, 5),
            torch.cat(rows).detach().float().cpu().numpy(),
            np.array(shapes, np.int64),
            torch.cat(flat).detach().float().cpu().numpy(),
        )

    def without_scale(self) -> Self:
        """Return the network for numbers that need neither factor nor shift."""
        scales = self.scales.copy()
        scales[:, :2] = 1.0, 0.0
        return replace(self, scales=scales)

    def outputs(self, rows: Tensor) -> Tensor:
        """Return the outputs ``(…, o)`` of rows ``(…, f)`` in float32; any cell may be missing."""
        if rows.is_cuda:
            return self._outputs_on_device(rows)
        from proce.compiled.row_network_kernels import outputs

        flat = _flat(rows)
        given = np.empty((len(flat), self.layers[-1, 1]), np.float32)
        done = outputs(flat, *self.parts, given)
        assert done, "every feature of such a network may be missing"
        return torch.from_numpy(given).reshape(*rows.shape[:-1], given.shape[1])

    def class_probabilities(self, rows: Tensor) -> Tensor | None:
        """Return the class probabilities ``(n, k)`` of rows ``(n, f)`` in float64.

        ``None`` where a cell is missing that may not be, or a probability is not a number.
        """
        if rows.is_cuda:
            answers = _class_probabilities(self._outputs_on_device(rows).double())
            return None if bool(answers.isnan().any()) else answers
        from proce.compiled.row_network_kernels import class_probabilities

        flat = _flat(rows)
        given = np.empty((len(flat), max(2, self.layers[-1, 1])))
        done = class_probabilities(flat, *self.parts, given)
        return torch.from_numpy(given) if done else None

    def mean_squared_offsets(self, rows: Tensor, points: Tensor) -> Tensor:
        """Return how far the outputs of rows ``(i, c, f)`` are from ``points (i, o)``, ``(i, c)``.

        That is the mean of the squared differences; any cell may be missing.
        """
        if rows.is_cuda:
            return self._on(rows.device).mean_squared_offsets(rows.detach(), points)
        from proce.compiled.row_network_kernels import mean_squared_offsets

        given = np.empty(rows.shape[0] * rows.shape[1])
        own = points.detach().float().contiguous().numpy()
        done = mean_squared_offsets(_flat(rows), *self.parts, own, given)
        assert done, "every feature of such a network may be missing"
        return torch.from_numpy(given).reshape(rows.shape[:-1])

    def _outputs_on_device(self, rows: Tensor) -> Tensor:
        """Return the outputs ``(…, o)`` of rows on a CUDA device; NaN where they cannot be read."""
        given = self._on(rows.device)(rows.detach().flatten(0, -2))
        return given.reshape(*rows.shape[:-1], given.shape[1])

    def _on(self, device: torch.device) -> "RowNetworkOnDevice":
        """Return the network on a CUDA device."""
        from proce.compiled.gpu.row_network import RowNetworkOnDevice

        if device not in self._on_devices:
            tensors = (torch.from_numpy(array).to(device) for array in self.parts)
            self._on_devices[device] = RowNetworkOnDevice(*tensors)
        return self._on_devices[device]

    @property
    def parts(
        self,
    ) -> tuple[
        NDArray[np.int64],
        NDArray[np.float64],
        NDArray[np.float32],
        NDArray[np.int64],
        NDArray[np.float32],
    ]:
        """The arrays, in the order in which every kernel takes them."""
        return self.cells, self.scales, self.table, self.layers, self.weights


def _class_probabilities(logits: Tensor) -> Tensor:
    """Return the probabilities ``(n, k)`` of logits ``(n, o)``, of which two classes have one."""
    if logits.shape[1] > 1:
        return logits.softmax(-1)
    return torch.cat([-logits, logits], dim=1).sigmoid()


def _flat(rows: Tensor) -> NDArray[np.float64]:
    """Return rows ``(…, f)`` as one contiguous array ``(n, f)``."""
    return rows.detach().double().reshape(-1, rows.shape[-1]).contiguous().numpy()
