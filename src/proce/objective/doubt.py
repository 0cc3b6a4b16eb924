"""How likely advice works where the equations, or the model itself, are not known for certain.

A doubt is a set of possible worlds. What a candidate's actions come to in each of them is a draw
of what they come to in the true one.
"""

import math
from dataclasses import dataclass
from typing import Protocol

import torch
from scipy import special
from torch import Tensor

from proce.causal import Actions, Ensemble
from proce.objective.query import Query
from proce.objective.requirement import Requirement
from proce.objective.waiting import Clock

_BLOCK_CELLS = 2_000_000  # of rows that the model is asked about at once


class Doubted(Protocol):
    """What a doubt needs to know of a search problem."""

    @property
    def query(self) -> Query:
        """The rows."""

    @property
    def requirement(self) -> Requirement:
        """What counts as reaching the target."""

    @property
    def clock(self) -> Clock | None:
        """How time moves the features that wait, where somebody may."""

    def ask(self, rows: Tensor) -> Tensor:
        """Return the class probabilities ``(i, c, k)`` that the model gives rows ``(i, c, f)``."""


class Doubt(Protocol):
    """Possible worlds in which advice should work."""

    @property
    def least(self) -> float:
        """The chance with which a candidate must work to be feasible."""

    def odds(self, problem: Doubted, realised: Actions) -> Tensor:
        """Return by how many log-odds candidates pass the decision in each world, ``(m, i, c)``.

        Parameters
        ----------
        problem
            The search problem.
        realised
            The candidates ``(i, c)`` as a person would see them.
        """


@dataclass(frozen=True, eq=False)
class EquationDoubt:
    """The equations as they may be: what follows from actions differs from refit to refit.

    Attributes
    ----------
    refits
        Causal models of one graph, each fitted on rows drawn anew.
    least
        The chance with which a candidate must work.
    """

    refits: Ensemble
    least: float

    def odds(self, problem: Doubted, realised: Actions) -> Tensor:
        """Return by how many log-odds candidates pass the decision in each refit, ``(m, i, c)``."""
        query, by_hand = problem.query, realised.by_hand
        if problem.clock is not None:
            by_hand = problem.clock.with_others(by_hand)
        outcomes = torch.stack(
            list(
                self.refits.outcomes(
                    query.factual, realised.point, by_hand, seed=query.seed, keys=query.keys
                )
            )
        )
        n_at_once = max(1, _BLOCK_CELLS // max(1, outcomes[0].numel()))
        return torch.cat(
            [_odds_beyond(problem, block) for block in torch.split(outcomes, n_at_once)]
        )


def chance_of(odds: Tensor) -> Tensor:
    """Return the chance ``(…)`` that the truth is not below 0, of which ``(m, …)`` are draws.

    One more draw would follow Student's t-distribution with m - 1 degrees of freedom, around the
    mean of the draws with their spread times sqrt(1 + 1/m). The chance is at most the share
    (n + 1) / (m + 1), where n of the draws are not below 0: a model of steps falls from its edges
    without a slope.
    """
    n_draws = len(odds)
    # Draw by draw: the order in which PyTorch adds up depends on the size of the batch.
    mean = sum(odds[1:], start=odds[0]) / n_draws
    squares = (odds - mean) ** 2
    n_held = (odds >= 0).sum(0)
    freedom = max(1, n_draws - 1)
    spread = (sum(squares[1:], start=squares[0]) / freedom).sqrt() * math.sqrt(1 + 1 / n_draws)
    certain = torch.where(mean >= 0, torch.inf, -torch.inf)
    ratio = torch.where(spread > 0, mean / spread, certain)
    by_spread = torch.as_tensor(special.stdtr(freedom, ratio.cpu().numpy())).to(odds)
    return torch.minimum(by_spread, (n_held + 1) / (n_draws + 1))


def missing_chance(problem: Doubted, realised: Actions, doubts: tuple[Doubt, ...]) -> Tensor:
    """Return what candidates lack to the chances that doubts ask for, ``(i, c)``."""
    lacking = torch.zeros_like(realised.point[..., 0])
    for doubt in doubts:
        chance = chance_of(doubt.odds(problem, realised))
        lacking = lacking + (doubt.least - chance).clamp(min=0)
    return lacking


def _odds_beyond(problem: Doubted, outcomes: Tensor) -> Tensor:
    """Return the log-odds past the decision ``(m, i, c)`` of rows ``(m, i, c, f)``."""
    n_worlds, n_rows, n_candidates, _ = outcomes.shape
    side_by_side = outcomes.movedim(0, 1).flatten(1, 2)  # (i, m * c, f)
    odds = problem.requirement.odds_beyond(problem.ask(side_by_side), problem.query.target)
    return odds.reshape(n_rows, n_worlds, n_candidates).movedim(1, 0)
