"""Where the searches of rows without a counterfactual came nearest."""

import numpy as np

from proce.arrays import Array


class NearestMisses:
    """The genes that came nearest in the first search of each row that found nothing.

    Parameters
    ----------
    n_rows
        How many rows the call has.
    """

    def __init__(self, n_rows: int) -> None:
        self._line = np.full((n_rows,), -1)
        self._genes: Array | None = None

    def add(self, rows: Array, genes: Array) -> None:
        """Keep the genes ``(n, m, g)`` of rows ``(n,)`` that have none yet."""
        is_new = ~self.has(rows)
        rows, genes = rows[is_new], genes[is_new]
        if not len(rows):
            return
        known = genes[:0] if self._genes is None else self._genes
        self._line[rows] = len(known) + np.arange(len(rows))
        self._genes = np.concatenate([known, genes])

    def has(self, rows: Array) -> Array:
        """Return which of the rows ``(n,)`` were searched without success, ``(n,)``."""
        return self._line[rows] >= 0

    def genes(self, rows: Array) -> Array:
        """Return the genes ``(n, m, g)`` of rows that have some, the nearest first."""
        assert self._genes is not None, "only rows that have some are asked for"
        return self._genes[self._line[rows]]
