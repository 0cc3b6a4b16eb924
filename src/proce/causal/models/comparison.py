"""How equations of several kinds are compared: on rows that they were not fitted on."""

import math
from collections.abc import Callable, Collection

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from proce.causal.models.mechanism import Equation, Parents
from proce.causal.models.regression import NONE
from proce.schema import Categorical, Feature, Ordinal

Fit = Callable[[Parents, Tensor], Equation]
_N_FOLDS = 5
_MAX_ERROR_RATIO = 0.99  # to which a less simple equation must cut the squared error


def held_out(fit: Fit, parents: Parents, target: Tensor, seed: int) -> Tensor:
    """Return predictions of rows that the equation was not fitted on."""
    generator = torch.Generator().manual_seed(seed)
    fold_of = torch.randperm(len(target), generator=generator) % _N_FOLDS
    parts, order = [], []
    for fold in range(min(_N_FOLDS, len(target))):
        seen, unseen = fold_of != fold, fold_of == fold
        equation = fit({name: values[seen] for name, values in parents.items()}, target[seen])
        parts.append(equation({name: values[unseen] for name, values in parents.items()}))
        order.append(unseen.nonzero().flatten())
    return torch.cat(parts)[torch.cat(order).argsort()]


def error(feature: Feature, predicted: Tensor, target: Tensor) -> float:
    """Return the log-loss of levels, or the root mean square on the unit range."""
    if isinstance(feature, Categorical):
        return float(cross_entropy(predicted, target.long()))
    reach = max(1, len(feature.levels) - 1) if isinstance(feature, Ordinal) else 1
    return float((predicted - target).square().mean().sqrt()) / reach


def comparable_rows(kinds: Collection[str], target: Tensor, origin: float) -> Tensor:
    """Return flags of the rows on which all kinds have a likelihood.

    An amount of zero has none under multiplicative noise. Where no kind has such noise, zero is
    a value like any other.
    """
    if any(kind.startswith("log") for kind in kinds):
        return target > origin + NONE
    return torch.ones_like(target, dtype=torch.bool)


def surprise(kind: str, predicted: Tensor, target: Tensor, origin: float) -> float:
    """Return the mean negative log-likelihood under normal noise, but for a constant.

    The likelihood distinguishes noise that grows with the value from noise that does not, which
    the error of the prediction cannot do. The difference decides what follows for a person far
    from the middle. For a kind with ``log`` every target must be above the origin.
    """
    steps = {"linear": 0, "quadratic": 1, "spline": 2}[kind.removeprefix("log-")]
    handicap = -0.5 * math.log(_MAX_ERROR_RATIO) * (steps + kind.startswith("log"))
    if not kind.startswith("log"):
        return 0.5 * float((predicted - target).square().mean().log()) + handicap
    above = (target - origin).log()
    noise = above - (predicted - origin).log()
    return 0.5 * float(noise.square().mean().log()) + float(above.mean()) + handicap
