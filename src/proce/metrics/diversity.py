"""How much choice the counterfactuals of one row offer."""

import numpy as np

from proce.arrays import Array, cells_differ
from proce.metrics.columns import CounterfactualColumns
from proce.schema import Codec, MixedDistance


def pairwise_distance(codec: Codec, columns: CounterfactualColumns) -> Array:
    """Return the mean Gower distance between two counterfactuals of each row, ``(i,)``.

    The distance is zero for a row with fewer than two counterfactuals, which offer no choice.
    """
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
