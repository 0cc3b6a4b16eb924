"""How likely advice works where the equations, or the model itself, are not known for certain.

An uncertainty set holds possible worlds. What a candidate's actions come to in each of them is a
draw of what they come to in the true one.
"""

import math
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from proce.arrays import Array, Floats, Ints, blocks, flatten
from proce.causal import Actions, Ensemble
from proce.classifier import Classifier
from proce.compiled.elementary import student_share_below
from proce.compiled.kernel import kernel
from proce.objective.instances import InstanceBatch
from proce.objective.limits import Requirement
from proce.objective.waiting import Clock

MIN_CHANCE = 0.5  # what works with a smaller chance is no advice
_BLOCK_CELLS = 400_000  # of rows that the model is asked about at once; this bounds the memory
_MIN_SAMPLE = 5  # models by which others can be judged
_SURE = 0.99  # the chance of one more model that counts as certain
_N_SUBSAMPLE = 8  # worlds that a search asks


class UncertainProblem(Protocol):
    """What an uncertainty set needs to know of a search problem."""

    @property
    def batch(self) -> InstanceBatch:
        """The rows."""

    @property
    def requirement(self) -> Requirement:
        """What counts as reaching the target."""

    @property
    def clock(self) -> Clock:
        """How time moves the features that wait, where somebody may."""

    def ask(self, rows: Array, classifier: Classifier | None = None) -> Array:
        """Return the class probabilities ``(i, c, k)`` that a model gives rows ``(i, c, f)``."""


class UncertaintySet(Protocol):
    """Possible worlds in which advice should work."""

    @property
    def min_chance(self) -> float:
        """The chance with which a candidate must work to be feasible."""

    @property
    def required(self) -> bool:
        """Whether the caller asks for it, so that no candidate is good without it."""

    def subsample(self) -> "UncertaintySet":
        """Return the set with fewer worlds, for a search that asks often and is judged by all."""

    def odds(self, problem: UncertainProblem, realised: Actions) -> Array:
        """Return by how many log-odds candidates pass the decision in each world, ``(m, i, c)``."""

    def chance(self, odds: Array) -> Array:
        """Return the chance ``(…)`` that candidates with these log-odds ``(m, …)`` work."""


