"""Levels without an order, learned from rows: multinomial logistic regression."""

import numpy as np

from proce.arrays import Array
from proce.causal.equations.polynomial import Polynomial
from proce.causal.equations.terms import Terms

_NEVER = -50.0  # a logit so low that its level is never chosen


def fit_logistic(
    terms: Terms, columns: Array, codes: Array, counts: Array, n_levels: int
) -> Polynomial:
    """Fit the logits of levels on rows that occur ``counts`` times.

    A level that never occurs keeps a logit so low that it is never chosen.

    Parameters
    ----------
    terms, columns
        The terms, and what they are in the rows, ``(d, m)``.
    codes, counts
        The level of each row and how often it occurs, ``(d,)``.
    n_levels
        How many levels there are, seen or not.
    """
    from sklearn.linear_model import LogisticRegression

    seen = counts > 0
    rows, labels = columns[seen].astype(np.float64), codes[seen]
    model = LogisticRegression(C=100.0, max_iter=1000)
    model.fit(rows, labels, sample_weight=counts[seen])
    slopes, constants = model.coef_, model.intercept_
    if len(model.classes_) == 2:  # scikit-learn keeps one row of weights for two levels
        slopes = np.concatenate([np.zeros_like(slopes), slopes])
        constants = np.concatenate([np.zeros_like(constants), constants])
    weights = np.zeros((terms.size, n_levels), dtype=np.float64)
    weights[0] = _NEVER
    known = model.classes_.astype(np.int64)
    weights[0, known] = constants
    weights[1:, known] = slopes.T
    return Polynomial(terms, weights)
