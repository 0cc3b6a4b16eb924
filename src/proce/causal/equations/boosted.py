"""Boosted trees: flexible, but with steps, so poor at the direction of small changes."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from proce.arrays import Array
from proce.causal.equations.learning import EffectRows, Family, Fit, with_added_noise
from proce.causal.equations.mechanism import Mechanism
from proce.causal.equations.terms import SAME_UNITS, Learned, Parents, Terms, UnitMap, columns_of


@dataclass(frozen=True)
class Boosted(Learned):
    """What trees say times the first number of ``output``, plus the second."""

    terms: Terms
    model: Any
    output: UnitMap = SAME_UNITS

    form = "boosted"
    learned_name = "model"
    is_estimator = True

    def __call__(self, parents: Parents) -> Array:
        """Return the prediction, of the parents' shape."""
        columns = columns_of(self.terms, parents)
        flat = self.model.predict(columns.reshape(-1, columns.shape[-1]))
        predicted, (factor, shift) = flat.reshape(columns.shape[:-1]), self.output
        return predicted if self.output == SAME_UNITS else predicted * factor + shift

    def rescaled(self, maps: Mapping[str, UnitMap], own: UnitMap) -> "Boosted":
        """Return the equation with its causes and its effect on other unit ranges."""
        (factor, shift), (rate, start) = own, self.output
        output = rate / factor, (start - shift) / factor
        return Boosted(self.terms.rescaled(maps), self.model, output)

    def saved(self) -> dict[str, Any]:
        """Return what is added to the trees."""
        return {"output": self.output}

    @classmethod
    def load(cls, terms: Terms, learned: Any, saved: Any, n_logits: int) -> "Boosted | None":
        """Return the trees, of as many columns as there are terms."""
        if getattr(learned, "n_features_in_", None) != terms.size - 1:
            return None
        return cls(terms, learned, saved.output)


def _fit(kind: str, effect: EffectRows, seed: int) -> Fit:
    return partial(_fit_trees, effect, Terms(effect.causes), seed)


def _fit_trees(effect: EffectRows, terms: Terms, seed: int, counts: Array) -> Mechanism:
    from sklearn.ensemble import HistGradientBoostingRegressor

    rows = np.repeat(np.arange(len(counts)), counts.astype(np.int64))
    columns, target = columns_of(terms, effect.parents)[rows], effect.target[rows]
    model = HistGradientBoostingRegressor(random_state=seed % 2**32, early_stopping=False)
    model.fit(columns.astype(np.float64), target.astype(np.float64))
    return with_added_noise(effect.feature, Boosted(terms, model))


BOOSTING = Family(
    words=lambda kind: "boosted trees" if kind == "boosting" else None,
    fit=_fit,
    equations=(Boosted,),
)
