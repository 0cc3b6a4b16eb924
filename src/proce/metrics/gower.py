"""Gower's distance as a plain L1 distance of points, for trees."""

import numpy as np

from proce.arrays import Array
from proce.schema import Categorical, Codec


def gower_points(codec: Codec, rows: Array) -> Array:
    """Return rows ``(i, f)`` as points ``(i, w)`` whose L1 distance is Gower's.

    It is the mean of :meth:`proce.schema.MixedDistance.gower` over features, but for rounding,
    except between a missing cell and a number that lies more than half a range outside: there it
    counts more. No points could say otherwise, since two such numbers may be more than 2 apart.
    """
    missing = codec.missing(rows)
    parts = []
    for position, feature in enumerate(codec.schema):
        column, is_missing = rows[:, position], missing[:, position]
        if isinstance(feature, Categorical):
            codes = column.astype(np.int64) + 1  # a missing cell is a level of its own
            parts.append((codes[:, None] == np.arange(len(feature.levels) + 1)).astype(np.float64))
        else:
            unit = column / codec.reach[position]
            # Both differ by the gap of two units; from 0 they differ by 2 in all.
            both = np.stack([unit + 0.5, 1.5 - unit], axis=-1)
            parts.append(np.where(is_missing[:, None], 0.0, both))
    return np.concatenate(parts, axis=-1) / (2 * len(codec.schema))
