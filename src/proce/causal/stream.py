"""Random numbers that belong to a row, whatever batch it stands in."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def row_uniforms(seed: int, keys: Tensor, width: int) -> Tensor:
    """Return uniform draws ``(i, width)`` between 0 and 1, both excluded.

    Each is a hash of the seed, the row's key ``(i,)`` and the column (SplitMix64), so a row
    gets the same draws alone and among others, and no loop over rows is needed.
    """
    start = _mixed(np.array([seed % 2**64], dtype=np.uint64))
    rows = _mixed(start ^ keys.cpu().numpy().astype(np.uint64))  # (i,)
    columns = np.arange(1, width + 1, dtype=np.uint64) * _GOLDEN
    bits = _mixed(rows[:, None] + columns) >> np.uint64(11)  # (i, width), 53 bits each
    return torch.from_numpy((bits.astype(np.float64) + 0.5) * 2.0**-53)


def _mixed(state: NDArray[np.uint64]) -> NDArray[np.uint64]:
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))
