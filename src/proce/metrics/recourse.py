"""Does advice work in the true world, where its equations are known?"""

from dataclasses import dataclass

import torch
from torch import Tensor

from proce.causal import StructuralCausalModel
from proce.classifier import Classifier
from proce.explanation import Change, Explanations
from proce.objective import limits_of
from proce.schema import Codec, Continuous

_ROUNDING = 1e-6  # on the unit range


@dataclass(frozen=True, slots=True)
class Recourse:
    """What became of the advice; shares are of all rows that wanted some.

    Attributes
    ----------
    success
        Rows with recommended actions that are all allowed and, taken in the true world, lead to
        the target.
    broken_promises
        Of the rows with a counterfactual, the share whose actions do not.
    abstentions
        Rows without a counterfactual.
    n_actions, n_holds
        Mean numbers per counterfactual.
    cost
        Mean distance of the counterfactuals.
    consequence_error
        Mean absolute error of the predicted consequences on the unit range, over numbers that
        truly follow from an action.
    naive_error
        The same for the prediction that nothing else moves.

    What cannot be said, for want of rows, is NaN.
    """

    success: float
    broken_promises: float
    abstentions: float
    n_actions: float
    n_holds: float
    cost: float
    consequence_error: float
    naive_error: float


def recourse(
    result: Explanations, truth: StructuralCausalModel, classifier: Classifier, seed: int = 0
) -> Recourse:
    """Take each recommended action set in the true world and ask the model again.

    Parameters
    ----------
    result
        Rows that already have the target class do not count.
    truth
        The true equations, over the codec of the result; its schema says what is allowed.
    classifier
        The model that was explained.
    seed
        Of noise that the row alone does not determine.
    """
    asked = [item for item in result if item.outcome != "already_target"]
    found = [item for item in asked if len(item)]
    nothing = torch.nan
    if not found:
        none, all_of_them = (0.0, 1.0) if asked else (nothing, nothing)
        return Recourse(none, nothing, all_of_them, nothing, nothing, nothing, nothing, nothing)
    factual = torch.stack([item.factual for item in found])
    shown = torch.stack([item.rows[0] for item in found])
    changes = torch.stack([item.changes[0] for item in found])
    by_hand = (changes == Change.ACTION) | (changes == Change.HOLD)
    start = torch.where(by_hand, shown, factual)
    keys = torch.tensor([item.row for item in found])
    reached = truth.propagate(start, truth.abduct(factual, seed=seed, keys=keys), by_hand)
    target = torch.tensor([item.target for item in found])
    works = (classifier.predict(reached) == target) & by_hand.any(-1)
    works &= _allowed(truth.codec, factual, shown, by_hand)
    numbers = torch.tensor([isinstance(f, Continuous) for f in truth.codec.schema])
    follows = ~by_hand & numbers & ((reached - factual).abs() > 1e-9)
    return Recourse(
        success=float(works.sum()) / len(asked),
        broken_promises=float((~works).double().mean()),
        abstentions=1 - len(found) / len(asked),
        n_actions=float((changes == Change.ACTION).double().sum(-1).mean()),
        n_holds=float((changes == Change.HOLD).double().sum(-1).mean()),
        cost=float(torch.stack([item.losses[0, 2] for item in found]).mean()),
        consequence_error=_mean((shown - reached).abs(), follows),
        naive_error=_mean((factual - reached).abs(), follows),
    )


def _allowed(codec: Codec, factual: Tensor, shown: Tensor, by_hand: Tensor) -> Tensor:
    """Return flags ``(i,)``: the schema lets a person do all that is done by hand."""
    limits = limits_of(codec, factual)
    outside = (shown < limits.lower - _ROUNDING) | (shown > limits.upper + _ROUNDING)
    return ~(by_hand & (outside | ~limits.movable)).any(-1)


def _mean(values: Tensor, where: Tensor) -> float:
    return float(values[where].mean()) if bool(where.any()) else torch.nan
