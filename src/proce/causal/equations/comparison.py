"""How equations of several kinds are compared: on rows that they were not fitted on."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from proce.causal.equations.effect_rows import EffectRows
from proce.causal.equations.forms import Form
from proce.causal.equations.mechanism import Mechanism
from proce.schema import Categorical, Feature, Ordinal

Fit = Callable[[Tensor], Mechanism]  # from how often each distinct row occurs, (d,)
_N_FOLDS = 5
_MAX_ERROR_RATIO = 0.99  # to which a less simple equation must cut the squared error
_ORDERED_SHARE = 0.2  # of that, for ordered levels: a row tells less of them than of a number
_MIN_CHANCE = 1e-12  # of a level: what is less likely counts as this


@dataclass(frozen=True, eq=False)
class Folds:
    """Rows that are held out together, told by the distinct rows that they are like.

    Attributes
    ----------
    counts
        ``(k, d)``, how many rows of each fold are like each distinct row.
    """

    counts: Tensor

    @classmethod
    def of(cls, effect: EffectRows, seed: int) -> "Folds":
        """Put the rows of an effect into folds by chance."""
        generator = torch.Generator().manual_seed(seed)
        fold_of = torch.randperm(effect.n_rows, generator=generator) % _N_FOLDS
        shape = min(_N_FOLDS, effect.n_rows), len(effect.target)
        places = fold_of * shape[1] + effect.places[effect.places >= 0]
        return cls(torch.bincount(places, minlength=shape[0] * shape[1]).reshape(shape).double())

    @cached_property
    def unseen(self) -> list[Tensor]:
        """The positions of the distinct rows in each fold."""
        return [counts.nonzero().flatten() for counts in self.counts]

    @cached_property
    def positions(self) -> Tensor:
        """The distinct rows of the first fold, then of the second, and so on, ``(u,)``."""
        return torch.cat(self.unseen)

    @cached_property
    def weights(self) -> Tensor:
        """How many rows of its fold each of the :attr:`positions` stands for, ``(u,)``."""
        parts = zip(self.counts, self.unseen, strict=True)
        return torch.cat([counts[unseen] for counts, unseen in parts])


def held_out(fit: Fit, effect: EffectRows, folds: Folds) -> Tensor:
    """Return what mechanisms predict of the rows of each fold, fitted on the others, ``(u, …)``."""
    parts = []
    for counts, unseen in zip(folds.counts, folds.unseen, strict=True):
        mechanism = fit(effect.counts - counts)
        parents = {name: values[unseen] for name, values in effect.parents.items()}
        parts.append(mechanism.predict(parents))
    return torch.cat(parts)


def error(feature: Feature, predicted: Tensor, target: Tensor, weights: Tensor) -> float:
    """Return the log-loss of levels, or the root mean square on the unit range.

    ``weights`` say how many rows each prediction stands for.
    """
    if isinstance(feature, Categorical):
        return _mean(cross_entropy(predicted, target.long(), reduction="none"), weights)
    if predicted.ndim > target.ndim:
        predicted = predicted @ torch.arange(predicted.shape[-1]).to(predicted)
    reach = max(1, len(feature.levels) - 1) if isinstance(feature, Ordinal) else 1
    return math.sqrt(_mean((predicted - target).square(), weights)) / reach


def surprise(
    form: Form, predicted: Tensor, target: Tensor, weights: Tensor, origin: float
) -> float:
    """Return the mean negative log-likelihood of numbers under normal noise, but for a constant.

    The likelihood distinguishes noise that grows with the value from noise that does not, which
    the error of the prediction cannot do. The difference decides what follows for a person far
    from the middle. For a logarithmic form every target must be above the origin.
    """
    if not form.is_logarithmic:
        return _half_log(_mean((predicted - target).square(), weights)) + _handicap(form)
    above = (target - origin).log()
    noise = above - (predicted - origin).log()
    spread = _half_log(_mean(noise.square(), weights))
    return spread + _mean(above, weights) + _handicap(form)


def surprise_of_levels(
    form: Form, predicted: Tensor, target: Tensor, weights: Tensor, n_levels: int
) -> float:
    """Return the mean negative log-likelihood of ordered levels.

    A predicted rank gives each level the chance of normal noise that is rounded to it; the noise
    has the standard deviation of the errors.
    """
    if not form.is_ordered:
        spread = math.sqrt(_mean((predicted - target).square(), weights))
        ends = torch.arange(n_levels - 1).to(predicted) + 0.5
        below = torch.special.ndtr((ends - predicted[:, None]) / spread)
        none, all_of_it = torch.zeros_like(below[:, :1]), torch.ones_like(below[:, :1])
        predicted = torch.cat([none, below, all_of_it], dim=-1).diff(dim=-1)
    chance = predicted.gather(-1, target.long()[:, None])
    return -_mean(chance.clamp(min=_MIN_CHANCE).log().squeeze(-1), weights) + _handicap(form)


def _mean(values: Tensor, weights: Tensor) -> float:
    return float(values @ weights / weights.sum())


def _half_log(square: float) -> float:
    return 0.5 * math.log(square) if square > 0 else -math.inf


def _handicap(form: Form) -> float:
    handicap = -0.5 * math.log(_MAX_ERROR_RATIO) * form.n_steps
    return handicap * _ORDERED_SHARE if form.is_ordered else handicap
