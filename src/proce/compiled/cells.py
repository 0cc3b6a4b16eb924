"""What kernels do with a single cell of a row."""

import numpy as np

from proce.compiled.kernel import part


@part
def is_missing(value: float, is_number: bool) -> bool:
    """Return whether a cell is missing: a number that is NaN, or a level below 0."""
    return value != value if is_number else value < 0


@part
def on_grid(value: float, origin: float, step: float) -> float:
    """Return the nearest point of a grid, ``origin + whole number * step``."""
    return origin + np.rint((value - origin) / step) * step


@part
def unit_gap(value: float, other: float, reach: float) -> float:
    """Return how far apart two entries of a feature are on the unit range."""
    return abs((value - other) / reach)
