"""Gower's distance to many rows at once, as a plain L1 distance of points."""

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from proce.schema import Categorical, Codec

_BLOCK_BYTES = 64 * 2**20  # of distances held at a time; bounds memory


def gower_points(codec: Codec, rows: Tensor) -> Tensor:
    """Return rows ``(i, f)`` as points ``(i, w)`` whose L1 distance is Gower's.

    Gower's distance is the mean over features: numbers and ranks count by their difference on the
    unit range, levels by whether they differ. A missing cell is 1 from a known one and 0 from a
    missing one.
    """
    missing = codec.missing(rows)
    parts = []
    for position, feature in enumerate(codec.schema):
        column, is_missing = rows[:, position], missing[:, position]
        if isinstance(feature, Categorical):
            codes = column.long() + 1  # a missing cell is a level of its own
            parts.append(one_hot(codes, len(feature.levels) + 1).double())
        else:
            unit = column / codec.reach[position]
            # Halved, the first two differ by the gap of two units, or by 1/2 from nothing.
            both = torch.stack([unit, 1 - unit], dim=-1).masked_fill(is_missing[:, None], 0.0)
            parts.append(torch.cat([both, is_missing.double()[:, None]], dim=-1))
    return torch.cat(parts, dim=-1) / (2 * len(codec.schema))


def nearest_distance(points: Tensor, others: Tensor, block_bytes: int = _BLOCK_BYTES) -> Tensor:
    """Return the L1 distance of points ``(q, w)`` to the nearest of others ``(n, w)``, ``(q,)``.

    No more than ``block_bytes`` of distances are held at a time.
    """
    size = max(1, block_bytes // (8 * len(others)))
    parts = [torch.cdist(part, others, p=1).amin(-1) for part in torch.split(points, size)]
    return torch.cat(parts)
