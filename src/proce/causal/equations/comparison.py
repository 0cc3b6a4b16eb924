"""How equations of several kinds are compared: on rows that they were not fitted on."""

import math
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from proce.causal.equations.forms import Form
from proce.causal.equations.mechanism import Mechanism, Parents
from proce.schema import Categorical, Feature, Ordinal

Fit = Callable[[Parents, Tensor], Mechanism]
_N_FOLDS = 5
_MAX_ERROR_RATIO = 0.99  # to which a less simple equation must cut the squared error
_ORDERED_SHARE = 0.2  # of that, for ordered levels: a row tells less of them than of a number
_MIN_CHANCE = 1e-12  # of a level: what is less likely counts as this


def folds(n_rows: int, seed: int) -> list[Tensor]:
    """Return the positions of the rows of each fold."""
    generator = torch.Generator().manual_seed(seed)
    fold_of = torch.randperm(n_rows, generator=generator) % _N_FOLDS
    return [(fold_of == fold).nonzero().flatten() for fold in range(min(_N_FOLDS, n_rows))]


def held_out(fit: Fit, parents: Parents, target: Tensor, seed: int) -> Tensor:
    """Return what mechanisms predict of rows that they were not fitted on."""
    parts, order = [], folds(len(target), seed)
    for unseen in order:
        seen = torch.ones_like(target, dtype=torch.bool)
        seen[unseen] = False
        mechanism = fit({name: values[seen] for name, values in parents.items()}, target[seen])
        parts.append(mechanism.predict({name: values[unseen] for name, values in parents.items()}))
    return torch.cat(parts)[torch.cat(order).argsort()]


def error(feature: Feature, predicted: Tensor, target: Tensor) -> float:
    """Return the log-loss of levels, or the root mean square on the unit range."""
    if isinstance(feature, Categorical):
        return float(cross_entropy(predicted, target.long()))
    if predicted.ndim > target.ndim:
        predicted = predicted @ torch.arange(predicted.shape[-1]).to(predicted)
    reach = max(1, len(feature.levels) - 1) if isinstance(feature, Ordinal) else 1
    return float((predicted - target).square().mean().sqrt()) / reach


def surprise(form: Form, predicted: Tensor, target: Tensor, origin: float) -> float:
    """Return the mean negative log-likelihood of numbers under normal noise, but for a constant.

    The likelihood distinguishes noise that grows with the value from noise that does not, which
    the error of the prediction cannot do. The difference decides what follows for a person far
    from the middle. For a logarithmic form every target must be above the origin.
    """
    if not form.is_logarithmic:
        return 0.5 * float((predicted - target).square().mean().log()) + _handicap(form)
    above = (target - origin).log()
    noise = above - (predicted - origin).log()
    return 0.5 * float(noise.square().mean().log()) + float(above.mean()) + _handicap(form)


def surprise_of_levels(form: Form, predicted: Tensor, target: Tensor, n_levels: int) -> float:
    """Return the mean negative log-likelihood of ordered levels.

    A predicted rank gives each level the chance of normal noise that is rounded to it; the noise
    has the standard deviation of the errors.
    """
    if not form.is_ordered:
        spread = (predicted - target).square().mean().sqrt()
        ends = torch.arange(n_levels - 1).to(predicted) + 0.5
        below = torch.special.ndtr((ends - predicted[:, None]) / spread)
        none, all_of_it = torch.zeros_like(below[:, :1]), torch.ones_like(below[:, :1])
        predicted = torch.cat([none, below, all_of_it], dim=-1).diff(dim=-1)
    chance = predicted.gather(-1, target.long()[:, None])
    return -float(chance.clamp(min=_MIN_CHANCE).log().mean()) + _handicap(form)


def _handicap(form: Form) -> float:
    handicap = -0.5 * math.log(_MAX_ERROR_RATIO) * form.n_steps
    return handicap * _ORDERED_SHARE if form.is_ordered else handicap
