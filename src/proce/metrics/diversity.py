"""How much choice the counterfactuals of one row offer."""

import torch
from torch import Tensor

from proce.metrics.columns import CounterfactualColumns
from proce.metrics.gower import gower_points
from proce.metrics.proximity import changed
from proce.schema import Codec


def pairwise_distance(codec: Codec, columns: CounterfactualColumns) -> Tensor:
    """Return the mean Gower distance between two counterfactuals of each row, ``(i,)``.

    The distance is zero for a row with fewer than two counterfactuals, which offer no choice.
    """
    counts = columns.counts
    points = gower_points(codec, columns.rows)
    largest = int(counts.max()) if len(counts) else 0
    by_row = points.new_zeros(len(counts), largest, points.shape[-1])  # (i, m, w)
    by_row[columns.owner, columns.rank - 1] = points
    filled = torch.arange(largest) < counts[:, None]  # (i, m)
    pairs = filled[:, :, None] & filled[:, None, :]
    total = torch.cdist(by_row, by_row, p=1).where(pairs, 0.0).sum((-2, -1))
    return total / (counts * (counts - 1)).clamp(min=1)


def features_touched(codec: Codec, columns: CounterfactualColumns) -> Tensor:
    """Return how many features some counterfactual of each row changes, ``(i,)``."""
    moved = changed(codec, columns.factual, columns.rows).double()
    totals = moved.new_zeros(len(columns.searched), moved.shape[-1])
    return (totals.index_add(0, columns.owner, moved) > 0).sum(-1).double()
