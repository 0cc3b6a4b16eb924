"""How far apart rows are, feature by feature, without a model of the data."""

from dataclasses import dataclass

import torch
from torch import Tensor

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

    is_level: Tensor
    scale: Tensor

    @classmethod
    def gower(cls, codec: Codec) -> "MixedDistance":
        """Return the distance of Gower: numbers and ranks over their range, levels 0 or 1."""
        return cls(torch.tensor([isinstance(f, Categorical) for f in codec.schema]), codec.reach)

    @classmethod
    def by_deviation(cls, codec: Codec, rows: Tensor) -> "MixedDistance":
        """Return L1 over the median absolute deviation of training rows ``(n, f)``.

        Ordinal features count as levels. Where the median deviation is zero, because more than
        half of the rows share a value, the mean absolute deviation from that value stands in for
        it, and 1 where the feature is constant.
        """
        is_level = torch.tensor([not isinstance(f, Continuous) for f in codec.schema])
        deviation = (rows - rows.nanmedian(0).values).abs()
        scale, mean = deviation.nanmedian(0).values, deviation.nanmean(0)
        scale = torch.where(scale > 0, scale, mean)
        return cls(is_level, torch.where(scale > 0, scale, 1.0))  # NaN where all are missing, too

    def __call__(self, rows: Tensor, other: Tensor) -> Tensor:
        """Return the distance of each feature ``(…, f)``.

        A cell that is missing in one of the two rows is at distance 1, in both at distance 0.
        """
        gap = (rows - other).abs() / self.scale.to(rows)
        known = torch.where(self.is_level.to(rows.device), (rows != other).to(rows), gap)
        missing, other_missing = rows.isnan(), other.isnan()
        in_one, in_both = missing | other_missing, missing & other_missing
        return torch.where(in_both, 0.0, torch.where(in_one, 1.0, known))
