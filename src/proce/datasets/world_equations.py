"""The equations of random worlds: sums of curves in standardised causes."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from proce.arrays import Array
from proce.causal.equations.terms import Parents


@dataclass(frozen=True)
class Term:
    """One summand of an equation: a weight times a curve in one cause, or in the product of two.

    Attributes
    ----------
    causes
        The names of one or two causes.
    shape
        ``straight``, ``square`` or ``saturating``.
    weight
        The weight, where every cause counts in standard deviations.
    """

    causes: tuple[str, ...]
    shape: str
    weight: float

    def __call__(self, standard: Parents) -> Array:
        """Return the summand for standardised causes."""
        value = standard[self.causes[0]]
        for cause in self.causes[1:]:
            value = value * standard[cause]
        if self.shape == "square":
            value = (np.square(value) - 1) / 2
        elif self.shape == "saturating":
            value = 1.5 * np.tanh(value)
        return self.weight * value


@dataclass(frozen=True)
class Scale:
    """The centre and the spread of a feature, by which its values are standardised.

    For levels without an order ``scores`` holds one standardised value for each level.
    """

    centre: float
    spread: float
    scores: tuple[float, ...] = ()

    def __call__(self, values: Array) -> Array:
        """Return raw values or level codes in standard deviations."""
        if self.scores:
            return np.array(self.scores, dtype=np.float64)[values.astype(np.int64)]
        return (values.astype(np.float64) - self.centre) / self.spread


@dataclass(frozen=True)
class Response:
    """An equation: a sum of terms in standardised causes, brought to raw units.

    Attributes
    ----------
    terms
        The summands.
    scales
        The scale of each cause, by name.
    centre, gain
        What the sum is multiplied by, and where 0 lies.
    slopes
        For an effect without an order, the slope of each level's logit in the sum; else empty.
    """

    terms: tuple[Term, ...]
    scales: Mapping[str, Scale]
    centre: float = 0.0
    gain: float = 1.0
    slopes: tuple[float, ...] = ()

    def __call__(self, parents: Parents) -> Array:
        """Return the prediction for causes in raw units, or the logits of levels."""
        standard = {name: self.scales[name](values) for name, values in parents.items()}
        total = np.stack([term(standard) for term in self.terms]).sum(0)
        total = self.centre + self.gain * total
        if self.slopes:
            return total[..., None] * np.array(self.slopes, dtype=np.float64)
        return total
