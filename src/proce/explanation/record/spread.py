"""How the training rows are distributed: enough for a picture, too little to rebuild a row."""

from collections.abc import Mapping

import numpy as np

from proce.arrays import Array
from proce.schema import Codec, Continuous, Feature

N_QUANTILES = 21  # of a number: 0%, 5%, ..., 100%


def spread_of(codec: Codec, rows: Array) -> Mapping[str, tuple[float, ...]]:
    """Return how the rows ``(i, f)`` that a codec was fitted on are distributed, by feature.

    A number has 21 quantiles in raw units, from the lowest to the highest in steps of 5%. A feature
    with levels has the share of each level. Missing cells do not count.
    """
    missing = codec.missing(rows)
    spread: dict[str, tuple[float, ...]] = {}
    for position, feature in enumerate(codec.schema):
        present = rows[~missing[:, position], position]
        if isinstance(feature, Continuous):
            raw = codec.raw_numbers(position, present)
            # Quantiles are values of rows: a value between two of them would have false decimals.
            steps = np.linspace(0, 1, N_QUANTILES)
            spread[feature.name] = tuple(np.quantile(raw, steps, method="nearest").tolist())
        else:
            counts = np.bincount(present.astype(np.int64), minlength=len(feature.levels))
            spread[feature.name] = tuple((counts / len(present)).tolist())
    return spread


def spread_size(feature: Feature) -> int:
    """Return how many numbers describe how a feature is distributed."""
    return N_QUANTILES if isinstance(feature, Continuous) else len(feature.levels)
