"""Lines of which each belongs to a row: those of a row stand together, the rows in their order."""

import torch
from torch import Tensor


def lines_of(owner: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
    """Return the lines of some rows, and the index in ``rows`` of the row that owns each.

    Parameters
    ----------
    owner
        ``(n,)``, the row that each line belongs to; ascending.
    rows
        ``(i,)``, the rows, in any order.
    """
    first = torch.searchsorted(owner, rows)
    counts = torch.searchsorted(owner, rows, right=True) - first
    index = torch.repeat_interleave(torch.arange(len(rows)), counts)
    nth = torch.arange(len(index)) - (counts.cumsum(0) - counts)[index]
    return first[index] + nth, index
