"""How equations of several kinds are compared: on rows that they were not fitted on."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from proce.arrays import MIN_DIFFERENCE, Array
from proce.causal.equations.effect_rows import EffectRows
from proce.causal.equations.forms import Form
from proce.causal.equations.mechanism import (
    NO_THRESHOLDS,
    Choice,
    Mechanism,
    Ordered,
    Parents,
    link_record,
    mean_rank,
)
from proce.causal.programs.links import explanations, shares_between, write_ends
from proce.causal.programs.program import Link
from proce.compiled.elementary import logarithms, softmaxes
from proce.losses import loss_of_chance, target_probability
from proce.schema import Categorical, Feature, Ordinal
from proce.schema.features.levels import rank_span

Fit = Callable[[Array], Mechanism]  # from how often each distinct row occurs, (d,)
_N_FOLDS = 5
_MAX_ERROR_RATIO = 0.99  # to which a less simple equation must cut the squared error
_ORDERED_SHARE = 0.2  # of that, for ordered levels: a row tells less of them than of a number


@dataclass(frozen=True, eq=False)
class Folds:
    """Rows that are held out together, told by the distinct rows that they are like.

    Attributes
    ----------
    counts
        ``(k, d)``, how many rows of each fold are like each distinct row.
    """

    counts: Array

    @classmethod
    def of(cls, effect: EffectRows, seed: int) -> "Folds":
        """Put the rows of an effect into folds by chance."""
        generator = np.random.default_rng(seed)
        fold_of = generator.permutation(effect.n_rows) % _N_FOLDS
        shape = min(_N_FOLDS, effect.n_rows), len(effect.target)
        places = fold_of * shape[1] + effect.places[effect.places >= 0]
        return cls(
            np.bincount(places, minlength=shape[0] * shape[1]).reshape(shape).astype(np.float64)
        )

    @cached_property
    def unseen(self) -> list[Array]:
        """The positions of the distinct rows in each fold."""
        return [np.flatnonzero(counts) for counts in self.counts]

    @cached_property
    def positions(self) -> Array:
        """The distinct rows of the first fold, then of the second, and so on, ``(u,)``."""
        return np.concatenate(self.unseen)

    @cached_property
    def weights(self) -> Array:
        """How many rows of its fold each of the :attr:`positions` stands for, ``(u,)``."""
        parts = zip(self.counts, self.unseen, strict=True)
        return np.concatenate([counts[unseen] for counts, unseen in parts])


def held_out(fit: Fit, effect: EffectRows, folds: Folds) -> Array:
    """Return what mechanisms predict of the rows of each fold, fitted on the others, ``(u, …)``."""
    parts = []
    for counts, unseen in zip(folds.counts, folds.unseen, strict=True):
        mechanism = fit(effect.counts - counts)
        parents = {name: values[unseen] for name, values in effect.parents.items()}
        parts.append(_predicted(mechanism, parents))
    return np.concatenate(parts)


def _predicted(mechanism: Mechanism, parents: Parents) -> Array:
    """Return the chances ``(u, l)`` of levels that have some, else a number or rank ``(u,)``."""
    if isinstance(mechanism, Choice):
        return softmaxes(mechanism.predict(parents))
    if isinstance(mechanism, Ordered):
        return mechanism.chances(parents)
    return mechanism.predict(parents)


def error(feature: Feature, predicted: Array, target: Array, weights: Array) -> float:
    """Return the log-loss of levels, or the root mean square on the unit range.

    ``weights`` say how many rows each prediction stands for.
    """
    if isinstance(feature, Categorical):
        chances = target_probability(predicted, target.astype(np.int64))
        return _mean(loss_of_chance(chances), weights)
    if predicted.ndim > target.ndim:
        predicted = mean_rank(predicted)
    reach = rank_span(len(feature.levels)) if isinstance(feature, Ordinal) else 1
    return math.sqrt(_mean(np.square(predicted - target), weights)) / reach


def surprise(form: Form, predicted: Array, target: Array, weights: Array, origin: float) -> float:
    """Return the mean negative log-likelihood of numbers under normal noise, but for a constant.

    The likelihood distinguishes noise that grows with the value from noise that does not, which
    the error of the prediction cannot do. The difference decides what follows for a person far
    from the middle. For a logarithmic form every target must be above the origin.
    """
    link = Link.MULTIPLICATIVE if form.is_logarithmic else Link.ADDITIVE
    record = link_record(link, 1, {"noise_origin": origin})
    noise = explanations(record, NO_THRESHOLDS, predicted[None], target, target)[..., 0]
    spread = _half_log(_mean(np.square(noise), weights)) + _handicap(form)
    return spread + (_mean(logarithms(target - origin), weights) if form.is_logarithmic else 0.0)


def surprise_of_levels(
    form: Form, predicted: Array, target: Array, weights: Array, n_levels: int
) -> float:
    """Return the mean negative log-likelihood of ordered levels.

    A predicted rank gives each level the chance of normal noise that is rounded to it; the noise
    has the standard deviation of the errors.
    """
    levels = target.astype(np.int64)
    if form.is_ordered:
        chances = target_probability(predicted, levels)
    else:
        spread = math.sqrt(_mean(np.square(predicted - target), weights))
        spread = max(spread, MIN_DIFFERENCE)
        low, high = ends = np.empty((2, len(levels)))
        halves = np.arange(0.5, n_levels - 1, dtype=np.float64) / spread
        write_ends(halves, levels, predicted / spread, ends)
        chances = shares_between(low, high)
    return _mean(loss_of_chance(chances), weights) + _handicap(form)


def _mean(values: Array, weights: Array) -> float:
    return float(values @ weights / weights.sum())


def _half_log(square: float) -> float:
    return 0.5 * float(logarithms(np.array(square))) if square > 0 else -math.inf


def _handicap(form: Form) -> float:
    handicap = -0.5 * math.log(_MAX_ERROR_RATIO) * form.n_steps
    return handicap * _ORDERED_SHARE if form.is_ordered else handicap
