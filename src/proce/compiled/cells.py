"""What kernels do with a single cell of a row."""

import numpy as np

from proce.arrays import missing_cells
from proce.compiled.kernel import part

is_missing = part(missing_cells)


@part
def on_grid(value: float, origin: float, step: float) -> float:
    """Return the nearest point of a grid, ``origin + whole number * step``."""
    return origin + np.rint((value - origin) / step) * step


@part
def unit_gap(value: float, other: float, reach: float) -> float:
    """Return how far apart two entries of a feature are on the unit range."""
    return abs((value - other) / reach)
