"""NSGA-II over many instances at once (Deb et al. 2002; Algorithm 1 of the paper).

Algorithm 1 as printed never adds the front that does not fit and never resets its offspring;
this is the algorithm it cites. Every instance has its own population, bounds, random stream
and end; all that they share is the call that evaluates their candidates.
"""

import time

import numpy as np

from proce.arrays import Array
from proce.errors import SearchError
from proce.search.genome import Genome
from proce.search.problem import Problem, evaluate
from proce.search.result import SearchCallback, SearchProgress, SearchResult, Stop
from proce.search.settings import NSGA2Settings
from proce.search.state import EndedInstances, RunningInstances
from proce.search.survival import Candidates
from proce.search.variation import offspring
from proce.streams import RowStreams


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

    Parameters
    ----------
    problem
        Evaluates candidates.
    genome
        What may move, how far, and from where.
    initial
        ``(i, n, g)``, the first generation; it is repaired where it breaks a bound. If it is
        larger than the population it is cut by rank and crowding, if smaller, offspring fill up.
    settings
        Sizes and operators.
    seed, keys
        An instance draws from a stream of its own, made of the seed and its key ``(i,)``, a
        whole number; by default its position. The same key gets the same result in any batch.
    archive_by
        The loss by which the best feasible candidate is kept.
    max_evaluations
        The most candidates of an instance that are evaluated; the last generation is cut short
        to meet it exactly.
    budget_seconds
        Wall-clock time, looked at after each generation; the first one always runs.
    progress
        Called after each generation; stops the search by returning False.
    """
    started = time.perf_counter()
    _check(genome, initial, max_evaluations)
    keys = np.arange(genome.n_instances) if keys is None else keys
    streams = RowStreams.of(seed, keys)
    genes = genome.repair(initial[:, :max_evaluations])
    generation, n_evaluations = 1, genes.shape[1]
    everyone = np.arange(genome.n_instances)
    candidates = _evaluate(problem, genes, everyone, generation)
    running = RunningInstances.start(genome, streams, candidates, archive_by, settings)
    ended = EndedInstances(running, settings.population_size)
    while True:
        elapsed = time.perf_counter() - started
        is_stopped = False
        if progress is not None:
            report = _report(running, ended, generation, settings, elapsed)
            is_stopped = progress(report) is False
        so_far = generation, n_evaluations
        if generation == 1:
            unmovable = running.genome.movable.sum(-1) == 0
            running = ended.add(running, unmovable, Stop.NOTHING_MOVES, *so_far)
        if running.convergence and generation % settings.stop_every == 0:
            converged = running.convergence.check(running.population)
            running = ended.add(running, converged, Stop.CONVERGED, *so_far)
        if is_stopped:
            running = ended.add_all(running, Stop.CALLER, *so_far)
        elif generation == settings.n_generations:
            running = ended.add_all(running, Stop.GENERATIONS, *so_far)
        elif n_evaluations == max_evaluations:
            running = ended.add_all(running, Stop.EVALUATIONS, *so_far)
        elif budget_seconds is not None and time.perf_counter() - started >= budget_seconds:
            running = ended.add_all(running, Stop.OUT_OF_TIME, *so_far)
        if not len(running.instances):
            return ended.result(time.perf_counter() - started)
        size = settings.n_offspring
        if max_evaluations is not None:
            size = min(size, max_evaluations - n_evaluations)
        generation, n_evaluations = generation + 1, n_evaluations + size
        parents = running.population.genes
        genes = offspring(parents, running.genome, running.streams, generation, size, settings)
        candidates = _evaluate(problem, genes, running.instances, generation)
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


def _evaluate(problem: Problem, genes: Array, instances: Array, generation: int) -> Candidates:
    evaluation = evaluate(problem, genes, instances, generation)
    return Candidates(genes, evaluation.losses, evaluation.violation)


def _report(
    running: RunningInstances,
    ended: EndedInstances,
    generation: int,
    settings: NSGA2Settings,
    elapsed: float,
) -> SearchProgress:
    return SearchProgress(
        generation,
        settings.n_generations,
        elapsed,
        running.instances,
        running.population,
        running.archive,
        ended.archive.losses,
        ended.front_size,
    )