@dataclass(frozen=True, eq=False)
class EquationUncertainty:
    """The equations as they may be: what follows from actions differs from refit to refit."""

    # causal models of one graph, each fitted on rows drawn anew: the first of those for which a
    # batch knows the rows' noise
    refits: Ensemble
    min_chance: float  # the chance with which a candidate must work
    required = False  # that advice is sure to work is preferred, but nobody asks for it

    def odds(self, problem: UncertainProblem, realised: Actions) -> Array:
        """Return by how many log-odds candidates pass the decision in each refit, ``(m, i, c)``."""
        batch, by_hand = problem.batch, problem.clock.with_others(realised.by_hand)
        noise = np.moveaxis(batch.refit_residual[:, : len(self.refits.members)], 1, 0)
        noise = np.ascontiguousarray(noise)  # (m, i, w)
        outcomes = self.refits.outcomes(batch.factual, realised.point, by_hand, noise)
        n_rows, n_candidates = realised.point.shape[:2]
        n_at_once = max(1, _BLOCK_CELLS // max(1, outcomes[0].size))
        beyond = []
        for worlds in blocks(outcomes, n_at_once):  # (m, i, c, f)
            side_by_side = flatten(np.moveaxis(worlds, 0, 1), 1, 2)  # (i, m * c, f)
            probabilities = problem.ask(side_by_side)
            odds = problem.requirement.odds_beyond(probabilities, batch.target)
            odds = odds.reshape(n_rows, len(worlds), n_candidates)
            beyond.append(np.moveaxis(odds, 1, 0))
        return np.concatenate(beyond)

    def subsample(self) -> "EquationUncertainty":
        """Return the set with some of the refits."""
        return replace(self, refits=self.refits.first(_N_SUBSAMPLE))

    def chance(self, odds: Array) -> Array:
        """Return the chance ``(…)`` that candidates with these log-odds ``(m, …)`` work."""
        chance, _ = judge_draws(odds)
        return chance


@dataclass(frozen=True, eq=False)
class ModelUncertainty:
    """The model as it may be when it is trained again: the same row may get another class."""

    # other models of the same classes, such as refits on resampled rows
    models: tuple[Classifier, ...]
    min_chance: float  # the share of the models under which a candidate must keep its class
    required = True  # the caller names the models

    @classmethod
    def of(cls, models: tuple[Classifier, ...], share: float) -> "ModelUncertainty":
        """Return the set that leaves a share of models like these, also of unseen ones.

        Of the candidates that seem good enough the closest is taken, and its chance is estimated
        too high more often than too low. Where the models are enough to judge unseen ones by, the
        search therefore allows half of the risk.
        """
        return cls(models, share if len(models) < _MIN_SAMPLE else 1 - (1 - share) / 2)

    def odds(self, problem: UncertainProblem, realised: Actions) -> Array:
        """Return by how many log-odds candidates pass the decision of each model, ``(m, i, c)``.

        A probability that the caller asks for is asked of the explained model alone.
        """
        target = problem.batch.target
        beyond = [
            Requirement(model.threshold, 0.0).odds_beyond(
                problem.ask(realised.point, model), target
            )
            for model in self.models
        ]
        return np.stack(beyond)

    def subsample(self) -> "ModelUncertainty":
        """Return the set with some of the models."""
        return replace(self, models=self.models[:_N_SUBSAMPLE])

    def chance(self, odds: Array) -> Array:
        """Return the share of the models ``(…)`` that decide so by their log-odds ``(m, …)``.

        Where there are models enough to judge by, the share is at most the chance that one more
        such model decides so. A chance of 0.99 counts as certain: no sample proves more.
        """
        chance, n_held = judge_draws(odds)
        share = n_held / len(odds)
        if len(odds) < _MIN_SAMPLE:
            return share
        return np.minimum(share, np.where(chance >= _SURE, 1.0, chance))


def judge_draws(odds: Array) -> tuple[Floats, Ints]:
    """Return the chance that the truth is not below 0, and how many of its draws are not.

    Both are ``(…)``, of draws ``(m, …)``. One more draw would follow Student's t-distribution with
    m - 1 degrees of freedom, around the mean of the draws with their spread times sqrt(1 + 1/m).
    The chance is at most the share (n + 1) / (m + 1), where n of the draws are not below 0: a model
    of steps falls from its edges without a slope.
    """
    flat = np.ascontiguousarray(odds.reshape(len(odds), odds[0].size))
    chances, n_held = np.empty(flat.shape[1]), np.empty(flat.shape[1], np.int64)
    write_chance_of_draws(flat, chances, n_held)
    return chances.reshape(odds.shape[1:]), n_held.reshape(odds.shape[1:])


@kernel
def write_chance_of_draws(odds: Floats, chances: Floats, n_held: Ints) -> None:
    """Write the chances ``(n,)`` that the truth is not below 0, and how many draws are not.

    ``odds (m, n)`` are draws of it.
    """
    n_draws, n_columns = odds.shape
    widening = math.sqrt(1 + 1 / n_draws)
    for column in range(n_columns):
        total, count = 0.0, 0
        for draw in range(n_draws):
            total += odds[draw, column]
            count += odds[draw, column] >= 0
        mean, squares = total / n_draws, 0.0
        for draw in range(n_draws):
            off = odds[draw, column] - mean
            squares += off * off
        spread = math.sqrt(squares / max(1, n_draws - 1)) * widening
        if spread > 0:
            by_spread = student_share_below(mean / spread, max(1, n_draws - 1))
        else:
            by_spread = 1.0 if mean >= 0 else 0.0
        chances[column], n_held[column] = min(by_spread, (count + 1) / (n_draws + 1)), count
