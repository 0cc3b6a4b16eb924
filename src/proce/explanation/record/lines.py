"""Lines of which each belongs to a row: those of a row stand together, the rows in their order."""

import numpy as np

from proce.arrays import Array, nth_of_owner


def lines_of(owner: Array, rows: Array) -> tuple[Array, Array]:
    """Return the lines of some rows, and the index in ``rows`` of the row that owns each.

    Parameters
    ----------
    owner
        ``(n,)``, the row that each line belongs to; ascending.
    rows
        ``(i,)``, the rows, in any order.
    """
    first = np.searchsorted(owner, rows)
    counts = np.searchsorted(owner, rows, side="right") - first
    index = np.repeat(np.arange(len(rows)), counts)
    return first[index] + nth_of_owner(index), index
