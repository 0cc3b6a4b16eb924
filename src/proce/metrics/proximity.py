"""How near counterfactuals are (Eqs. 21 and 22).

A cell that is missing before and after did not change.
"""

import numpy as np

from proce.arrays import Array
from proce.metrics.means import mean_of
from proce.schema import Codec, MixedDistance


def categorical_proximity(
    codec: Codec, factual: Array, rows: Array, found: Array | None = None
) -> float:
    """Return the mean of :func:`levels_kept` (Eq. 21) over rows with a counterfactual.

    Parameters
    ----------
    codec
        The codec of the rows.
    factual, rows
        ``(i, f)``, the rows before and after.
    found
        ``(i,)``, whether a row has a counterfactual; by default all have one. Rows without one do
        not count, because their distance is not defined.

    Returns
    -------
    float
        The mean; NaN where no row has a counterfactual or no feature has levels.
    """
    return _mean_found(levels_kept(codec, factual, rows), found)


def continuous_proximity(
    codec: Codec, factual: Array, rows: Array, found: Array | None = None
) -> float:
    """Return minus the mean of :func:`squared_gap` (Eq. 22) over rows with a counterfactual.

    The parameters are those of :func:`categorical_proximity`; the result is NaN where no feature
    is a number.
    """
    return -_mean_found(squared_gap(codec, factual, rows), found)


def levels_kept(codec: Codec, factual: Array, rows: Array) -> Array:
    """Return how many levels of each row stayed as they were, ordinal ones included, ``(i,)``.

    The paper's text counts matches, '5 out of 6'; the printed sum goes below zero. The result is
    NaN where no feature has levels.
    """
    if codec.is_number.all():
        return np.full(len(rows), np.nan)
    return (factual == rows)[:, ~codec.is_number].sum(-1).astype(np.float64)


def squared_gap(codec: Codec, factual: Array, rows: Array) -> Array:
    """Return the squared distance of each row's numbers on the unit range, ``(i,)``.

    The distance is NaN where no feature is a number.
    """
    if not codec.is_number.any():
        return np.full(len(rows), np.nan)
    squares = np.square(rows - factual)[:, codec.is_number]
    return np.nansum(squares, axis=-1)  # 0 where one is missing


def mad_l1(codec: Codec, factual: Array, rows: Array, train: Array) -> Array:
    """Return the L1 distance of each row's numbers in median absolute deviations, ``(i,)``.

    The deviations are those of training rows ``(n, f)``. The distance is NaN where no feature is a
    number.
    """
    if not codec.is_number.any():
        return np.full(len(rows), np.nan)
    return MixedDistance.by_deviation(codec, train)(rows, factual)[:, codec.is_number].sum(-1)


def robust_distance(scale: Codec, codec: Codec, factual: Array, rows: Array) -> Array:
    """Return Gower's distance ``(i,)`` in spans of the bulk of the training rows.

    Parameters
    ----------
    scale
        The scale: ``Codec.fit(schema, frame, "bulk")``.
    codec, factual, rows
        The codec of the rows ``(i, f)`` before and after, and these rows.
    """
    before, after = (scale.to_unit(codec.to_raw(each)) for each in (factual, rows))
    return MixedDistance.gower(scale).mean(after, before)


def _mean_found(values: Array, found: Array | None) -> float:
    return mean_of(values if found is None else values[found])
