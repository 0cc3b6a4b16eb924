"""What a search returns, and what it reports while it runs."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

import torch
from torch import Tensor

from proce.compiled import engine
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
        if engine.use_kernels(self.genes.device):
            return self._with_better_compiled(candidates)
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

    def _with_better_compiled(self, candidates: Candidates) -> Self:
        from proce.search.kernels.survival import keep_best

        genes, losses = self.genes.numpy().copy(), self.losses.numpy().copy()
        keep_best(
            candidates.genes.numpy(),
            candidates.losses.numpy(),
            candidates.violation.numpy(),
            int(self.by),
            genes,
            losses,
        )
        return type(self)(torch.from_numpy(genes), torch.from_numpy(losses), self.by)


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
    stop_codes
        ``(i,)``, why the search of each instance ended: the position of its :class:`Stop`.
    elapsed_seconds
        Wall-clock time of the whole search.
    """

    population: Population
    archive: Archive
    n_generations: Tensor
    n_evaluations: Tensor
    stop_codes: Tensor
    elapsed_seconds: float

    @property
    def stopped(self) -> tuple[Stop, ...]:
        """Why the search of each instance ended."""
        stops = tuple(Stop)
        return tuple(stops[code] for code in self.stop_codes.tolist())

    def ended_by(self, *stops: Stop) -> Tensor:
        """Return which instances' searches ``(i,)`` ended for one of these reasons."""
        codes = self.stop_codes.new_tensor([stop.code for stop in stops])
        return torch.isin(self.stop_codes, codes)


@dataclass(frozen=True, eq=False)
class SearchProgress:
    """What a progress callback gets after each generation; what nobody asks for is not computed.

    Attributes
    ----------
    generation, n_generations
        Which generation ended, and how many there can be.
    elapsed_seconds
        Wall-clock time so far.
    instances, population, archive
        The positions ``(r,)`` of the instances that took part in the generation, and what they
        have come to.
    ended_losses, ended_front_size
        ``(i, k)`` and ``(i,)``, what the others had come to when they ended.
    """

    generation: int
    n_generations: int
    elapsed_seconds: float
    instances: Tensor
    population: Population
    archive: Archive
    ended_losses: Tensor
    ended_front_size: Tensor

    @property
    def n_running(self) -> int:
        """How many instances took part in the generation."""
        return len(self.instances)

    @property
    def n_instances(self) -> int:
        """How many instances there are in all."""
        return len(self.ended_losses)

    @property
    def best_losses(self) -> Tensor:
        """The losses ``(i, k)`` of the archive; +inf where nothing feasible was found so far."""
        return self.ended_losses.index_copy(0, self.instances, self.archive.losses)

    @property
    def front_size(self) -> Tensor:
        """The number ``(i,)`` of feasible candidates in the first front."""
        running = self.population.front.sum(-1)
        return self.ended_front_size.index_copy(0, self.instances, running)


SearchCallback = Callable[[SearchProgress], object]
