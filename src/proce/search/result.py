"""What a search returns, and what it reports while it runs."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

import torch
from torch import Tensor

from proce.search.survival import Candidates, Population


class Stop(StrEnum):
    """Why an instance's search ended."""

    CONVERGED = "converged"  # its front no longer improved
    NOTHING_MOVES = "nothing_moves"  # no gene may leave its anchor
    GENERATIONS = "generations"
    EVALUATIONS = "evaluations"
    OUT_OF_TIME = "out_of_time"
    CALLER = "caller"  # the progress callback returned False


@dataclass(frozen=True, eq=False)
class Archive:
    """The best feasible candidate that was ever evaluated, by one of the losses.

    Crowding may drop that candidate from the population. Of equally good ones the earlier is kept.

    Attributes
    ----------
    genes
        ``(i, g)``; the anchor where nothing feasible was found.
    losses
        ``(i, k)``; +inf where nothing feasible was found.
    by
        The position of the loss that decides.
    """

    genes: Tensor
    losses: Tensor
    by: int

    @property
    def has_feasible(self) -> Tensor:
        """Which instances ``(i,)`` have a feasible candidate."""
        return torch.isfinite(self.losses[:, self.by])

    def take(self, instances: Tensor) -> Self:
        """Return the archive of some of the instances, given by position."""
        return type(self)(self.genes[instances], self.losses[instances], self.by)

    def with_better(self, candidates: Candidates) -> Self:
        """Return the archive with these candidates, where they are better."""
        value = candidates.losses[..., self.by].where(candidates.violation <= 0, torch.inf)
        better = value.amin(1) < self.losses[:, self.by]  # (i,)
        if not bool(better.any()):
            return self
        best = torch.arange(len(value), device=value.device), value.argmin(1)
        return type(self)(
            torch.where(better[:, None], candidates.genes[best], self.genes),
            torch.where(better[:, None], candidates.losses[best], self.losses),
            self.by,
        )


@dataclass(frozen=True, eq=False)
class SearchResult:
    """Where each instance's search ended.

    Attributes
    ----------
    population
        The last population, sorted by rank and falling crowding. Where nothing is feasible its
        first candidate is the nearest miss. Entries with a violation of +inf are copies,
        failed evaluations or padding.
    archive
        The best feasible candidate of each instance.
    n_generations, n_evaluations
        ``(i,)``, how long the search of each instance ran.
    stopped
        Why the search of each instance ended.
    elapsed_seconds
        Wall-clock time of the whole search.
    """

    population: Population
    archive: Archive
    n_generations: Tensor
    n_evaluations: Tensor
    stopped: tuple[Stop, ...]
    elapsed_seconds: float


@dataclass(frozen=True, eq=False)
class SearchProgress:
    """What a progress callback gets after each generation.

    Attributes
    ----------
    generation, n_generations
        Which generation ended, and how many there can be.
    n_running, n_instances
        How many instances took part in it, and how many there are in all.
    best_losses
        ``(i, k)``, the losses of the archive; +inf where nothing feasible was found so far.
    front_size
        ``(i,)``, the number of feasible candidates in the first front.
    elapsed_seconds
        Wall-clock time so far.
    """

    generation: int
    n_generations: int
    n_running: int
    n_instances: int
    best_losses: Tensor
    front_size: Tensor
    elapsed_seconds: float


SearchCallback = Callable[[SearchProgress], object]
