"""Levels without an order: multinomial logistic regression."""

from functools import partial

import numpy as np

from proce.arrays import Array
from proce.causal.equations.effect_rows import EffectRows
from proce.causal.equations.family import Family, Fit
from proce.causal.equations.mechanism import Choice
from proce.causal.equations.regression import Polynomial
from proce.causal.equations.terms import Terms, columns_of
from proce.schema import Categorical

_NEVER = -50.0  # a logit so low that its level is never chosen


def fit_logistic(
    terms: Terms,
    columns: Array,  # (d, m)
    codes: Array,  # (d,)
    n_levels: int,  # seen or not
    counts: Array,  # how often each row occurs, (d,)
) -> Choice:
    """Fit the logits of levels; one that never occurs has one so low that it is never chosen."""
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
    return Choice(Polynomial(terms, weights), n_levels, units="unit")


def _fit(kind: str, effect: EffectRows, seed: int) -> Fit:
    assert isinstance(effect.feature, Categorical), "levels without an order"
    columns, n_levels = columns_of(effect.terms, effect.parents), len(effect.feature.levels)
    return partial(fit_logistic, effect.terms, columns, effect.target, n_levels)


LOGISTIC = Family(
    words=lambda kind: "a logistic regression" if kind == "logistic" else None, fit=_fit
)
