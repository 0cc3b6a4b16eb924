"""What kernels do with a single cell of a row."""

from enum import IntEnum

import numpy as np

from proce.arrays import missing_cells, unit_gaps
from proce.compiled.kernel import part

_TIE = 1e-9  # of a step: by how much rounding makes one of two equally near points the nearer


class CellKind(IntEnum):
    """How a cell enters an equation or a network."""

    NUMBER = 0  # as a number that is NaN where it is missing
    RANK = 1  # as a number that is below 0 where it is missing
    LEVEL = 2  # by one weight, or one row of them, for each level; below 0 where it is missing


is_missing = part(missing_cells)
unit_gap = part(unit_gaps)


@part
def known_or_first(value: float, is_number: bool) -> float:
    """Return an entry, or 0 where it is missing: the number 0, or the first level."""
    return 0.0 if is_missing(value, is_number) else value


@part
def clamped(value: float, low: float, high: float) -> float:
    """Return a value, or the end that it is beyond; what is no number stays none."""
    return min(max(value, low), high)


@part
def entered(
    value: float, factor: float, shift: float, low: float, high: float, reach: float
) -> float:
    """Return a number or a rank as an equation or a network takes it."""
    return clamped(value * factor + shift, low, high) / reach


@part
def is_level(value: float, n_levels: int) -> bool:
    """Return whether an entry is the code of a level: one in between, or beyond, is none."""
    return 0 <= value < n_levels and value == np.floor(value)


@part
def nearest_count(count: float) -> float:
    """Return the nearest whole number of steps; of two that are equally near, the even one.

    They are equally near where rounding alone makes one of them nearer: entries and raw values of
    the same number are rounded to the same step.
    """
    nearest = np.rint(count)
    return nearest if abs(count - nearest) < 0.5 - _TIE else 2 * np.rint(count / 2)


@part
def on_grid(value: float, origin: float, step: float) -> float:
    """Return the nearest point of a grid, ``origin + whole number * step``."""
    return origin + nearest_count((value - origin) / step) * step


@part
def cell_gap(value: float, other: float, reach: float, is_level: bool) -> float:
    """Return how far apart two known entries are; levels without an order are at distance 1."""
    if is_level:
        return 0.0 if value == other else 1.0
    return unit_gap(value, other, reach)
