"""Evolve the candidates of some rows by NSGA-II (Algorithm 1)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from proce.arrays import Array
from proce.losses import Loss
from proce.methods.fitting.fitted import FittedParts
from proce.methods.phases.candidates import CandidateBatch, naming_failing_row
from proce.methods.phases.plan import FIRST, Attempt
from proce.objective import CounterfactualProblem, initial_population
from proce.search import Evaluation, SearchProgress, SearchResult, nsga2


@dataclass(eq=False)
class SearchedProblem:
    """A problem as a search asks it: for fewer and fewer of its rows, for the same at a time."""

    problem: CounterfactualProblem
    _instances: Array | None = field(default=None, init=False, repr=False)
    _part: CounterfactualProblem = field(init=False, repr=False)  # of these instances

    def __call__(self, genes: Array, instances: Array) -> Evaluation:
        """Evaluate genes ``(i, c, g)`` of the instances at these positions."""
        if self._instances is not instances:
            is_whole = np.array_equal(instances, np.arange(len(self.problem.batch.factual)))
            self._part = self.problem if is_whole else self.problem.take(instances)
            self._instances = instances
        realised = self._part.realise(genes)
        with naming_failing_row(self._part, realised.point):
            return self._part.score(realised)


def evolve(
    problem: CounterfactualProblem,
    fitted: FittedParts,
    attempt: Attempt = FIRST,
    seeds: Sequence[Array] = (),
    max_evaluations: int | None = None,
    budget_seconds: float | None = None,
    progress: Callable[[SearchProgress], object] | None = None,
) -> SearchResult:
    """Search the rows of a problem; ``seeds (i, s, g)`` join the first generation."""
    settings, genome = attempt.settings(fitted.settings), problem.searched_genome
    seed = fitted.seed + attempt.number
    initial = initial_population(
        genome,
        problem.batch,
        fitted.codec.reach,
        fitted.rows,
        problem.gene_map,
        settings.population_size,
        seed,
        attempt.start(fitted.start),
    )
    return nsga2(
        SearchedProblem(problem),
        genome,
        np.concatenate([initial, *seeds], axis=1),
        settings,
        seed=seed,
        keys=problem.batch.keys,
        archive_by=Loss.DISTANCE,
        max_evaluations=max_evaluations,
        budget_seconds=budget_seconds,
        progress=progress,
    )


def genes_of(problem: CounterfactualProblem, candidates: CandidateBatch) -> Array:
    """Return candidates as genes ``(i, c, g)``; the switch of what is done by hand is on."""
    switches = candidates.by_hand[..., list(problem.gene_map.switched)]
    return np.concatenate([candidates.rows, switches], axis=-1)
