"""NSGA-II over many instances at once (Deb et al. 2002; Algorithm 1 of the paper).

Algorithm 1 as printed never adds the front that does not fit and never resets its offspring;
this is the algorithm it cites. Every instance has its own population, bounds, random stream
and end; all that they share is the call that evaluates their candidates.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Protocol, Self

import numpy as np

from proce.arrays import Array, Flags, Floats, with_rows
from proce.compiled.kernel import kernel
from proce.compiled.streams import RowStreams
from proce.errors import ProceError, SearchError
from proce.search.convergence import Convergence
from proce.search.genome import Genome, offspring
from proce.search.settings import NSGA2Settings
from proce.search.survival import UNRANKED, Candidates, Evaluation, Population, survive


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
        if not len(better):
            return self
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


@dataclass(frozen=True, eq=False)
class RunningInstances:
    """What the search knows of the instances that still run, in the order of ``instances``."""

    instances: Array  # (i,), the position of each among those that the search was given
    # genome, streams, population, archive: those of these instances
    genome: Genome
    streams: RowStreams
    population: Population
    archive: Archive
    convergence: Convergence | None  # watches these instances; None without an early stop

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
    """Collects the instances whose search has ended."""

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


class Problem(Protocol):
    """Evaluates candidates; called once per generation, for all instances still running."""

    def __call__(self, genes: Array, instances: Array) -> Evaluation:
        """Evaluate genes ``(i, c, g)``; must not write into them.

        Shapes: instances ``(i,)``.
        """
        ...


def evaluate(problem: Problem, genes: Array, instances: Array, generation: int) -> Evaluation:
    """Evaluate candidates and check the shapes; an exception is marked with the generation."""
    try:
        evaluation = problem(genes, instances)
    except ProceError as error:
        error.args = (f"generation {generation} of the search: {error}",)
        raise
    except Exception as error:
        error.add_note(f"raised while generation {generation} of the search was evaluated")
        raise
    losses, violation = evaluation.losses, evaluation.violation
    shape = genes.shape[:2]
    if losses.ndim != 3 or losses.shape[:2] != shape or violation.shape != shape:
        raise SearchError(
            f"generation {generation}: the problem returned losses of shape {tuple(losses.shape)}"
            f" and a violation of shape {tuple(violation.shape)} for {shape[0]} instances of"
            f" {shape[1]} candidates; expected ({shape[0]}, {shape[1]}, objectives) and"
            f" ({shape[0]}, {shape[1]})."
        )
    return _clean(losses, violation)


def _clean(losses: Array, violation: Array) -> Evaluation:
    """Return losses and violation, +inf throughout where one of them is not finite."""
    losses = np.ascontiguousarray(losses, np.float64)
    violation = np.ascontiguousarray(violation, np.float64)
    finite = np.empty(violation.shape, np.bool_)
    if find_finite(losses, violation, finite):
        return Evaluation(losses, violation)  # nearly always so
    return Evaluation(
        np.where(finite[..., None], losses, np.inf), np.where(finite, violation, np.inf)
    )


@kernel
def find_finite(losses: Floats, violation: Floats, finite: Flags) -> bool:
    """Write which candidates have finite losses ``(i, c, k)`` and violations; return if all do."""
    n_finite = 0
    for i in range(len(losses)):
        for c in range(losses.shape[1]):
            is_finite = np.isfinite(violation[i, c])
            for o in range(losses.shape[2]):
                is_finite &= np.isfinite(losses[i, c, o])
            finite[i, c] = is_finite
            n_finite += is_finite
    return n_finite == violation.size


def nsga2(
    problem: Problem,
    genome: Genome,
    initial: Array,
    settings: NSGA2Settings,
    *,
    seed: int,
    keys: Array | None = None,
    archive_by: int = 0,
    max_evaluations: int | None = None,
    budget_seconds: float | None = None,
    progress: SearchCallback | None = None,
) -> SearchResult:
    """Minimise the losses of a problem for every instance of a genome.

    Shapes: initial ``(i, n, g)``.
    """
    started = time.perf_counter()
    _check(genome, initial, max_evaluations)
    keys = np.arange(genome.n_instances) if keys is None else keys
    streams = RowStreams.of(seed, keys)
    genes = genome.repair(initial[:, :max_evaluations])
    generation, n_evaluations = 1, genes.shape[1]
    everyone = np.arange(genome.n_instances)
    candidates = Candidates.of(genes, evaluate(problem, genes, everyone, generation))
    running = RunningInstances.start(genome, streams, candidates, archive_by, settings)
    ended = EndedInstances(running, settings.population_size)
    while True:
        is_stopped = False
        if progress is not None:
            report = SearchProgress(
                generation,
                settings.n_generations,
                time.perf_counter() - started,
                running.instances,
                running.population,
                running.archive,
                ended.archive.losses,
                ended.front_size,
            )
            is_stopped = progress(report) is False
        so_far = generation, n_evaluations
        if generation == 1:
            unmovable = running.genome.movable.sum(-1) == 0
            running = ended.add(running, unmovable, Stop.NOTHING_MOVES, *so_far)
        if running.convergence and generation % settings.stop_every == 0:
            converged = running.convergence.check(running.population)
            running = ended.add(running, converged, Stop.CONVERGED, *so_far)
        stop = None  # what ends all that still run
        if is_stopped:
            stop = Stop.CALLER
        elif generation == settings.n_generations:
            stop = Stop.GENERATIONS
        elif n_evaluations == max_evaluations:
            stop = Stop.EVALUATIONS
        elif budget_seconds is not None and time.perf_counter() - started >= budget_seconds:
            stop = Stop.OUT_OF_TIME
        if stop is not None:
            running = ended.add(running, np.ones(len(running.instances), np.bool_), stop, *so_far)
        if not len(running.instances):
            return ended.result(time.perf_counter() - started)
        size = settings.n_offspring
        if max_evaluations is not None:
            size = min(size, max_evaluations - n_evaluations)
        generation, n_evaluations = generation + 1, n_evaluations + size
        parents = running.population.genes
        genes = offspring(parents, running.genome, running.streams, generation, size, settings)
        evaluated = evaluate(problem, genes, running.instances, generation)
        candidates = Candidates.of(genes, evaluated)
        running = running.advance(candidates, settings)


def _check(genome: Genome, initial: Array, max_evaluations: int | None) -> None:
    i, g = genome.n_instances, genome.n_genes
    if initial.ndim != 3 or initial.shape[0] != i or initial.shape[2] != g or not initial.size:
        raise SearchError(
            f"the initial population has the shape {tuple(initial.shape)}; expected"
            f" ({i}, candidates, {g}), at least one of each, as in the genome."
        )
    if max_evaluations is not None and max_evaluations < 1:
        raise SearchError(f"max_evaluations is {max_evaluations}; expected 1 or more, or None.")
