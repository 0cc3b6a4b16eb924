"""From entries on the unit range to raw units: numbers come back exactly on their grids."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

Floats = NDArray[np.float64]
_NEVER = -1.0  # a tolerance that no distance is below


@dataclass(frozen=True, eq=False)
class RawGrid:
    """Where values of each feature lie, as columns ``(f,)``.

    Attributes
    ----------
    low, span
        ``raw = low + span * entry``.
    numerator, denominator
        The width of the grid as a fraction: 3 / 10 is the double written 0.3, and 3 * 0.1 is not.
    rate
        How many widths of the grid are one raw unit.
    tolerance
        By what part of a width a value may be off the grid to be put onto it; negative for
        features without a grid.
    whole_tolerance
        By how much a value may be off a whole number to become one; negative for features whose
        numbers need not be whole, or whose grid is the whole numbers.
    """

    low: Tensor
    span: Tensor
    numerator: Tensor
    denominator: Tensor
    rate: Tensor
    tolerance: Tensor
    whole_tolerance: Tensor

    @classmethod
    def of(cls, raw_units: Floats) -> "RawGrid":
        """Return the grid of features whose raw units are known, ``(f, 5)``; see the codec."""
        span, low, numerator, denominator, tolerance = raw_units.T.copy()
        has_grid = numerator > 0
        numerator = np.where(has_grid, numerator, 1.0)
        tolerance = np.where(has_grid, tolerance, _NEVER)
        # A whole number off the step keeps being whole.
        whole = np.where((numerator > denominator) & (denominator == 1), tolerance, _NEVER)
        columns = (low, span, numerator, denominator, denominator / numerator, tolerance, whole)
        return cls(*(torch.from_numpy(column) for column in columns))

    def to_raw(self, rows: Tensor) -> Tensor:
        """Return rows ``(…, f)`` in raw units."""
        own = self if rows.device == self.low.device else self._on(rows.device)
        raw = rows.double() * own.span + own.low
        counts = raw * own.rate
        nearest = counts.round()
        on_grid = (counts - nearest).abs() <= own.tolerance
        if self._any_whole:
            whole = raw.round()
            raw = torch.where((raw - whole).abs() <= own.whole_tolerance, whole, raw)
        return torch.where(on_grid, nearest * own.numerator / own.denominator, raw)

    def of_feature(self, position: int, unit: Tensor) -> Tensor:
        """Return entries of the feature at a position in raw units."""
        low, span, numerator, denominator, rate, tolerance, whole_tolerance = self._plain[position]
        raw = unit.double() * span + low
        if tolerance < 0:
            return raw
        counts = raw * rate
        nearest = counts.round()
        on_grid = (counts - nearest).abs() <= tolerance
        if whole_tolerance >= 0:
            whole = raw.round()
            raw = torch.where((raw - whole).abs() <= whole_tolerance, whole, raw)
        return torch.where(on_grid, nearest * numerator / denominator, raw)

    def _on(self, device: torch.device) -> "RawGrid":
        return RawGrid(*(column.to(device) for column in self._columns))

    @property
    def _columns(self) -> tuple[Tensor, ...]:
        return (
            self.low,
            self.span,
            self.numerator,
            self.denominator,
            self.rate,
            self.tolerance,
            self.whole_tolerance,
        )

    @cached_property
    def _plain(self) -> list[tuple[float, ...]]:
        """The columns of each feature as plain numbers."""
        return list(zip(*(column.tolist() for column in self._columns), strict=True))

    @cached_property
    def _any_whole(self) -> bool:
        return bool((self.whole_tolerance >= 0).any())


def raw_cells(raw_units: Floats, entries: Floats) -> Floats:
    """Return entries ``(n,)`` of numbers in raw units, whose scales ``(n, 5)`` are the codec's."""
    span, low, numerator, denominator, tolerance = raw_units.T
    raw = entries * span + low
    has_grid = numerator > 0
    counts = raw * (denominator / np.where(has_grid, numerator, 1.0))
    nearest, whole = np.rint(counts), np.rint(raw)
    keeps_whole = (numerator > denominator) & (denominator == 1)
    raw = np.where(keeps_whole & (np.abs(raw - whole) <= tolerance), whole, raw)
    on_grid = has_grid & (np.abs(counts - nearest) <= tolerance)
    cells: Floats = np.where(on_grid, nearest * numerator / denominator, raw)
    return cells
