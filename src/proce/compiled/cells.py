"""What kernels do with a single cell of a row."""

import numpy as np

from proce.arrays import GRID_TOLERANCE, missing_cells
from proce.compiled.kernel import part

is_missing = part(missing_cells)


@part
def nearest_count(count: float) -> float:
    """Return the nearest whole number of steps; of two that are equally near, the even one.

    They are equally near where only rounding makes one of them nearer: entries and raw values of
    the same number are rounded to the same step.
    """
    even = 2 * np.rint(count / 2)
    return even if abs(count - even) <= 0.5 + GRID_TOLERANCE else np.rint(count)


@part
def on_grid(value: float, origin: float, step: float) -> float:
    """Return the nearest point of a grid, ``origin + whole number * step``."""
    return origin + nearest_count((value - origin) / step) * step


@part
def unit_gap(value: float, other: float, reach: float) -> float:
    """Return how far apart two entries of a feature are on the unit range."""
    return abs((value - other) / reach)
