"""The genes of each instance: which may move, how far, and from where.

Genes of all kinds stand side by side in one float64 tensor ``(i, c, g)``: a level is a whole
number. Float64 because a gene that returns to its anchor must be the anchor to the last bit,
and anchors are encoded in float64.
"""

from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from proce.errors import SearchError

_SNAP_STEPS = 0.499  # of a step: nearer to the anchor than to any other point of the grid
_GRID_TOLERANCE = 1e-6  # of a step: rounding that a bound on the grid may carry


class GeneKind(IntEnum):
    """How a gene varies."""

    REAL = 0  # any value between its bounds
    GRID = 1  # ``origin + whole number * step``
    LEVEL = 2  # a code without an order: 0, 1, 2, …


class GenomeArrays(NamedTuple):
    """The tensors of a genome as numba takes them, in the order of its attributes."""

    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    anchor: NDArray[np.float64]
    movable: NDArray[np.bool_]
    kind: NDArray[np.int64]
    origin: NDArray[np.float64]
    step: NDArray[np.float64]
    snap: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Genome:
    """The genes of some instances; build it with :meth:`of`.

    A gene is allowed its anchor, always, and if it is movable every value (on its grid)
    between its bounds. The anchor may lie outside them: a missing number is NaN, a missing
    level -1. A caller that forbids the anchor passes the nearest permitted value instead.

    Attributes
    ----------
    lower, upper
        ``(i, g)``, the bounds, on the grid where there is one.
    anchor
        ``(i, g)``, where the gene stood at first and where the revert mutation returns it.
    movable
        ``(i, g)`` bool; false also where the bounds hold nothing but the anchor.
    kind
        ``(g,)`` int64, values of :class:`GeneKind`.
    origin, step
        ``(g,)``, the grid; step 0 for reals.
    snap
        ``(g,)``, a value this near to its anchor is the anchor.
    """

    lower: Tensor
    upper: Tensor
    anchor: Tensor
    movable: Tensor
    kind: Tensor
    origin: Tensor
    step: Tensor
    snap: Tensor

    @classmethod
    def of(
        cls,
        lower: Tensor,
        upper: Tensor,
        anchor: Tensor,
        *,
        movable: Tensor | None = None,
        kind: Tensor | None = None,
        origin: Tensor | None = None,
        step: Tensor | None = None,
        snap: Tensor | None = None,
    ) -> Self:
        """Return a genome; by default all genes are movable reals without a snap.

        Parameters
        ----------
        lower, upper, anchor
            ``(i, g)``.
        movable, kind, origin, step, snap
            As the attributes; movable may be ``(g,)``, for all alike. Bounds of stepped genes
            move inwards onto the grid; levels have step 1; the snap of a stepped gene is
            half a step.
        """
        if anchor.dim() != 2 or not lower.shape == upper.shape == anchor.shape:
            raise SearchError(
                f"lower, upper and anchor have the shapes {tuple(lower.shape)},"
                f" {tuple(upper.shape)} and {tuple(anchor.shape)}; expected (instances, genes)."
            )
        anchor = anchor.double()
        zeros = anchor.new_zeros(anchor.shape[1])  # (g,)
        kind = (zeros if kind is None else kind).to(anchor.device, torch.int64)
        origin, step, snap = (
            zeros if given is None else given.to(anchor) for given in (origin, step, snap)
        )
        stepped, levels = kind != GeneKind.REAL, kind == GeneKind.LEVEL
        step = torch.where(levels, 1.0, torch.where(stepped, step, 0.0))
        if not bool((step[stepped] > 0).all()):
            raise SearchError("a gene of kind GRID has no step; expected a number above 0.")
        origin = torch.where(levels, 0.0, origin)
        snap = torch.where(stepped, _SNAP_STEPS * step, snap)
        lower, upper = _onto_grid(lower.to(anchor), upper.to(anchor), origin, step)
        free = torch.ones_like(anchor) if movable is None else movable
        free = free.to(anchor.device, torch.bool).expand_as(anchor)
        if not bool((torch.isfinite(lower) & torch.isfinite(upper))[free].all()):
            raise SearchError("a movable gene has a bound that is not finite; give it a range.")
        elsewhere = (lower == upper) & ~((lower - anchor).abs() <= snap)
        somewhere = (lower < upper) | elsewhere
        return cls(lower, upper, anchor, free & somewhere, kind, origin, step, snap)

    @property
    def n_instances(self) -> int:
        """How many instances there are."""
        return self.anchor.shape[0]

    @property
    def n_genes(self) -> int:
        """How many genes each instance has, movable or not."""
        return self.anchor.shape[1]

    @cached_property
    def arrays(self) -> GenomeArrays:
        """The same memory for numba; on the CPU only."""
        tensors = (getattr(self, name) for name in GenomeArrays._fields)
        return GenomeArrays(*(tensor.contiguous().numpy() for tensor in tensors))

    def take(self, instances: Tensor) -> Self:
        """Return the genome of some of the instances, given by position."""
        return replace(
            self,
            lower=self.lower[instances],
            upper=self.upper[instances],
            anchor=self.anchor[instances],
            movable=self.movable[instances],
        )

    def repair(self, genes: Tensor) -> Tensor:
        """Return genes ``(i, c, g)``, each moved to the nearest value that it may take."""
        lower, upper, anchor = (t[:, None] for t in (self.lower, self.upper, self.anchor))
        stepped = self.step > 0
        step = torch.where(stepped, self.step, 1.0)
        on_grid = self.origin + torch.round((genes - self.origin) / step) * step
        clamped = torch.where(stepped, on_grid, genes).maximum(lower).minimum(upper)
        returns = (genes - anchor).abs() <= self.snap
        returns |= (clamped - anchor).abs() <= self.snap
        returns |= torch.isnan(clamped) | ~self.movable[:, None]
        return torch.where(returns, anchor, clamped)


def _onto_grid(lower: Tensor, upper: Tensor, origin: Tensor, step: Tensor) -> tuple[Tensor, Tensor]:
    """Return bounds ``(i, g)`` moved inwards onto the grid, where there is one."""
    spacing = torch.where(step > 0, step, 1.0)
    up = origin + torch.ceil((lower - origin) / spacing - _GRID_TOLERANCE) * spacing
    down = origin + torch.floor((upper - origin) / spacing + _GRID_TOLERANCE) * spacing
    return torch.where(step > 0, up, lower), torch.where(step > 0, down, upper)
