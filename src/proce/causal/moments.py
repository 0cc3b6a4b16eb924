"""Least squares from sums over rows, so that rows can be taken out again without a new pass."""

from dataclasses import dataclass

import numpy as np

from proce.arrays import Array

RIDGE = 1e-8  # of the number of rows: keeps collinear columns solvable, moves nothing else


@dataclass(frozen=True, eq=False)
class Moments:
    """Sums over rows of columns ``(i, m)`` and a target ``(i,)``, both counted from a middle."""

    n_rows: float  # how many rows there are, counted as often as they occur
    middle: Array  # (m + 1,), from where the columns and, last, the target are counted
    sums: Array  # (m + 1,), of the columns and the target
    products: Array  # (m + 1, m + 1), of all pairs of them

    @classmethod
    def of(
        cls,
        columns: Array,
        target: Array,
        counts: Array,
        middle: Array | None = None,
    ) -> "Moments":
        """Return the sums over rows that occur ``counts (i,)`` times."""
        # The sums count from the means where no middle is given.
        both = np.concatenate([columns, target[:, None]], axis=1).astype(np.float64)
        n_rows = float(counts.sum())
        middle = counts @ both / n_rows if middle is None else middle
        offset = both - middle
        weighted = offset * counts[:, None]
        return cls(n_rows, middle, weighted.sum(0), weighted.T @ offset)

    def __sub__(self, other: "Moments") -> "Moments":
        """Return the sums without some of the rows, which must count from the same middle."""
        return Moments(
            self.n_rows - other.n_rows,
            self.middle,
            self.sums - other.sums,
            self.products - other.products,
        )

    @property
    def means(self) -> Array:
        """The means ``(m + 1,)`` of the columns and the target."""
        return self.middle + self.sums / self.n_rows

    @property
    def centred(self) -> Array:
        """The sums ``(m + 1, m + 1)`` of products of offsets from the means."""
        return self.products - np.outer(self.sums, self.sums) / self.n_rows


def least_squares(moments: Moments) -> Array:
    """Return the weights ``(1 + m,)`` of least squares, the constant first."""
    return weights_of(moments, np.arange(len(moments.sums) - 1))


def weights_of(moments: Moments, kept: Array) -> Array:
    """Return the weights ``(1 + m,)`` of least squares on some columns; 0 for the others."""
    centred, means = moments.centred, moments.means
    gram = centred[kept][:, kept]
    gram[np.diag_indices_from(gram)] += RIDGE * moments.n_rows
    weights = np.zeros_like(means)
    weights[1 + kept] = np.linalg.solve(gram, centred[kept, -1])
    weights[0] = means[-1] - means[:-1] @ weights[1:]
    return weights


def predicted(weights: Array, columns: Array) -> Array:
    """Return what weights ``(1 + m,)`` predict from columns ``(i, m)``, ``(i,)``."""
    return weights[0] + columns @ weights[1:]
