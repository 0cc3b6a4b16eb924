"""How far apart rows are, feature by feature, without a model of the data."""

from dataclasses import dataclass

import torch
from torch import Tensor

from proce.schema import Categorical, Codec, Continuous


@dataclass(frozen=True, eq=False)
class MixedDistance:
    """L1 over a scale for numbers, different or not for levels.

    Attributes
    ----------
    is_level
        ``(f,)``, which features only differ or do not.
    scale
        ``(f,)``, what a difference of the others is divided by.
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

        Ordinal features count as levels. Where the deviation is zero, more than half of the
        rows share a value; the mean absolute deviation from it stands in, and 1 for a constant.
        """
        is_level = torch.tensor([not isinstance(f, Continuous) for f in codec.schema])
        away = (rows - rows.nanmedian(0).values).abs()
        scale, mean = away.nanmedian(0).values, away.nanmean(0)
        scale = torch.where(scale > 0, scale, mean)
        return cls(is_level, torch.where(scale > 0, scale, 1.0))  # NaN where all are missing, too

    def __call__(self, rows: Tensor, other: Tensor) -> Tensor:
        """Return the distance of each feature ``(…, f)``; a cell missing in one is 1 away."""
        gap = (rows - other).abs() / self.scale.to(rows)
        known = torch.where(self.is_level.to(rows.device), (rows != other).to(rows), gap)
        gone, gone_too = rows.isnan(), other.isnan()
        return torch.where(gone & gone_too, 0.0, torch.where(gone | gone_too, 1.0, known))
