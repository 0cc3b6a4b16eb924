"""Does advice work in the true world, where its equations are known?"""

from dataclasses import dataclass

import torch
from torch import Tensor

from proce.causal import StructuralCausalModel
from proce.classifier import Classifier
from proce.explanation import Change, Explanations, Outcome
from proce.metrics.answers import Answers
from proce.objective import CallLimits
from proce.schema import Categorical, Codec, Continuous

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
        Mean distance of the counterfactuals, by the measure of the method itself.
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


@dataclass(frozen=True, eq=False)
class Taken:
    """What becomes of people who do as they were told, in the true world.

    Attributes
    ----------
    reached
        ``(c, f)``, where they end.
    cost
        ``(c,)``, how much they do: over actions and holds, the distance on the unit range to
        where the feature would be without, its old value or where its causes lead; 1 for a
        categorical level.
    """

    reached: Tensor
    cost: Tensor


def take_actions(answers: Answers, truth: StructuralCausalModel, seed: int = 0) -> Taken:
    """Do what counterfactuals ask for, in the true equations with each person's own noise.

    What a method marks as a consequence is not done: it comes about, or does not. A method that
    knows no causes marks every change as an action.

    Parameters
    ----------
    answers
        The counterfactuals.
    truth
        The true equations, over the codec of the result.
    seed
        Of noise that the row alone does not determine.
    """
    factual, by_hand = answers.factual, answers.by_hand
    residual = truth.abduct(factual, seed=seed, keys=answers.row)
    start = torch.where(by_hand, answers.rows, factual)
    reached = truth.propagate(start, residual, by_hand)
    expected, columns = list(factual.unbind(-1)), reached.unbind(-1)
    for at in truth.effects:
        led_to, follows = truth.outcome(at, columns, residual)
        expected[at] = torch.where(follows, led_to, expected[at])
    gap = ((reached - torch.stack(expected, dim=-1)) / truth.codec.reach).abs()
    levels = torch.tensor([isinstance(f, Categorical) for f in truth.codec.schema])
    gap = torch.where(levels, (gap > 0).to(gap), gap).nan_to_num(nan=0.0)
    return Taken(reached, (gap * by_hand).sum(-1))


def allowed(codec: Codec, answers: Answers) -> Tensor:
    """Return flags ``(c,)``: the codec's schema lets a person do all that is done by hand."""
    limits = CallLimits.read(codec).of_rows(codec, answers.factual)
    outside = answers.rows < limits.lower - _ROUNDING
    outside |= answers.rows > limits.upper + _ROUNDING
    return ~(answers.by_hand & (outside | ~limits.movable)).any(-1)


def succeeds(answers: Answers, taken: Taken, classifier: Classifier) -> Tensor:
    """Return flags ``(c,)``: something was done, and the model says the target afterwards."""
    return (classifier.predict(taken.reached) == answers.target) & answers.by_hand.any(-1)


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
    answers = Answers.of(result)
    answers = answers.take(answers.rank == 1)
    found = [item for item in result if len(item) and item.outcome != Outcome.ALREADY_TARGET]
    n_asked, nothing = len(answers.asked), torch.nan
    if not found:
        none, all_of_them = (0.0, 1.0) if n_asked else (nothing, nothing)
        return Recourse(none, nothing, all_of_them, nothing, nothing, nothing, nothing, nothing)
    taken = take_actions(answers, truth, seed)
    works = succeeds(answers, taken, classifier) & allowed(truth.codec, answers)
    changes = torch.stack([item.changes[0] for item in found])
    numbers = torch.tensor([isinstance(f, Continuous) for f in truth.codec.schema])
    moved = (taken.reached - answers.factual).abs() > 1e-9
    follows = ~answers.by_hand & numbers & moved
    return Recourse(
        success=float(works.sum()) / n_asked,
        broken_promises=float((~works).double().mean()),
        abstentions=1 - len(found) / n_asked,
        n_actions=float((changes == Change.ACTION).double().sum(-1).mean()),
        n_holds=float((changes == Change.HOLD).double().sum(-1).mean()),
        cost=float(torch.stack([item.losses[0, 2] for item in found]).mean()),
        consequence_error=_mean((answers.rows - taken.reached).abs(), follows),
        naive_error=_mean((answers.factual - taken.reached).abs(), follows),
    )


def _mean(values: Tensor, where: Tensor) -> float:
    return float(values[where].mean()) if bool(where.any()) else torch.nan
