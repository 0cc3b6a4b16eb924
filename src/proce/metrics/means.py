"""The mean of some rows, of which there may be none."""

import math

from proce.arrays import Array


def mean_of(values: Array) -> float:
    """Return the mean of numbers, or the share of flags that are set; NaN where there are none."""
    return float(values.mean()) if values.size else math.nan
