"""How near counterfactuals are (Eqs. 21 and 22)."""

import torch
from torch import Tensor

from proce.schema import Codec, Continuous


def categorical_proximity(codec: Codec, factual: Tensor, rows: Tensor) -> float:
    """Return the mean number of levels that stayed as they were (Eq. 21), ordinal ones included.

    The paper's text counts matches, '5 out of 6'; the printed sum goes below zero.
    """
    levels = [at for at, f in enumerate(codec.schema) if not isinstance(f, Continuous)]
    if not levels:
        return torch.nan
    return float((factual[:, levels] == rows[:, levels]).double().sum(-1).mean())


def continuous_proximity(codec: Codec, factual: Tensor, rows: Tensor) -> float:
    """Return minus the mean squared distance of the numbers, on the unit range (Eq. 22)."""
    numbers = [at for at, f in enumerate(codec.schema) if isinstance(f, Continuous)]
    if not numbers:
        return torch.nan
    gap = (rows[:, numbers] - factual[:, numbers]).nan_to_num(nan=0.0)
    return -float(gap.square().sum(-1).mean())
