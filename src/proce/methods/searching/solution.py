"""What the search of some rows has come to: candidates, which of them hold, and how it ended."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from proce.arrays import Array, with_rows
from proce.explanation.record.outcome import count_actions
from proce.losses import Loss
from proce.methods.calls.last_check import LastCheck, first_passed
from proce.methods.searching.chances import is_better
from proce.methods.searching.shortlist import Shortlist


@dataclass(frozen=True, eq=False)
class Solution:
    """The candidates for the rows of a problem, and how the search for them ended.

    Attributes
    ----------
    shortlist, check
        The candidates worth showing, and which of them passed the last check.
    cut_short
        ``(i,)``, whether time or the caller ended the search of a row.
    population
        ``(i, n, g)``, the genes that the search ended with.
    n_generations, n_evaluations
        The most generations that a row took, and how many candidates of all rows were evaluated.
    """

    shortlist: Shortlist
    check: LastCheck
    cut_short: Array
    population: Array
    n_generations: int
    n_evaluations: int

    def take_population(self, instances: Array) -> "Solution":
        """Return the solution whose population an attempt at some rows goes on from."""
        return replace(self, population=self.population[instances])

    @cached_property
    def is_solved(self) -> Array:
        """Whether a row has a candidate that passed the last check, ``(i,)``."""
        is_solved = np.zeros_like(self.cut_short)
        is_solved[self.shortlist.owner[self.check.passed]] = True
        return is_solved

    @property
    def n_actions(self) -> Array:
        """How many actions and holds the recommended candidate of each row has, ``(i,)``."""
        lines, counts = self.lines_to_show(1), np.zeros_like(self.cut_short, dtype=np.int64)
        n_actions = count_actions(self.shortlist.changes[lines])
        return with_rows(counts, self.shortlist.owner[lines], n_actions)

    @property
    def distance(self) -> Array:
        """The distance of the recommended candidate of each row, infinite without one, ``(i,)``."""
        lines, losses = self.lines_to_show(1), self.shortlist.losses
        distance = np.full((len(self.cut_short),), np.inf, dtype=losses.dtype)
        return with_rows(distance, self.shortlist.owner[lines], losses[lines, Loss.DISTANCE])

    @property
    def missing(self) -> Array:
        """What each row's recommended candidate lacks until it is sure, infinite without one."""
        lines, missing = self.lines_to_show(1), self.shortlist.missing
        nothing = np.full((len(self.cut_short),), np.inf, dtype=missing.dtype)
        return with_rows(nothing, self.shortlist.owner[lines], missing[lines])

    def is_better_than(self, other: "Solution", rows: Array) -> Array:
        """Return where advice beats that of the ``rows (i,)`` of another solution."""
        return is_better(self.missing, self.distance, other.missing[rows], other.distance[rows])

    def lines_to_show(self, n: int) -> Array:
        """Return the positions in the shortlist of each row's first ``n`` that passed."""
        lines, _ = first_passed(self.shortlist.owner, self.check.passed, n)
        return lines

    def n_dropped(self, n: int) -> Array:
        """Return how many candidates of each row failed before ``n`` had passed, ``(i,)``."""
        _, failed = first_passed(self.shortlist.owner, self.check.passed, n)
        return np.bincount(self.shortlist.owner[failed], minlength=len(self.cut_short))
