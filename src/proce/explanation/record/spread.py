"""How the training rows lie, feature by feature: enough to draw, too little to rebuild a row."""

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor

from proce.schema import Codec, Continuous, Feature

N_QUANTILES = 21  # of a number: 0%, 5%, ..., 100%


def spread_of(codec: Codec, rows: Tensor) -> Mapping[str, tuple[float, ...]]:
    """Return for each feature how the rows ``(i, f)`` lie that a codec was fitted on.

    Of a number 21 quantiles in raw units, from the lowest to the highest in steps of 5%; of
    levels the share of each. Missing cells do not count.
    """
    gone = codec.missing(rows)
    spread: dict[str, tuple[float, ...]] = {}
    for at, feature in enumerate(codec.schema):
        present = rows[~gone[:, at], at]
        if isinstance(feature, Continuous):
            raw = codec.raw_numbers(at, present).numpy()
            # Values of rows: what lies between two of them would be a false decimal.
            steps = np.linspace(0, 1, N_QUANTILES)
            spread[feature.name] = tuple(np.quantile(raw, steps, method="nearest").tolist())
        else:
            counts = torch.bincount(present.long(), minlength=len(feature.levels))
            spread[feature.name] = tuple((counts.double() / len(present)).tolist())
    return spread


def spread_size(feature: Feature) -> int:
    """Return how many numbers tell how a feature lies."""
    return N_QUANTILES if isinstance(feature, Continuous) else len(feature.levels)
