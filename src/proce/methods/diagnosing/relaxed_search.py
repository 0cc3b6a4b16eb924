"""One search over rows times lifted limits, and the nearest way that each of them opens.

The search is short: it starts from where the search under all limits ended, from values of the
freed feature all over its range, and from rows of the prototype. The model is asked about 0.6 times
as many candidates of a row as that search could evaluate, for all limits together. Where there are
many limits, all are tried briefly at first, and the most promising ones go on.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from proce.arrays import Array
from proce.losses import Loss
from proce.methods.diagnosing.lifted_limits import OF_NO_FEATURE, LiftedLimit
from proce.methods.phases.candidates import CandidateBatch, concatenate, evaluate, evaluate_genes
from proce.methods.phases.evolve import SearchedProblem
from proce.methods.phases.plan import CallSpec
from proce.methods.phases.prune import prune
from proce.methods.phases.scan import scan
from proce.methods.phases.shortlist import change_kinds, nearest_candidates, spread
from proce.objective import (
    CounterfactualProblem,
    GeneMap,
    InstanceBatch,
    Limits,
    UncertaintySet,
    initial_population,
)
from proce.objective.terms import most_changes
from proce.schema import Action
from proce.search import SearchProgress, SearchResult, nsga2
from proce.search.nsga2 import Stop


def relax(
    spec: CallSpec, lifted: Sequence[LiftedLimit], batch: InstanceBatch
) -> CounterfactualProblem:
    """Return the problem of every row with every limit lifted, the rows of one limit together."""
    n_rows, each = len(batch.factual), [limit.spec.without_margin() for limit in lifted]
    freed = [limit.name for limit in lifted if limit.kind in (Action.FIXED, Action.INDIRECT)]
    schema = spec.fitted.codec.schema
    fitted = spec.fitted.with_schema(schema.edit(freed, action=Action.FREE) if freed else schema)
    problem = replace(spec, fitted=fitted).problem(
        batch.take(np.tile(np.arange(n_rows), len(lifted)))
    )
    per_limit = [own.limits.of_rows(own.fitted.codec, batch.factual) for own in each]
    columns = (
        np.concatenate([getattr(limits, name) for limits in per_limit])
        for name in Limits.__dataclass_fields__
    )
    obeyed = [[any(bound is other for other in own.rules) for bound in spec.rules] for own in each]
    problem = problem.with_limits(Limits(*columns))
    # What binds each row by itself; of the whole problem it is nothing.
    terms = problem.terms._replace(
        max_changes=np.repeat([most_changes(own.max_changes) for own in each], n_rows),
        required=np.repeat([own.requirement.line for own in each], n_rows, axis=0),
    )
    rules = np.array(obeyed, np.bool_).reshape(len(each), -1)
    requirement = replace(spec.requirement, margin=0.0, min_probability=None)
    return replace(
        problem,
        requirement=requirement,
        max_changes=None,
        terms=terms,
        obeyed=np.repeat(rules, n_rows, axis=0),
    )


def follows_when_freed(limit: LiftedLimit) -> bool:
    """Whether lifting the limit changes what follows from what: a fixed effect has its causes back.

    Such a limit cannot share its equations with others.
    """
    scm = limit.spec.fitted.scm
    return limit.kind == Action.FIXED and scm is not None and limit.name in scm.graph.endogenous


_POOL_SIZE = 6  # ways of an instance that are pruned
_N_BETWEEN = 12  # values between the row's own and the way's that a freed feature is tried at
# Which ways of an instance are tried at once with the equations fitted again: more of the first.
_TRIED_AGAIN = np.linspace(0, 1, 4) ** 2
_FIRM_ROUNDS = 2


@dataclass(frozen=True, eq=False)
class OpenedWays:
    """The nearest way of each row and limit that has one when the limit is lifted, as columns."""

    instance: Array  # (n,), the instance of the relaxed problem that each way belongs to
    # row, limit: (n,), the positions of its row in the batch and of its limit among those lifted
    row: Array
    limit: Array
    # rows, changes, expected: (n, f): the ways in the entries of the codec, a Change for each cell,
    # and where each feature would be by itself
    rows: Array
    changes: Array
    expected: Array
    losses: Array  # (n, 3); see `proce.losses.Loss`

    def take(self, lines: Array) -> "OpenedWays":
        """Return some of the lines, given by position."""
        return OpenedWays(*(getattr(self, name)[lines] for name in self.__dataclass_fields__))


def nearest_ways(
    problem: CounterfactualProblem,
    result: SearchResult,
    freed: Sequence[int | None],
    uncertainty: tuple[UncertaintySet, ...],
    is_uncertain: Array,
) -> OpenedWays | None:
    """Return the nearest way of each instance that has one; its row and limit are not set yet.

    Shapes: is_uncertain ``(i,)``.
    """
    solved = np.flatnonzero(result.archive.has_feasible)
    if not len(solved):
        return None
    part = problem.take(solved)
    genes = nearest_candidates(result, _POOL_SIZE)[solved]
    pool = evaluate_genes(part, genes).without_copies()
    pruned = prune(part, pool)
    own_freed = [freed[instance] for instance in solved.tolist()]
    tried = concatenate([pool, pruned, _between(part, pruned.nearest(1), own_freed)])
    near = tried.nearest(tried.rows.shape[1])
    which = _nearest_firm(part.with_uncertainty(uncertainty), near, is_uncertain[solved])
    return _opened(part, near, which, solved)


def _opened(
    problem: CounterfactualProblem, near: CandidateBatch, which: Array, instances: Array
) -> OpenedWays | None:
    """Return which of the candidates ``(i, c)`` open a way; -1 for none of an instance."""
    kept = np.flatnonzero(which >= 0)
    if not len(kept):
        return None
    part, nearest = problem.take(kept), near.take_rows(kept).take(which[kept, None])
    realised = part.realise_by_hand(nearest.rows, nearest.by_hand)
    return OpenedWays(
        instances[kept],
        instances[kept],
        np.zeros_like(kept),
        realised.point[:, 0],
        change_kinds(realised)[:, 0],
        realised.expected[:, 0],
        part.score(realised).losses[:, 0],
    )


def _nearest_firm(
    problem: CounterfactualProblem, near: CandidateBatch, is_uncertain: Array
) -> Array:
    """Return the first of the ways ``(i, c)``, nearest first, that is likely to work, ``(i,)``.

    The nearest way barely reaches the decision; one farther away may do so in most worlds. A few
    are tried from near to far, then a few between the last that failed and the first that works.
    The result is -1 where none is.
    """
    is_feasible, size = near.is_feasible, near.rows.shape[1]
    works = is_feasible.sum(1)
    counts, failed = works, np.full_like(works, -1)
    for _ in range(_FIRM_ROUNDS):
        nth = spread(failed + 1, np.minimum(works, size) - 1, _TRIED_AGAIN)
        nth = np.clip(nth, 0, size - 1)
        some, acts = near.take(nth), np.take_along_axis(is_feasible, nth, 1)
        realised = problem.realise_by_hand(some.rows, some.by_hand)
        gap = problem.robustness_gap(realised, acts & is_uncertain[:, None])
        firm = acts & (np.isfinite(gap) | ~is_uncertain[:, None])
        works = np.minimum(works, np.where(firm, nth, size).min(1))
        failed = np.maximum(failed, np.where(~firm & (nth < works[:, None]), nth, -1).max(1))
    return np.where(works < counts, works, -1)


def _between(
    problem: CounterfactualProblem, ways: CandidateBatch, freed: Sequence[int | None]
) -> CandidateBatch:
    """Try ways ``(i, 1)`` with the freed feature between its own value and theirs."""
    share = np.arange(1, _N_BETWEEN + 1) / (_N_BETWEEN + 1)
    rows, by_hand = (np.repeat(column, _N_BETWEEN, axis=1) for column in (ways.rows, ways.by_hand))
    for instance, position in enumerate(freed):
        if position is not None:
            own, now = problem.genome.anchor[instance, position], rows[instance, 0, position]
            rows[instance, :, position] = own + (now - own) * share
    return evaluate(problem, problem.genome.repair(rows, by_hand), by_hand)


_N_TRIED_AGAIN = 6  # ways of a row that are tried with the equations fitted again
_MAX_ACTIONS = 2


def plain_ways(
    spec: CallSpec,
    lifted: Sequence[LiftedLimit],
    batch: InstanceBatch,
    rows: Array,
    is_over: Callable[[], bool],
) -> Iterator[OpenedWays]:
    """Yield for each limit the nearest way of one or two actions that it opens.

    Shapes: rows ``(n,)``.
    """
    for number, limit in enumerate(lifted):
        if is_over() or not len(rows):
            return
        is_uncertain = len(limit.spec.uncertainty) == len(spec.uncertainty)
        problem = limit.spec.without_margin().problem(batch.take(rows))
        problem = problem.with_uncertainty(spec.uncertainty if is_uncertain else ())
        found = _nearest(problem, 1 + (limit.kind in OF_NO_FEATURE))
        if found is not None:
            yield replace(found, row=rows[found.row], limit=np.full_like(found.row, number))


def _nearest(problem: CounterfactualProblem, n_actions: int) -> OpenedWays | None:
    """Return the nearest likely way of each row that has one of at most so many actions."""
    most = min(n_actions, _MAX_ACTIONS, problem.max_changes or _MAX_ACTIONS)
    certain = problem.without_uncertainty()
    groups = scan(certain, most)
    if not groups:
        return None
    near = concatenate(groups).nearest(_N_TRIED_AGAIN)
    realised = problem.realise_by_hand(near.rows, near.by_hand)
    is_likely = np.isfinite(problem.robustness_gap(realised, near.is_feasible))
    nearest = is_likely.argmax(1)  # from near to far, so the first that is likely
    which = np.where(is_likely.any(1), nearest, -1)
    return _opened(certain, near, which, np.arange(len(which)))


_SEARCH_SHARE = 0.6  # of the candidates that a whole search evaluates, for all limits together
_MAX_PROMISING = 5  # limits that go on after all were tried briefly
_N_ENDED, _N_FRESH, _N_SCANNED = 8, 24, 16  # candidates with which the search of a limit begins
_N_BRIEF = 24  # candidates beyond these of a limit that is tried briefly
_MIN_POPULATION, _MIN_GENERATIONS = 12, 2


@dataclass(frozen=True, eq=False)
class RelaxedSearch:
    """Searches rows with limits lifted."""

    spec: CallSpec  # the terms under which nothing was found
    lifted: Sequence[LiftedLimit]  # the limits
    batch: InstanceBatch  # the rows
    misses: Array  # (i, m, g), the genes where the search of each row under all limits ended
    max_evaluations: int | None = None
    budget_seconds: float | None = None  # the time that is left, or None
    # called after each generation; False ends the search
    progress: Callable[[SearchProgress], object] | None = None

    def run(self) -> tuple[list[OpenedWays], bool]:
        """Return the ways that lifted limits open, and whether the search ran to its end."""
        apart = [number for number, limit in enumerate(self.lifted) if follows_when_freed(limit)]
        together = [number for number in range(len(self.lifted)) if number not in apart]
        ways: list[OpenedWays] = []
        finished = True
        for group in filter(None, [together, *([number] for number in apart)]):
            found, is_whole = self._run_group(group)
            ways += [] if found is None else [found]
            finished &= is_whole
        return ways, finished

    def _run_group(self, group: list[int]) -> tuple[OpenedWays | None, bool]:
        limits, n_rows = [self.lifted[number] for number in group], len(self.batch.factual)
        problem = relax(self.spec, limits, self.batch)
        settings = self.spec.fitted.settings
        whole = settings.population_size + settings.n_offspring * (settings.n_generations - 1)
        budget = _SEARCH_SHARE * whole * len(group) / len(self.lifted)
        start, instances = self._start(problem, limits), np.arange(len(problem.batch.factual))
        if len(group) > _MAX_PROMISING:
            result = self._search(problem, start, start.shape[1] + _N_BRIEF)
            instances = _most_promising(result, n_rows)
            start = result.population.genes[instances]
            budget -= len(group) * (start.shape[1] + _N_BRIEF)
        n_each = int(budget / min(len(group), _MAX_PROMISING))
        result = self._search(problem.take(instances), start, n_each)
        is_whole = not bool(result.ended_by(Stop.CALLER, Stop.OUT_OF_TIME).any())
        own_limits = [limits[number] for number in (instances // n_rows).tolist()]
        freed = [freed_position(self.spec, limit) for limit in own_limits]
        n_sets = len(self.spec.uncertainty)
        is_uncertain = [len(limit.spec.uncertainty) == n_sets for limit in own_limits]
        ways = nearest_ways(
            problem.take(instances),
            result,
            freed,
            self.spec.uncertainty,
            np.array(is_uncertain),
        )
        if ways is None:
            return None, is_whole
        own = instances[ways.instance]
        return replace(ways, row=own % n_rows, limit=np.array(group)[own // n_rows]), is_whole

    def _start(self, problem: CounterfactualProblem, limits: Sequence[LiftedLimit]) -> Array:
        """Return the candidates ``(i, c, g)`` with which the instances begin."""
        fitted, n_rows = self.spec.fitted, len(self.batch.factual)
        fresh = initial_population(
            problem.searched_genome,
            problem.batch,
            fitted.codec.reach,
            fitted.rows,
            problem.gene_map,
            _N_FRESH,
            fitted.seed,
            fitted.start,
        )
        own = self.spec.fitted.gene_map
        ended = self.misses[:, np.arange(_N_ENDED) % self.misses.shape[1]]
        ended = np.tile(_with_gene_map(ended, own, problem.gene_map), (len(limits), 1, 1))
        scanned = np.tile(ended[:, :1], (1, _N_SCANNED, 1))
        share = np.arange(_N_SCANNED) / (_N_SCANNED - 1)
        for number, limit in enumerate(limits):
            position = freed_position(self.spec, limit)
            if position is not None:
                rows = slice(number * n_rows, (number + 1) * n_rows)
                ends = (problem.limits.action_lower, problem.limits.action_upper)
                low, high = (end[rows, position, None] for end in ends)
                scanned[rows, :, position] = low + (high - low) * share
                if position in problem.gene_map.switch_of:
                    scanned[rows, :, problem.gene_map.switch_of[position]] = 1.0
        return np.concatenate([ended, fresh, scanned], axis=1)

    def _search(
        self, problem: CounterfactualProblem, start: Array, n_evaluations: int
    ) -> SearchResult:
        settings = self.spec.fitted.settings
        size, n_generations = _sizes(n_evaluations - start.shape[1], settings.population_size)
        return nsga2(
            SearchedProblem(problem),
            problem.searched_genome,
            start,
            replace(settings, population_size=size, n_offspring=size, n_generations=n_generations),
            seed=self.spec.fitted.seed,
            keys=problem.batch.keys,
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


def freed_position(spec: CallSpec, limit: LiftedLimit) -> int | None:
    """Return the position of the feature that a limit binds; ``None`` where it binds no feature."""
    schema = spec.fitted.codec.schema
    return schema.position(limit.name) if limit.kind not in OF_NO_FEATURE else None
