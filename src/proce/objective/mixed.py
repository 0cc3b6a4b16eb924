"""How far apart rows are, feature by feature, without a model of the data."""

from dataclasses import dataclass

import numpy as np

from proce.arrays import Array
from proce.schema import Categorical, Codec, Continuous


@dataclass(frozen=True, eq=False)
class MixedDistance:
    """Numbers are compared by their difference over a scale, levels by whether they differ.

    Attributes
    ----------
    is_level
        ``(f,)``, which features are compared as levels.
    scale
        ``(f,)``, what a difference of the other features is divided by.
    """

    is_level: Array
    scale: Array

    @classmethod
    def gower(cls, codec: Codec) -> "MixedDistance":
        """Return the distance of Gower: numbers and ranks over their range, levels 0 or 1."""
        return cls(np.array([isinstance(f, Categorical) for f in codec.schema]), codec.reach)

    @classmethod
    def by_deviation(cls, codec: Codec, rows: Array) -> "MixedDistance":
        """Return L1 over the median absolute deviation of training rows ``(n, f)``.

        Ordinal features count as levels. Where the median deviation is zero, because more than
        half of the rows share a value, the mean absolute deviation from that value stands in for
        it, and 1 where the feature is constant.
        """
        is_level = np.array([not isinstance(f, Continuous) for f in codec.schema])
        deviation = np.abs(rows - _middle(rows))
        known = np.maximum((~np.isnan(deviation)).sum(0), 1)
        scale, mean = _middle(deviation), np.nansum(deviation, axis=0) / known
        scale = np.where(scale > 0, scale, mean)
        return cls(is_level, np.where(scale > 0, scale, 1.0))  # NaN where all are missing, too

    def __call__(self, rows: Array, other: Array) -> Array:
        """Return the distance of each feature ``(…, f)``.

        A cell that is missing in one of the two rows is at distance 1, in both at distance 0.
        """
        gap = np.abs(rows - other) / self.scale
        known = np.where(self.is_level, (rows != other), gap)
        missing, other_missing = np.isnan(rows), np.isnan(other)
        in_one, in_both = missing | other_missing, missing & other_missing
        return np.where(in_both, 0.0, np.where(in_one, 1.0, known))


def _middle(rows: Array) -> Array:
    """Return the median of each column, the lower of two; NaN where all is missing."""
    ordered, n_known = np.sort(rows, axis=0), (~np.isnan(rows)).sum(0)  # NaN comes last
    return ordered[np.maximum(n_known - 1, 0) // 2, np.arange(rows.shape[1])]
