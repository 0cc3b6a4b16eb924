"""How near counterfactuals are (Eqs. 21 and 22), and how much choice those of one row offer.

A cell that is missing before and after did not change.
"""

import math

import numpy as np

from proce.arrays import Array, cells_differ
from proce.metrics.inputs import CounterfactualColumns
from proce.schema import Codec, MixedDistance


def mean_of(values: Array) -> float:
    """Return the mean of numbers, or the share of flags that are set; NaN where there are none."""
    return float(values.mean()) if values.size else math.nan


def categorical_proximity(
    codec: Codec, factual: Array, rows: Array, found: Array | None = None
) -> float:
    """Return the mean of :func:`levels_kept` (Eq. 21) over rows with a counterfactual."""
    return _mean_found(levels_kept(codec, factual, rows), found)


def continuous_proximity(
    codec: Codec, factual: Array, rows: Array, found: Array | None = None
) -> float:
    """Return minus the mean of :func:`squared_gap` (Eq. 22) over rows with a counterfactual."""
    # The parameters are those of :func:`categorical_proximity`; the result is NaN where no feature
    # is a number.
    return -_mean_found(squared_gap(codec, factual, rows), found)


def levels_kept(codec: Codec, factual: Array, rows: Array) -> Array:
    """Return how many levels of each row stayed as they were, ordinal ones included, ``(i,)``."""
    # The paper's text counts matches, '5 out of 6'; the printed sum goes below zero. The result is
    # NaN where no feature has levels.
    if codec.is_number.all():
        return np.full(len(rows), np.nan)
    return (factual == rows)[:, ~codec.is_number].sum(-1).astype(np.float64)


def squared_gap(codec: Codec, factual: Array, rows: Array) -> Array:
    """Return the squared distance of each row's numbers on the unit range, ``(i,)``."""
    # The distance is NaN where no feature is a number.
    if not codec.is_number.any():
        return np.full(len(rows), np.nan)
    squares = np.square(rows - factual)[:, codec.is_number]
    return np.nansum(squares, axis=-1)  # 0 where one is missing


def mad_l1(codec: Codec, factual: Array, rows: Array, train: Array) -> Array:
    """Return the L1 distance of each row's numbers in median absolute deviations, ``(i,)``."""
    # The deviations are those of training rows ``(n, f)``. The distance is NaN where no feature is
    # a number.
    if not codec.is_number.any():
        return np.full(len(rows), np.nan)
    return MixedDistance.by_deviation(codec, train)(rows, factual)[:, codec.is_number].sum(-1)


def robust_distance(scale: Codec, codec: Codec, factual: Array, rows: Array) -> Array:
    """Return Gower's distance ``(i,)`` in spans of the bulk of the training rows."""
    before, after = (scale.to_unit(codec.to_raw(each)) for each in (factual, rows))
    return MixedDistance.gower(scale).mean(after, before)


def _mean_found(values: Array, found: Array | None) -> float:
    return mean_of(values if found is None else values[found])


def pairwise_distance(codec: Codec, columns: CounterfactualColumns) -> Array:
    """Return the mean Gower distance between two counterfactuals of each row, ``(i,)``."""
    # The distance is zero for a row with fewer than two counterfactuals, which offer no choice.
    counts, gower = columns.counts, MixedDistance.gower(codec)
    rows = columns.rows[np.argsort(columns.owner, kind="stable")]
    ends = np.cumsum(counts)
    total = np.zeros(len(counts))
    for row in np.flatnonzero(counts > 1):
        own = rows[ends[row] - counts[row] : ends[row]]
        total[row] = gower.mean(own[:, None], own).sum()
    return total / np.maximum(counts * (counts - 1), 1)


def features_touched(columns: CounterfactualColumns) -> Array:
    """Return how many features some counterfactual of each row changes, ``(i,)``."""
    changed = cells_differ(columns.rows, columns.factual)
    touched = np.zeros((len(columns.searched), changed.shape[1]), dtype=np.bool_)
    np.logical_or.at(touched, columns.owner, changed)
    return touched.sum(-1).astype(np.float64)
