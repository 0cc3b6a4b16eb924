"""The instances that still run, and those that have ended."""

from dataclasses import dataclass, replace
from typing import Self

import torch
from torch import Tensor

from proce.search.convergence import Convergence
from proce.search.genome import Genome
from proce.search.result import Archive, SearchResult, Stop
from proce.search.settings import NSGA2Settings
from proce.search.survival import Candidates, Population, survive
from proce.streams import RowStreams

_PADDING_RANK = 2**31 - 1


@dataclass(frozen=True, eq=False)
class RunningInstances:
    """What the search knows of the instances that still run, in the order of ``instances``.

    Attributes
    ----------
    instances
        ``(i,)``, the position of each among those that the search was given.
    genome, streams, population, archive
        Those of these instances.
    convergence
        Watches these instances; ``None`` without an early stop.
    """

    instances: Tensor
    genome: Genome
    streams: RowStreams
    population: Population
    archive: Archive
    convergence: Convergence | None

    @classmethod
    def start(
        cls,
        genome: Genome,
        streams: RowStreams,
        candidates: Candidates,
        archive_by: int,
        settings: NSGA2Settings,
    ) -> Self:
        """Return all instances with the survivors of the first generation."""
        no_losses = torch.full_like(candidates.losses[:, 0], torch.inf)
        improvement = settings.stop_improvement
        window = settings.stop_window // settings.stop_every
        return cls(
            torch.arange(genome.n_instances, device=genome.anchor.device),
            genome,
            streams,
            survive([candidates], settings.population_size, settings.crowding),
            Archive(genome.anchor, no_losses, archive_by).with_better(candidates),
            None if improvement is None else Convergence(improvement, window),
        )

    def advance(self, candidates: Candidates, settings: NSGA2Settings) -> Self:
        """Return the instances after one more generation of candidates."""
        groups = [self.population, candidates]
        return replace(
            self,
            population=survive(groups, settings.population_size, settings.crowding),
            archive=self.archive.with_better(candidates),
        )

    def take(self, kept: Tensor) -> Self:
        """Return some of the instances, given by position."""
        return replace(
            self,
            instances=self.instances[kept],
            genome=self.genome.take(kept),
            streams=self.streams.take(kept),
            population=self.population.take(kept),
            archive=self.archive.take(kept),
            convergence=self.convergence and self.convergence.take(kept),
        )


class EndedInstances:
    """Collects the instances whose search has ended.

    Parameters
    ----------
    first
        All instances, after the first generation.
    population_size
        As in the settings; smaller populations are padded to it.
    """

    def __init__(self, first: RunningInstances, population_size: int) -> None:
        i, k = first.archive.losses.shape
        anchor = first.genome.anchor
        shape = i, population_size
        self.population = Population(
            anchor[:, None].repeat(1, population_size, 1),
            anchor.new_full((*shape, k), torch.inf),
            anchor.new_full(shape, torch.inf),
            torch.full(shape, _PADDING_RANK, device=anchor.device),
        )
        self.archive = Archive(anchor.clone(), anchor.new_full((i, k), torch.inf), first.archive.by)
        self.front_size = torch.zeros(i, dtype=torch.int64, device=anchor.device)
        self.n_generations = torch.zeros(i, dtype=torch.int64)
        self.n_evaluations = torch.zeros(i, dtype=torch.int64)
        self.stop_codes = torch.zeros(i, dtype=torch.int64)

    def add(
        self,
        running: RunningInstances,
        ends: Tensor,
        stop: Stop,
        generation: int,
        n_evaluations: int,
    ) -> RunningInstances:
        """Collect the instances where ``ends (i,)`` is true; return the others."""
        if not bool(ends.any()):
            return running
        ending = running.take(torch.nonzero(ends).flatten())
        rows, size = ending.instances, ending.population.rank.shape[1]
        self.population.genes[rows, :size] = ending.population.genes
        self.population.losses[rows, :size] = ending.population.losses
        self.population.violation[rows, :size] = ending.population.violation
        self.population.rank[rows, :size] = ending.population.rank
        # Copies: reports of earlier generations still look at what was there before.
        self.archive = Archive(
            self.archive.genes.index_copy(0, rows, ending.archive.genes),
            self.archive.losses.index_copy(0, rows, ending.archive.losses),
            self.archive.by,
        )
        self.front_size = self.front_size.index_copy(0, rows, ending.population.front.sum(-1))
        places = rows.cpu()
        self.n_generations[places] = generation
        self.n_evaluations[places] = n_evaluations
        self.stop_codes[places] = stop.code
        return running.take(torch.nonzero(~ends).flatten())

    def add_all(
        self, running: RunningInstances, stop: Stop, generation: int, n_evaluations: int
    ) -> RunningInstances:
        """Collect all instances that still run; return what is left, which is none."""
        everyone = torch.ones_like(running.instances, dtype=torch.bool)
        return self.add(running, everyone, stop, generation, n_evaluations)

    def result(self, elapsed_seconds: float) -> SearchResult:
        """Return the result of the search."""
        return SearchResult(
            self.population,
            self.archive,
            self.n_generations,
            self.n_evaluations,
            self.stop_codes,
            elapsed_seconds,
        )
