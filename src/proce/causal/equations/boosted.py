"""Equations that are boosted trees."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from proce.arrays import Array
from proce.causal.equations.mechanism import Parents
from proce.causal.equations.tables import columns_of
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
        columns = columns_of(self.terms, parents)
        flat = self.model.predict(columns.reshape(-1, columns.shape[-1]))
        told = flat.reshape(columns.shape[:-1])
        return told if self.output == (1.0, 0.0) else told * self.output[0] + self.output[1]

    @classmethod
    def fit(cls, terms: Terms, columns: Array, target: Array, seed: int) -> "Boosted":
        """Fit the trees on the terms ``(i, m)`` of training rows."""
        from sklearn.ensemble import HistGradientBoostingRegressor

        model = HistGradientBoostingRegressor(random_state=seed % 2**32, early_stopping=False)
        return cls(terms, model.fit(columns.astype(np.float64), target.astype(np.float64)))
