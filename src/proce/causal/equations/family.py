"""A family of equations: how it is fitted, compared and told."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from proce.arrays import Array
from proce.causal.equations.effect_rows import EffectRows, Folds
from proce.causal.equations.learned import Learned
from proce.causal.equations.mechanism import (
    Additive,
    Choice,
    Mechanism,
    Ordered,
    Ranked,
)
from proce.causal.equations.terms import Equation, Parents
from proce.compiled.elementary import softmaxes
from proce.schema import Feature, Ordinal

Fit = Callable[[Array], Mechanism]  # from how often each distinct row occurs, (d,)


@dataclass(frozen=True)
class Family:
    """Equations that are learned in one way; `families.py` lists all families."""

    words: Callable[[str], str | None]  # a kind in words; None of the kinds of other families
    fit: Callable[[str, EffectRows, int], Fit]  # of a kind, an effect and a seed
    equations: tuple[type[Learned], ...] = ()  # what is fitted, as it is saved by its `form`
    # What is predicted of the rows of each fold, where that is known without a fit for each.
    held_out: Callable[[str, EffectRows, Folds, int], Array] | None = None

    def predict_unseen(self, kind: str, effect: EffectRows, folds: Folds, seed: int) -> Array:
        """Return what a kind predicts of the rows of each fold, fitted on the others.

        A number or rank ``(u,)``, or chances ``(u, l)`` of levels that are fitted as such.
        """
        if self.held_out is not None:
            return self.held_out(kind, effect, folds, seed)
        return held_out(self.fit(kind, effect, seed), effect, folds)


def held_out(fit: Fit, effect: EffectRows, folds: Folds) -> Array:
    """Return what mechanisms predict of the rows of each fold, fitted on the others, ``(u, …)``."""
    parts = []
    for counts, unseen in zip(folds.counts, folds.unseen, strict=True):
        mechanism = fit(effect.counts - counts)
        parents = {name: values[unseen] for name, values in effect.parents.items()}
        parts.append(_predicted(mechanism, parents))
    return np.concatenate(parts)


def with_added_noise(feature: Feature, equation: Equation) -> Mechanism:
    """Return an equation of a number, or of a rank, with what it leaves over as its noise."""
    if isinstance(feature, Ordinal):
        return Ranked(equation, len(feature.levels), units="unit")
    return Additive(equation, units="unit")


def _predicted(mechanism: Mechanism, parents: Parents) -> Array:
    """Return the chances ``(u, l)`` of levels that have some, else a number or rank ``(u,)``."""
    if isinstance(mechanism, Choice):
        return softmaxes(mechanism.predict(parents))
    if isinstance(mechanism, Ordered):
        return mechanism.chances(parents)
    return mechanism.predict(parents)
