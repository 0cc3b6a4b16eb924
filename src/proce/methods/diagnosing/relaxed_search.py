"""One search over rows times lifted limits, and the nearest way that each of them opens.

The search is short: it starts from where the search under all limits ended, from values of the
freed feature all over its range, and from rows of the prototype. The model is asked about 0.6 times
as many candidates of a row as that search could evaluate, for all limits together. Where there are
many limits, all are tried briefly at first, and the most promising ones go on.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from proce.arrays import Array
from proce.losses import Loss
from proce.methods.diagnosing.lifted_limits import OF_NO_FEATURE, LiftedLimit
from proce.methods.diagnosing.opened_ways import OpenedWays, nearest_ways
from proce.methods.diagnosing.relaxed_problem import follows_when_freed, relax
from proce.methods.searching.terms import SearchTerms
from proce.objective import (
    CounterfactualProblem,
    GeneMap,
    Query,
    RunningProblem,
    initial_population,
)
from proce.search import SearchProgress, SearchResult, nsga2
from proce.search.result import Stop

_SEARCH_SHARE = 0.6  # of the candidates that a whole search evaluates, for all limits together
_MAX_PROMISING = 5  # limits that go on after all were tried briefly
_N_ENDED, _N_FRESH, _N_SCANNED = 8, 24, 16  # candidates with which the search of a limit begins
_N_BRIEF = 24  # candidates beyond these of a limit that is tried briefly
_MIN_POPULATION, _MIN_GENERATIONS = 12, 2


@dataclass(frozen=True, eq=False)
class RelaxedSearch:
    """Searches rows with limits lifted.

    Attributes
    ----------
    terms
        The terms under which nothing was found.
    lifted
        The limits.
    query
        The rows.
    misses
        ``(i, m, g)``, the genes where the search of each row under all limits ended.
    budget_seconds
        The time that is left, or ``None``.
    progress
        Called after each generation; False ends the search.
    """

    terms: SearchTerms
    lifted: Sequence[LiftedLimit]
    query: Query
    misses: Array
    max_evaluations: int | None = None
    budget_seconds: float | None = None
    progress: Callable[[SearchProgress], object] | None = None

    def run(self) -> tuple[list[OpenedWays], bool]:
        """Return the ways that lifted limits open, and whether the search ran to its end."""
        apart = [number for number, limit in enumerate(self.lifted) if follows_when_freed(limit)]
        together = [number for number in range(len(self.lifted)) if number not in apart]
        ways, finished = [], True
        for group in filter(None, [together, *([number] for number in apart)]):
            found, is_whole = self._run_group(group)
            ways.append(found)
            finished &= is_whole
        return ways, finished

    def _run_group(self, group: list[int]) -> tuple[OpenedWays, bool]:
        limits, n_rows = [self.lifted[number] for number in group], len(self.query.factual)
        problem = relax(self.terms, limits, self.query)
        settings = self.terms.fitted.settings
        whole = settings.population_size + settings.n_offspring * (settings.n_generations - 1)
        budget = _SEARCH_SHARE * whole * len(group) / len(self.lifted)
        start, instances = self._start(problem, limits), np.arange(len(problem.query.factual))
        if len(group) > _MAX_PROMISING:
            result = self._search(problem, start, start.shape[1] + _N_BRIEF)
            instances = _most_promising(result, n_rows)
            start = result.population.genes[instances]
            budget -= len(group) * (start.shape[1] + _N_BRIEF)
        n_each = int(budget / min(len(group), _MAX_PROMISING))
        result = self._search(problem.take(instances), start, n_each)
        is_whole = not bool(result.ended_by(Stop.CALLER, Stop.OUT_OF_TIME).any())
        own_limits = [limits[number] for number in (instances // n_rows).tolist()]
        freed = [freed_position(self.terms, limit) for limit in own_limits]
        n_doubts = len(self.terms.doubts)
        is_doubted = [len(limit.terms.doubts) == n_doubts for limit in own_limits]
        ways = nearest_ways(
            problem.take(instances),
            result,
            freed,
            self.terms.doubts,
            np.array(is_doubted),
        )
        own = instances[ways.instance]
        return replace(ways, row=own % n_rows, limit=np.array(group)[own // n_rows]), is_whole

    def _start(self, problem: CounterfactualProblem, limits: Sequence[LiftedLimit]) -> Array:
        """Return the candidates ``(i, c, g)`` with which the instances begin."""
        fitted = self.terms.fitted
        fresh = initial_population(
            problem.searched_genome,
            problem.query,
            fitted.codec.reach,
            fitted.rows,
            problem.gene_map,
            _N_FRESH,
            fitted.seed,
            fitted.start,
        )
        own = self.terms.problem(self.query).gene_map
        ended = self.misses[:, np.arange(_N_ENDED) % self.misses.shape[1]]
        ended = np.tile(_with_gene_map(ended, own, problem.gene_map), (len(limits), 1, 1))
        scanned = np.tile(ended[:, :1], (1, _N_SCANNED, 1))
        share = np.arange(_N_SCANNED) / (_N_SCANNED - 1)
        for number, limit in enumerate(limits):
            position = freed_position(self.terms, limit)
            if position is not None:
                rows = slice(
                    number * len(self.query.factual), (number + 1) * len(self.query.factual)
                )
                ends = (problem.limits.action_lower, problem.limits.action_upper)
                low, high = (end[rows, position, None] for end in ends)
                scanned[rows, :, position] = low + (high - low) * share
                if position in problem.gene_map.switch_of:
                    scanned[rows, :, problem.gene_map.switch_of[position]] = 1.0
        return np.concatenate([ended, fresh, scanned], axis=1)

    def _search(
        self, problem: CounterfactualProblem, start: Array, n_evaluations: int
    ) -> SearchResult:
        settings = self.terms.fitted.settings
        size, n_generations = _sizes(n_evaluations - start.shape[1], settings.population_size)
        return nsga2(
            RunningProblem(problem),
            problem.searched_genome,
            start,
            replace(settings, population_size=size, n_offspring=size, n_generations=n_generations),
            seed=self.terms.fitted.seed,
            keys=problem.query.keys,
            archive_by=Loss.DISTANCE,
            max_evaluations=self.max_evaluations,
            budget_seconds=self.budget_seconds,
            progress=self.progress,
        )


def _sizes(n_evaluations: int, largest: int) -> tuple[int, int]:
    """Return a population and a number of generations for so many evaluations."""
    size = min(largest, max(_MIN_POPULATION, round(max(n_evaluations, 1) ** 0.5)))
    return size, max(_MIN_GENERATIONS, n_evaluations // size)


def _most_promising(result: SearchResult, n_rows: int) -> Array:
    """Return for each row the instances that have a way, or come nearest to one, in their order."""
    violation = result.population.violation.min(1)
    distance = result.archive.losses[:, result.archive.by]
    # Those with a way come first, the nearest way first; the others by what they lack.
    merit = np.where(np.isfinite(distance), -1 / (1 + distance), violation)
    by_row = merit.reshape(-1, n_rows)  # (l, n)
    best = np.argsort(by_row, axis=0, kind="stable")[:_MAX_PROMISING]
    return np.sort((best * n_rows + np.arange(n_rows)).ravel())


def _with_gene_map(genes: Array, own: GeneMap, wanted: GeneMap) -> Array:
    """Return genes ``(i, c, g)`` of one map under another, whose further switches are off."""
    result = np.zeros(
        (*genes.shape[:-1], wanted.n_features + len(wanted.switched)), dtype=genes.dtype
    )
    result[..., : own.n_features] = genes[..., : own.n_features]
    for position, gene in own.switch_of.items():
        result[..., wanted.switch_of[position]] = genes[..., gene]
    return result


def freed_position(terms: SearchTerms, limit: LiftedLimit) -> int | None:
    """Return the position of the feature that a limit binds; ``None`` where it binds no feature."""
    schema = terms.fitted.codec.schema
    return schema.position(limit.name) if limit.kind not in OF_NO_FEATURE else None
