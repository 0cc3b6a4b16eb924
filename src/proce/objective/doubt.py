"""How likely advice works where the equations, or the model itself, are not known for certain.

A doubt is a set of possible worlds. What a candidate's actions come to in each of them is a draw
of what they come to in the true one.
"""

import math
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any, Protocol, Self

import numpy as np

from proce.arrays import Array, Floats, Ints, blocks, flatten
from proce.causal import Actions, Ensemble
from proce.classifier import Classifier
from proce.compiled.elementary import student_share_below
from proce.compiled.kernel import kernel
from proce.objective.limits import Requirement
from proce.objective.query import Query
from proce.objective.waiting import Clock

_MAX_ROWS_KNOWN = 2000  # whose noise is kept


@dataclass(eq=False)
class KnownNoise:
    """The noise of rows in each of some refits, worked out once for a row."""

    refits: Ensemble  # causal models of one graph
    _places: dict[int, int] = field(default_factory=dict, init=False, repr=False)  # by key
    # (m, k, w), the rows by their places
    _noise: list[Array] = field(default_factory=list, init=False, repr=False)
    _lock: Any = field(default_factory=Lock, init=False, repr=False)

    def of(self, query: Query) -> Array:
        """Return the noise of the rows in each refit, ``(m, i, w)``."""
        with self._lock:
            return self._noise_of(query)

    def _noise_of(self, query: Query) -> Array:
        keys = query.keys.tolist()
        if len(self._places) > _MAX_ROWS_KNOWN:
            self._places, self._noise = {}, []
        new = {key: row for row, key in enumerate(keys) if key not in self._places}
        if new or not self._noise:
            rows = np.array(list(new.values()), dtype=np.int64)
            found = self.refits.abduct(query.factual[rows], seed=query.seed, keys=query.keys[rows])
            self._noise = [np.concatenate([*self._noise, np.stack(found)], axis=1)]
            self._places |= {key: len(self._places) + place for place, key in enumerate(new)}
        return self._noise[0][:, [self._places[key] for key in keys]]


MIN_CHANCE = 0.5  # what works with a smaller chance is no advice
_BLOCK_CELLS = 400_000  # of rows that the model is asked about at once; this bounds the memory
_MIN_SAMPLE = 5  # models by which others can be judged
_SURE = 0.99  # the chance of one more model that counts as certain
_N_FEW = 8  # worlds that a search asks


class Doubted(Protocol):
    """What a doubt needs to know of a search problem."""

    @property
    def query(self) -> Query:
        """The rows."""

    @property
    def requirement(self) -> Requirement:
        """What counts as reaching the target."""

    @property
    def clock(self) -> Clock:
        """How time moves the features that wait, where somebody may."""

    @property
    def doubts(self) -> "tuple[Doubt, ...]":
        """The possible worlds in which a candidate must work."""

    def ask(self, rows: Array, classifier: Classifier | None = None) -> Array:
        """Return the class probabilities ``(i, c, k)`` that a model gives rows ``(i, c, f)``."""

    def take(self, instances: Array) -> Self:
        """Return the problem of some of the rows, given by position."""


class Doubt(Protocol):
    """Possible worlds in which advice should work."""

    @property
    def least(self) -> float:
        """The chance with which a candidate must work to be feasible."""

    @property
    def is_asked_for(self) -> bool:
        """Whether the caller asks for it, so that no candidate is good without it."""

    @property
    def few(self) -> "Doubt":
        """The doubt with fewer worlds, for a search that asks often and is judged by all."""

    def odds(self, problem: Doubted, realised: Actions) -> Array:
        """Return by how many log-odds candidates pass the decision in each world, ``(m, i, c)``."""

    def chance(self, odds: Array) -> Array:
        """Return the chance ``(…)`` that candidates with these log-odds ``(m, …)`` work."""


