"""Gower's distance to many rows at once, as a plain L1 distance of points."""

import numpy as np
from scipy.spatial.distance import cdist

from proce.arrays import Array, blocks
from proce.schema import Categorical, Codec

_BLOCK_BYTES = 64 * 2**20  # of distances held at a time; bounds memory


def gower_points(codec: Codec, rows: Array) -> Array:
    """Return rows ``(i, f)`` as points ``(i, w)`` whose L1 distance is Gower's.

    Gower's distance is the mean over features: numbers and ranks count by their difference on the
    unit range, levels by whether they differ. A missing cell is 1 from a known one and 0 from a
    missing one. :meth:`proce.objective.MixedDistance.gower` says the same of two rows; among many,
    trees and SciPy compare points.
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
            # Halved, the first two differ by the gap of two units, or by 1/2 from nothing.
            both = np.where(is_missing[:, None], 0.0, np.stack([unit, 1 - unit], axis=-1))
            parts.append(np.concatenate([both, is_missing.astype(np.float64)[:, None]], axis=-1))
    return np.concatenate(parts, axis=-1) / (2 * len(codec.schema))


def nearest_distance(points: Array, others: Array, block_bytes: int = _BLOCK_BYTES) -> Array:
    """Return the L1 distance of points ``(q, w)`` to the nearest of others ``(n, w)``, ``(q,)``.

    No more than ``block_bytes`` of distances are held at a time.
    """
    size = max(1, block_bytes // (8 * len(others)))
    parts = [cdist(part, others, "cityblock").min(-1) for part in blocks(points, size)]
    return np.concatenate(parts)
