"""How much choice the counterfactuals of one row offer."""

import torch
from torch import Tensor

from proce.metrics.answers import Answers
from proce.metrics.gower import gower_points
from proce.metrics.proximity import changed
from proce.schema import Codec


def pairwise_distance(codec: Codec, answers: Answers) -> Tensor:
    """Return the mean distance between two counterfactuals of each row, ``(i,)``.

    Gower's. Zero where there are fewer than two: nothing can be chosen there.
    """
    counts = answers.counts
    points = gower_points(codec, answers.rows)
    most = int(counts.max()) if len(counts) else 0
    laid_out = points.new_zeros(len(counts), most, points.shape[-1])
    laid_out[answers.owner, answers.rank - 1] = points
    there = torch.arange(most) < counts[:, None]  # (i, m)
    pairs = there[:, :, None] & there[:, None, :]
    total = torch.cdist(laid_out, laid_out, p=1).where(pairs, 0.0).sum((-2, -1))
    return total / (counts * (counts - 1)).clamp(min=1)


def features_touched(codec: Codec, answers: Answers) -> Tensor:
    """Return how many features some counterfactual of each row changes, ``(i,)``."""
    moved = changed(codec, answers.factual, answers.rows).double()
    totals = moved.new_zeros(len(answers.asked), moved.shape[-1])
    return (totals.index_add(0, answers.owner, moved) > 0).sum(-1).double()
