"""Which terms of a regression the rows speak for."""

import numpy as np

from proce.arrays import Array, Floats
from proce.causal.moments import RIDGE, Moments, weights_of
from proce.compiled.elementary import logarithms

_MIN_SCALE = 1e-8  # of a column on the unit range: less is constant
_MAX_INFLATION = 1e4  # of the variance of a weight: beyond, what is left would be rounding
_MIN_ERROR = 1e-12  # of the variation: less is rounding


def sparse_least_squares(moments: Moments) -> Array:
    """Return the weights ``(1 + m,)`` of least squares on the columns needed, else 0."""
    return weights_of(moments, needed_terms(moments))


def needed_terms(moments: Moments) -> Array:
    """Return the positions of the columns that the target needs, by BIC.

    Columns go one by one, first the one without which the squared error of least squares (with a
    constant) grows the least, as long as the likelihood under normal noise loses less than half
    the logarithm of the number of rows. One column always stays.
    """
    n_rows, centred = moments.n_rows, moments.centred
    scale = np.sqrt(np.maximum((centred.diagonal()[:-1] / n_rows), 0))
    scale = np.where(scale > _MIN_SCALE, scale, 1.0)
    gram = centred[:-1, :-1] / np.outer(scale, scale)
    np.fill_diagonal(gram, gram.diagonal() + RIDGE * n_rows)
    covariance, variation = (centred[:-1, -1] / scale), float(centred[-1, -1])
    kept, products = np.arange(len(covariance)), gram
    inverse = np.linalg.inv(products)
    while len(kept) > 1:
        weights = inverse @ covariance[kept]
        error = max(variation - float(weights @ covariance[kept]), _MIN_ERROR * variation)
        growth = weights**2 / np.diag(inverse)  # of the squared error, without the column
        least = int(growth.argmin())
        ratio, penalty = logarithms(np.array([1 + growth[least] / error, n_rows]))
        if n_rows * ratio > penalty:
            break
        kept = np.delete(kept, least)
        if inverse[least, least] * n_rows > _MAX_INFLATION:
            inverse = np.linalg.inv(products[np.ix_(kept, kept)])
        else:
            inverse = _without(inverse, least)
    return kept


def _without(inverse: Floats, position: int) -> Floats:
    """Return the inverse of a matrix without one row and column, from its inverse with them."""
    column = inverse[:, position]
    inverse = inverse - np.outer(column, column) / inverse[position, position]
    return np.delete(np.delete(inverse, position, 0), position, 1)
