"""The instances that still run, and those that have ended."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from proce.arrays import Array, with_rows
from proce.search.convergence import Convergence
from proce.search.genome import Genome
from proce.search.pareto import UNRANKED
from proce.search.result import Archive, SearchResult, Stop
from proce.search.settings import NSGA2Settings
from proce.search.survival import Candidates, Population, survive
from proce.streams import RowStreams


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

    instances: Array
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
        no_losses = np.full_like(candidates.losses[:, 0], np.inf)
        improvement = settings.stop_improvement
        window = settings.stop_window // settings.stop_every
        return cls(
            np.arange(genome.n_instances),
            genome,
            streams,
            survive([candidates], settings.population_size, settings.crowding),
            Archive(genome.anchor, no_losses, archive_by).with_better(candidates),
            None if improvement is None else Convergence(improvement, window),
        )

    def advance(self, candidates: Candidates, settings: NSGA2Settings) -> Self:
        """Return the instances after one more generation of candidates."""
        groups: list[Candidates | Population] = [self.population, candidates]
        return replace(
            self,
            population=survive(groups, settings.population_size, settings.crowding),
            archive=self.archive.with_better(candidates),
        )

    def take(self, kept: Array) -> Self:
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
            np.tile(anchor[:, None], (1, population_size, 1)),
            np.full((*shape, k), np.inf, dtype=anchor.dtype),
            np.full(shape, np.inf, dtype=anchor.dtype),
            np.full(shape, UNRANKED),
        )
        self.archive = Archive(
            anchor.copy(), np.full((i, k), np.inf, dtype=anchor.dtype), first.archive.by
        )
        self.front_size = np.zeros(i, dtype=np.int64)
        self.n_generations = np.zeros(i, dtype=np.int64)
        self.n_evaluations = np.zeros(i, dtype=np.int64)
        self.stop_codes = np.zeros(i, dtype=np.int64)

    def add(
        self,
        running: RunningInstances,
        ends: Array,
        stop: Stop,
        generation: int,
        n_evaluations: int,
    ) -> RunningInstances:
        """Collect the instances where ``ends (i,)`` is true; return the others."""
        if not bool(ends.any()):
            return running
        ending = running.take(np.flatnonzero(ends))
        rows, size = ending.instances, ending.population.rank.shape[1]
        self.population.genes[rows, :size] = ending.population.genes
        self.population.losses[rows, :size] = ending.population.losses
        self.population.violation[rows, :size] = ending.population.violation
        self.population.rank[rows, :size] = ending.population.rank
        # Copies: reports of earlier generations still look at what was there before.
        self.archive = Archive(
            with_rows(self.archive.genes, rows, ending.archive.genes),
            with_rows(self.archive.losses, rows, ending.archive.losses),
            self.archive.by,
        )
        self.front_size = with_rows(self.front_size, rows, ending.population.front.sum(-1))
        self.n_generations[rows] = generation
        self.n_evaluations[rows] = n_evaluations
        self.stop_codes[rows] = stop.code
        return running.take(np.flatnonzero(~ends))

    def add_all(
        self, running: RunningInstances, stop: Stop, generation: int, n_evaluations: int
    ) -> RunningInstances:
        """Collect all instances that still run; return what is left, which is none."""
        everyone = np.ones_like(running.instances, dtype=np.bool_)
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
