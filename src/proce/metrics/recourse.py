"""Whether advice works in the true world, where its equations are known."""

import math
from dataclasses import dataclass

import numpy as np

from proce.arrays import Array, cells_differ
from proce.causal import StructuralCausalModel
from proce.classifier import Classifier
from proce.explanation import Change, Explanations
from proce.losses import Loss
from proce.metrics.inputs import CounterfactualColumns
from proce.metrics.interventions import limits_in_truth, outcome_on_step, reach
from proce.metrics.proximity import mean_of
from proce.objective.terms import obey_limits
from proce.schema import Codec, MixedDistance


@dataclass(frozen=True, slots=True)
class Recourse:
    """What became of the advice to the rows that needed some."""

    # A value that is not defined because there are no such rows is NaN.

    # The share of rows whose recommended actions are all allowed and, taken in the true world, lead
    # to the target
    success: float
    # Of the rows with a counterfactual, the share whose actions do not succeed
    broken_promises: float
    abstentions: float  # the share of rows without a counterfactual
    n_actions: float  # the mean numbers of actions and holds of a counterfactual
    n_holds: float
    cost: float  # the mean distance of the counterfactuals, by the measure of the method itself
    # The mean absolute error of the predicted consequences on the unit range, over numbers that
    # truly follow from an action
    consequence_error: float
    naive_error: float  # the same for the prediction that nothing else moves


@dataclass(frozen=True, eq=False)
class TakenActions:
    """What becomes of people who act on their counterfactuals, in the true world."""

    reached: Array  # ``(c, f)``, the rows that the people end at
    # ``(c,)``, the sum over actions and holds of the distance, on the unit range, to where the
    # feature would be without them: its old value, or where its causes lead. Another level costs 1
    cost: Array


def take_actions(
    columns: CounterfactualColumns, truth: StructuralCausalModel, seed: int = 0
) -> TakenActions:
    """Take the actions of counterfactuals in the true equations, with each person's own noise."""
    # A change that a method marks as a consequence is not carried out: it comes about by the
    # equations, or it does not. A method that knows no causes marks every change as an action.
    factual, by_hand = columns.factual, columns.by_hand
    residual = truth.abduct(factual, seed=seed, keys=columns.frame_row)
    ways = columns.rows[:, None], residual, by_hand[:, None]
    reached = reach(truth, factual, *ways)[:, 0]
    # An explainer goes by whole steps from where a person is; in truth people end on the steps.
    expected, features = list(factual.T), reached.T
    for position in truth.effects:
        caused = outcome_on_step(truth, position, features, residual)
        follows = truth.is_known(position, residual)
        expected[position] = np.where(follows, caused, expected[position])
    gap = MixedDistance.gower(truth.codec)(reached, np.stack(expected, axis=-1))
    return TakenActions(reached, np.where(by_hand, gap, 0.0).sum(-1))


def allowed(codec: Codec, columns: CounterfactualColumns) -> Array:
    """Return flags ``(c,)``: the codec's schema allows everything that is done by hand."""
    # :func:`~proce.metrics.interventions.limits_in_truth` says what that is. What follows may end
    # anywhere; whatever else moved was done, by whichever method, marked as an action or not.
    factual, by_hand = columns.factual, columns.by_hand[:, None]
    limits = limits_in_truth(codec, factual)
    done = np.where(by_hand, columns.rows[:, None], factual[:, None])
    moved = cells_differ(done, factual[:, None])
    return obey_limits(limits, codec, factual, done, moved, by_hand)[:, 0]


def succeeds(columns: CounterfactualColumns, taken: TakenActions, classifier: Classifier) -> Array:
    """Return flags ``(c,)``: an action was taken, and the model says the target afterwards."""
    return (classifier.predict(taken.reached) == columns.target) & columns.by_hand.any(-1)


def recourse(
    result: Explanations, truth: StructuralCausalModel, classifier: Classifier, seed: int = 0
) -> Recourse:
    """Take each recommended action set in the true world and ask the model again."""
    columns = CounterfactualColumns.of(result)
    columns = columns.take(columns.rank == 1)
    n_searched = len(columns.searched)
    if not len(columns):
        return _no_recourse(n_searched)
    taken = take_actions(columns, truth, seed)
    succeeded = succeeds(columns, taken, classifier) & allowed(truth.codec, columns)
    moved = cells_differ(taken.reached, columns.factual)
    follows = ~columns.by_hand & truth.codec.is_number & moved
    return Recourse(
        success=float(succeeded.sum()) / n_searched,
        broken_promises=mean_of(~succeeded),
        abstentions=1 - len(columns) / n_searched,
        n_actions=mean_of((columns.changes == Change.ACTION).sum(-1)),
        n_holds=mean_of((columns.changes == Change.HOLD).sum(-1)),
        cost=mean_of(columns.losses[:, Loss.DISTANCE]),
        consequence_error=mean_of(np.abs(columns.rows - taken.reached)[follows]),
        naive_error=mean_of(np.abs(columns.factual - taken.reached)[follows]),
    )


def _no_recourse(n_searched: int) -> Recourse:
    """Return the recourse of rows none of which has a counterfactual."""
    undefined = math.nan
    return Recourse(
        success=0.0 if n_searched else undefined,
        broken_promises=undefined,
        abstentions=1.0 if n_searched else undefined,
        n_actions=undefined,
        n_holds=undefined,
        cost=undefined,
        consequence_error=undefined,
        naive_error=undefined,
    )
