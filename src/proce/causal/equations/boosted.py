"""Equations that are boosted trees."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from proce.arrays import Array
from proce.causal.equations.mechanism import Parents
from proce.causal.equations.terms import Terms


@dataclass(frozen=True)
class Boosted:
    """Boosted trees: flexible, but with steps, so poor at the direction of small changes.

    The prediction is what the trees say times the first number of ``output``, plus the second.
    """

    terms: Terms
    model: Any
    output: tuple[float, float] = (1.0, 0.0)

    def __call__(self, parents: Parents) -> Array:
        """Return the prediction, of the parents' shape."""
        columns = self.terms(parents)
        flat = self.model.predict(columns.reshape(-1, columns.shape[-1]).astype(np.float64))
        first = parents[self.terms.parents[0].name]
        told = flat.reshape(first.shape)
        return told if self.output == (1.0, 0.0) else told * self.output[0] + self.output[1]

    @classmethod
    def fit(cls, terms: Terms, columns: Array, target: Array, seed: int) -> "Boosted":
        """Fit the trees on the terms ``(i, m)`` of training rows."""
        from sklearn.ensemble import HistGradientBoostingRegressor

        model = HistGradientBoostingRegressor(random_state=seed % 2**32, early_stopping=False)
        return cls(terms, model.fit(columns.astype(np.float64), target.astype(np.float64)))