@dataclass(frozen=True, eq=False)
class EquationDoubt:
    """The equations as they may be: what follows from actions differs from refit to refit."""

    refits: Ensemble  # causal models of one graph, each fitted on rows drawn anew
    least: float  # the chance with which a candidate must work
    # What is known of the rows' noise in these refits, or in more that begin with these. It learns
    # of rows when it is asked about them.
    noise: KnownNoise

    @classmethod
    def of(cls, refits: Ensemble, least: float) -> "EquationDoubt":
        """Return the doubt in refits of which no row's noise is known."""
        return cls(refits, least, KnownNoise(refits))

    def odds(self, problem: Doubted, realised: Actions) -> Array:
        """Return by how many log-odds candidates pass the decision in each refit, ``(m, i, c)``."""
        query, by_hand = problem.query, problem.clock.with_others(realised.by_hand)
        noise = self.noise.of(query)[: len(self.refits.members)]
        outcomes = self.refits.outcomes(query.factual, realised.point, by_hand, noise)
        n_rows, n_candidates = realised.point.shape[:2]
        n_at_once = max(1, _BLOCK_CELLS // max(1, outcomes[0].size))
        beyond = []
        for worlds in blocks(outcomes, n_at_once):  # (m, i, c, f)
            side_by_side = flatten(np.moveaxis(worlds, 0, 1), 1, 2)  # (i, m * c, f)
            chances = problem.ask(side_by_side)
            odds = problem.requirement.odds_beyond(chances, query.target)
            odds = odds.reshape(n_rows, len(worlds), n_candidates)
            beyond.append(np.moveaxis(odds, 1, 0))
        return np.concatenate(beyond)

    @property
    def is_asked_for(self) -> bool:
        """No: that advice is sure to work is preferred, but nobody asks for it."""
        return False

    @property
    def few(self) -> "EquationDoubt":
        """Some of the refits, for a search that asks often and is judged by all of them."""
        return replace(self, refits=self.refits.first(_N_FEW))

    def chance(self, odds: Array) -> Array:
        """Return the chance ``(…)`` that candidates with these log-odds ``(m, …)`` work."""
        return chance_of(odds)


@dataclass(frozen=True, eq=False)
class ModelDoubt:
    """The model as it may be when it is trained again: the same row may get another class."""

    # other models of the same classes, such as refits on resampled rows
    models: tuple[Classifier, ...]
    least: float  # the share of the models under which a candidate must keep its class

    @classmethod
    def of(cls, models: tuple[Classifier, ...], share: float) -> "ModelDoubt":
        """Return the doubt that leaves a share of models like these, also of unseen ones.

        Of the candidates that seem good enough the closest is taken, and its chance is estimated
        too high more often than too low. Where the models are enough to judge unseen ones by, the
        search therefore allows half of the risk.
        """
        return cls(models, share if len(models) < _MIN_SAMPLE else 1 - (1 - share) / 2)

    @property
    def is_asked_for(self) -> bool:
        """Yes: the caller names the models."""
        return True

    @property
    def few(self) -> "ModelDoubt":
        """Some of the models, for a search that asks often and is judged by all of them."""
        return replace(self, models=self.models[:_N_FEW])

    def odds(self, problem: Doubted, realised: Actions) -> Array:
        """Return by how many log-odds candidates pass the decision of each model, ``(m, i, c)``.

        A probability that the caller asks for is asked of the explained model alone.
        """
        target = problem.query.target
        beyond = [
            Requirement(model.threshold, 0.0).odds_beyond(
                problem.ask(realised.point, model), target
            )
            for model in self.models
        ]
        return np.stack(beyond)

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


def chance_of(odds: Array) -> Array:
    """Return the chance ``(…)`` that the truth is not below 0, of which ``(m, …)`` are draws."""
    chance, _ = judge_draws(odds)
    return chance


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


def missing_chance(
    problem: Doubted, realised: Actions, doubts: tuple[Doubt, ...], asked: Array
) -> tuple[Array, Array]:
    """Return what candidates lack to the chances that doubts ask for, and which are advice at all.

    Both are ``(i, c)``. Of several doubts the lacks are added: advice works for a person only where
    it works in the face of all of them. What works with a chance below one half in the face of any
    is no advice. Those not ``asked (i, c)`` about lack all of the chances, and are none: worlds are
    many, so nobody asks about them.
    """
    missing, is_advice = np.zeros_like(realised.point[..., 0]), asked
    owner, candidate = np.nonzero(asked)
    part, alone = problem, realised
    if doubts and len(owner):  # an instance for each candidate
        part = problem.take(owner)
        alone = Actions(*(cells[owner, candidate][:, None] for cells in vars(realised).values()))
    for doubt in doubts:
        chance = np.zeros_like(missing)
        if len(owner):
            chance[owner, candidate] = doubt.chance(doubt.odds(part, alone)[..., 0])
        missing = missing + np.maximum(doubt.least - chance, 0)
        is_advice = is_advice & (chance >= MIN_CHANCE)
    return missing, is_advice


def missing_chances(problem: Doubted, realised: Actions, asked: Array) -> Array:
    """Return what candidates ``(i, c)`` lack to the chances that the doubts of a problem ask for.

    It is 0 for a candidate that is sure to work, and infinite for one that is too unlikely to be
    advice, or that was not ``asked (i, c)`` about.
    """
    missing, is_advice = missing_chance(problem, realised, problem.doubts, asked)
    return np.where(is_advice, missing, np.inf)


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
