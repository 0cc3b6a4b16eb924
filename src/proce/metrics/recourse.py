"""Whether advice works in the true world, where its equations are known."""

import math
from dataclasses import dataclass, fields, replace

import numpy as np

from proce.arrays import Array, cells_differ
from proce.causal import StructuralCausalModel
from proce.causal.models.propagation import propagate
from proce.causal.programs.program import Link
from proce.classifier import Classifier
from proce.explanation import Change, Explanations
from proce.losses import Loss
from proce.metrics.inputs import CounterfactualColumns
from proce.metrics.proximity import mean_of
from proce.objective import CallLimits, Clock
from proce.objective.limits import Limits
from proce.objective.terms import obey_limits
from proce.schema import Codec, MixedDistance
from proce.schema.codec import entries_on_step


def limits_in_truth(codec: Codec, factual: Array, *, leads_only: bool = False) -> Limits:
    """Return what people ``(i, f)`` may do in the true world."""
    # A number may go as far as any training row, and time may pass, however long. What is told to
    # wait may be any feature that waits; with ``leads_only`` it is the one that all others follow.
    clock = Clock.of(codec)
    waits = clock.years > 0
    if leads_only:
        waits &= np.arange(len(waits)) == clock.lead
    limits = CallLimits.read(codec).widened().of_rows(codec, factual)
    return replace(limits, movable=limits.movable | (waits & ~codec.missing(factual)))


def reach(
    truth: StructuralCausalModel, factual: Array, rows: Array, residual: Array, by_hand: Array
) -> Array:
    """Return where actions in rows ``(i, c, f)`` lead in the true world."""
    # As in the draw of a data set, numbers that follow are rounded to their step as they arise, so
    # that what follows from them follows from what is seen: nobody has a third of a dollar of debt.
    # Who waits gets older in all that waits.
    clock = Clock.of(truth.codec)
    start = clock.advance(np.where(by_hand, rows, factual[:, None]), factual)
    effects = truth.program.effects.copy()
    effects["link"] = Link.GIVEN  # every effect is asked for, so that it can be rounded

    def outcome(position: int, columns: Array, noise: Array) -> Array:
        return outcome_on_step(truth, position, columns, noise)

    flags = clock.with_others(np.broadcast_to(by_hand, start.shape))
    program = truth.program._replace(effects=effects)
    return propagate(program, outcome, start, residual[None], flags)[0]


def outcome_on_step(
    truth: StructuralCausalModel, position: int, columns: Array, noise: Array
) -> Array:
    """Return :meth:`StructuralCausalModel.outcome` with numbers rounded to their step."""
    # Onto its multiples, where the draw of the data puts everybody; advice goes by whole steps
    # from where a person is, who need not stand on one of them (as `kernels._rounded` does).
    return entries_on_step(truth.codec, position, truth.outcome(position, columns, noise))


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
    # :func:`limits_in_truth` says what that is. What follows may end anywhere; whatever else moved
    # was done, by whichever method, marked as an action or not.
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
        undefined = dict.fromkeys((field.name for field in fields(Recourse)), math.nan)
        shares = {"success": 0.0, "abstentions": 1.0} if n_searched else {}
        return Recourse(**undefined | shares)
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
