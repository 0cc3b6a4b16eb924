"""What a search returns, and what it reports while it runs."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

import numpy as np

from proce.arrays import Array, with_rows
from proce.search.survival import Candidates, Population


class Stop(StrEnum):
    """Why an instance's search ended."""

    CONVERGED = "converged"  # its front no longer improved
    NOTHING_MOVES = "nothing_moves"  # no gene may leave its anchor
    GENERATIONS = "generations"
    EVALUATIONS = "evaluations"
    OUT_OF_TIME = "out_of_time"
    CALLER = "caller"  # the progress callback returned False

    @property
    def code(self) -> int:
        """The position of the reason among all."""
        return list(Stop).index(self)


@dataclass(frozen=True, eq=False)
class Archive:
    """The best feasible candidate that was ever evaluated, by one of the losses.

    Crowding may drop that candidate from the population. Of equally good ones the earlier is kept.
    """

    genes: Array  # (i, g); the anchor where nothing feasible was found
    losses: Array  # (i, k); +inf where nothing feasible was found
    by: int  # the position of the loss that decides

    @property
    def has_feasible(self) -> Array:
        """Which instances ``(i,)`` have a feasible candidate."""
        return np.isfinite(self.losses[:, self.by])

    def take(self, instances: Array) -> Self:
        """Return the archive of some of the instances, given by position."""
        return type(self)(self.genes[instances], self.losses[instances], self.by)

    def with_better(self, candidates: Candidates) -> Self:
        """Return the archive with these candidates, where they are better."""
        loss = np.where(candidates.violation <= 0, candidates.losses[..., self.by], np.inf)
        better = np.flatnonzero(loss.min(1) < self.losses[:, self.by])
        best = loss[better].argmin(1)
        return type(self)(
            with_rows(self.genes, better, candidates.genes[better, best]),
            with_rows(self.losses, better, candidates.losses[better, best]),
            self.by,
        )


@dataclass(frozen=True, eq=False)
class SearchResult:
    """Where each instance's search ended."""

    # The last population, sorted by rank and falling crowding. Where nothing is feasible its first
    # candidate is the nearest miss. Entries with a violation of +inf are copies, failed evaluations
    # or padding.
    population: Population
    archive: Archive  # the best feasible candidate of each instance
    # n_generations, n_evaluations: (i,), how long the search of each instance ran
    n_generations: Array
    n_evaluations: Array
    stop_codes: Array  # (i,), why the search of each instance ended: the position of its `Stop`
    elapsed_seconds: float  # wall-clock time of the whole search

    def ended_by(self, *stops: Stop) -> Array:
        """Return which instances' searches ``(i,)`` ended for one of these reasons."""
        codes = np.array([stop.code for stop in stops], dtype=self.stop_codes.dtype)
        return np.isin(self.stop_codes, codes)


@dataclass(frozen=True, eq=False)
class SearchProgress:
    """What a progress callback gets after each generation; what nobody asks for is not computed."""

    # generation, n_generations: which generation ended, and how many there can be
    generation: int
    n_generations: int
    elapsed_seconds: float  # wall-clock time so far
    # instances, population, archive: the positions (r,) of the instances that took part in the
    # generation, and what they have come to
    instances: Array
    population: Population
    archive: Archive
    # ended_losses, ended_front_size: (i, k) and (i,), what the others had come to when they ended
    ended_losses: Array
    ended_front_size: Array

    @property
    def n_instances(self) -> int:
        """How many instances there are in all."""
        return len(self.ended_losses)

    @property
    def best_losses(self) -> Array:
        """The losses ``(i, k)`` of the archive; +inf where nothing feasible was found so far."""
        return with_rows(self.ended_losses, self.instances, self.archive.losses)

    @property
    def front_size(self) -> Array:
        """The number ``(i,)`` of feasible candidates in the first front."""
        running = self.population.front.sum(-1)
        return with_rows(self.ended_front_size, self.instances, running)


SearchCallback = Callable[[SearchProgress], object]
