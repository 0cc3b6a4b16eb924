"""Gower's distance as a plain L1 distance of points, for trees and for very many rows."""

import numpy as np
from scipy.spatial.distance import cdist

from proce.arrays import Array, blocks
from proce.schema import Categorical, Codec

_BLOCK_BYTES = 64 * 2**20  # of distances held at a time; bounds memory


def gower_points(codec: Codec, rows: Array) -> Array:
    """Return rows ``(i, f)`` as points ``(i, w)`` whose L1 distance is Gower's.

    It is the mean of :meth:`proce.schema.MixedDistance.gower` over features, except between a
    missing cell and a number that lies more than half a range outside: there it counts more.
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


def nearest_distance(points: Array, others: Array, block_bytes: int = _BLOCK_BYTES) -> Array:
    """Return the L1 distance of points ``(q, w)`` to the nearest of others ``(n, w)``, ``(q,)``.

    No more than ``block_bytes`` of distances are held at a time.
    """
    size = max(1, block_bytes // (8 * len(others)))
    parts = [cdist(part, others, "cityblock").min(-1) for part in blocks(points, size)]
    return np.concatenate(parts)
