"""One call of ProCE, read from top to bottom: the phases of an explanation in their order.

The call is read; rows that have their target are set aside. Chunk by chunk a problem is posed, and
its plan walked: for each attempt ways are scanned, evolved, pruned, polished, robustified,
selected, checked on the model, and pruned once more. What passed is annotated and recorded. Rows
that have nothing may wait, and at last they are diagnosed.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np

from proce.arrays import Array, Flags
from proce.classifier import Classifier
from proce.errors import ProceError
from proce.explanation import Explanations, Outcome
from proce.losses import Loss, chance_of_loss
from proce.methods.calls.call import Call, call_context, refuse_contradiction
from proce.methods.calls.method import Progress, ProgressCallback
from proce.methods.calls.options import Options
from proce.methods.diagnosing.blockers import BlockerSearch, FoundAfterAll, search_blockers
from proce.methods.diagnosing.diagnosis import diagnose
from proce.methods.fitting.fitted import FittedParts
from proce.methods.phases.annotate import annotate
from proce.methods.phases.candidates import CandidateBatch, concatenate, evaluate_genes
from proce.methods.phases.check import FrameRows, Solution, checked_solution, solution_of
from proce.methods.phases.choosing import near_limit
from proce.methods.phases.evolve import evolve, genes_of
from proce.methods.phases.plan import Attempt, CallSpec, plan_attempts
from proce.methods.phases.polish import consolidate, polish
from proce.methods.phases.prune import prune, prune_shown
from proce.methods.phases.robustify import robustify
from proce.methods.phases.scan import scan, scanned_alike
from proce.methods.phases.shortlist import (
    NearestMisses,
    TypicalRows,
    Ways,
    distance_factor,
    learn_looks,
    most_typical,
    nearest_candidates,
    select,
    typical_notes,
)
from proce.objective import CounterfactualProblem, InstanceBatch
from proce.objective.terms import most_changes
from proce.search import SearchProgress

_N_POLISHED = 4  # candidates of a search that are drawn in


class ProceCall(Call):
    """The work of one call of ProCE, and how far it has come."""

    def __init__(
        self,
        fitted: FittedParts,
        options: Options,
        X: Any,
        progress: ProgressCallback | None = None,
        models: Sequence[Classifier] = (),
    ) -> None:
        self.fitted, self.spec = fitted, CallSpec.read(fitted, options, models)
        graph = fitted.scm.graph if fitted.scm else None
        own = fitted.codec, fitted.classifier, options, self.spec.limits, self.spec.requirement
        context = replace(
            call_context(*own, fitted.class_labels),
            edges=graph.edges if graph else (),
            n_graphs=len(fitted.ensemble.members) if fitted.ensemble else 0,
            n_refits=len(fitted.refits.members) if fitted.refits else 0,
            n_models=len(self.spec.models),
            models_are_refits=isinstance(options.models, Integral | None),
            robust=options.robust,
            origin=str(graph.origin) if graph else None,
            rules=tuple(rule.text for rule, _ in self.spec.rules),
            spread=fitted.facts.spread,
        )
        asked = fitted.classifier, self.spec.requirement, options, self.spec.limits
        super().__init__(context, *asked, X, progress)
        refuse_contradiction(self.spec.rules, self.factual)
        self._typical = TypicalRows.none()
        self._n_generations = 0
        self._misses = NearestMisses(len(self))
        # Where a caller counts the model's answers, or wants the algorithm as printed, a search
        # does not go on by itself.
        self._goes_on = fitted.settings.sparse and options.max_evaluations is None

    def run(self) -> Explanations:
        """Explain every row; rows that are open when the call ends early are marked as such."""
        positions, spec = self.rows_to_change(), self.spec
        reachable = positions[self.fitted.index.sizes[self.target[positions]] > 0]
        try:
            classes = self.target[reachable], self.predicted[reachable]
            self._typical = learn_looks(self.fitted, self.options, reachable, *classes)
            for problem, chunk in self._posed(reachable, spec.problem):
                self._walk(problem, chunk)
            if spec.lets_wait:  # for whom nothing else was found
                left = self.record.rows_with(Outcome.NOT_FOUND)
                left = left[np.isin(left, reachable)]
                for problem, chunk in self._posed(left, spec.waiting_problem):
                    self._walk(problem, chunk)
        except KeyboardInterrupt:
            self.interrupt()
        self._finish_open_rows(reachable)
        self._diagnose()
        fitted = self.fitted
        return self.result(
            method="ProCE",
            seed=fitted.seed,
            settings=fitted.plain_settings,
            mode=fitted.mode,
            graph=None if fitted.scm is None else str(fitted.scm.graph.origin),
            training_rows=fitted.n_rows,
            training_hash=fitted.facts.training_hash,
            generations=self._n_generations,
        )

    def batch(self, positions: Array) -> InstanceBatch:
        """Return what the search needs to know of the rows at some positions."""
        return self.spec.batch(
            self.factual[positions],
            self.target[positions],
            self.raw[positions],
            positions,
            self.predicted[positions],
        )

    def _posed(
        self, positions: Array, pose: Callable[[InstanceBatch], CounterfactualProblem]
    ) -> Iterator[tuple[CounterfactualProblem, Array]]:
        """Yield problems of rows, a chunk at a time, in which a row has the answer it has alone."""
        for chunk in self._typical.chunks(positions, self.fitted.chunk_size):
            if self.over or not len(chunk):
                continue
            problem = pose(self.batch(chunk)).with_uncertainty(self.spec.uncertainty)
            problem = replace(problem, likeness=self._typical.likeness_of(chunk))
            for part in scanned_alike(problem):
                if not self.over:
                    yield problem.take(part), chunk[part]

    def _walk(self, problem: CounterfactualProblem, positions: Array) -> None:
        """Walk the plan of attempts at the rows of a problem; who has advice is done with."""
        shortens = self.options.pick == "closest"
        plan = plan_attempts(problem, goes_on=self._goes_on, shortens=shortens)
        posed, solution = problem, None
        is_settled = np.zeros(len(positions), np.bool_)
        for number, attempt in enumerate(plan):
            if solution is not None and self.over:
                if any(other.whose == "open" for other in plan[number:]):
                    cut_short = solution.cut_short | ~solution.is_solved
                    solution = replace(solution, cut_short=cut_short)
                break
            if attempt.whose == "open":
                if solution is not None:
                    is_done = solution.is_solved | is_settled
                    self._record(posed, positions, solution, is_done & ~is_settled)
                    left = np.flatnonzero(~is_done)
                    if not len(left):
                        return
                    problem, positions = problem.take(left), positions[left]
                    solution, is_settled = solution.take_population(left), is_settled[left]
                posed = attempt.pose(problem, self.spec.limits)
                solution = self._attempt(posed, positions, attempt, solution)
                continue
            assert solution is not None, "a plan begins with the positions that have nothing"
            some = attempt.rows_of(solution, is_settled, posed)
            if len(some):
                stricter = attempt.pose(posed.take(some), self.spec.limits)
                before = solution.take_population(some)
                other = self._attempt(stricter, positions[some], attempt, before)
                is_better = attempt.counts(other, solution, some)
                self._record(stricter, positions[some], other, is_better)
                is_settled[some] |= is_better
        if solution is not None:
            self._record(posed, positions, solution, ~is_settled)

    def _attempt(
        self,
        problem: CounterfactualProblem,
        positions: Array,
        attempt: Attempt,
        before: Solution | None,
    ) -> Solution:
        """Search the rows of a problem once, from where the attempt before them ended."""
        options, is_sparse = self.options, self.fitted.settings.sparse
        most = most_changes(problem.max_changes)
        # A search that knows the limit on changes finds other ways than one that does not: so that
        # a call without the limit is never farther, both make the same search at first.
        is_open = problem.max_changes is None or attempt.limited or not is_sparse
        posed = problem if is_open else problem.with_max_changes(None)
        # Worlds are dear: few are asked in a search for surer advice, and none in others.
        searched = posed.subsample() if attempt.robust else posed.without_uncertainty()
        improved = posed if attempt.robust else posed.with_required_uncertainty()

        groups: list[CandidateBatch] = []
        if self._goes_on and not attempt.robust:
            with before_the_first_generation():
                groups = scan(searched, searched.max_changes)
        seeds = [genes_of(problem, group) for group in groups]
        result = evolve(
            searched,
            self.fitted,
            attempt,
            seeds if before is None else [*seeds, before.population],
            options.max_evaluations,
            self.seconds_left,
            self._follow if self.is_followed else None,
        )
        self._n_generations = max(self._n_generations, int(result.n_generations.max()))
        self.evaluations += int(result.n_evaluations.sum())

        pool = evaluate_genes(improved, nearest_candidates(result))
        if is_sparse:
            # Every candidate is improved by itself, whatever the others are.
            pruned = prune(improved, concatenate([*groups, pool.without_copies()]))
            pruned, n_scanned = pruned.without_copies(), sum(g.rows.shape[1] for g in groups)
            of_search = pruned.take_range(n_scanned, pruned.rows.shape[1]).nearest(_N_POLISHED)
            near = concatenate([pruned.take_range(0, n_scanned), of_search])
            polished = polish(improved, consolidate(improved, near))
            pool = concatenate([prune(improved, polished), pruned])
        if problem.likeness is not None:
            limit = near_limit(pool.feasible_distance.min(1), distance_factor(posed))
            typical = evaluate_genes(improved, most_typical(result, limit))
            pool = concatenate([pool, typical])

        ways = Ways.judged(posed, pool, most)
        if is_sparse and posed.uncertainty:
            sure = robustify(posed, pool, ways.feasible, ways.robustness_gap)
            ways = ways.beside(Ways.judged(posed, sure, most))
        keeps = options.keeps_fronts(len(self))
        shortlist = select(
            posed, ways, result, options, most=most, is_sparse=is_sparse, keeps_fronts=keeps
        )
        frame_rows = self._frame_rows(positions)
        solution = checked_solution(problem, frame_rows, shortlist, result)
        return prune_shown(problem, frame_rows, solution, options.n) if is_sparse else solution

    def _record(
        self,
        problem: CounterfactualProblem,
        positions: Array,
        solution: Solution,
        recorded: Flags,
        has_margin: Flags | None = None,
    ) -> None:
        """Annotate and record what passed for the rows whose flag in ``recorded (i,)`` is set.

        What ``has_margin (i,)`` keeps the margin; by default as far as the problem requires it.
        """
        n, is_solved = self.options.n, solution.is_solved
        is_required = problem.requirement.margin >= self.spec.requirement.margin
        missed = ~np.full_like(recorded, is_required) if has_margin is None else ~has_margin
        self.record.mark_margin_missed(positions[recorded & is_solved & missed])
        unsolved = np.flatnonzero(recorded & ~is_solved)
        # The nearest miss is that of the first search, in which nobody waits.
        self._misses.add(positions[unsolved], solution.shortlist.misses[unsolved])
        cut_short = solution.cut_short[unsolved]
        self.record.finish(positions[unsolved[cut_short]], Outcome.OUT_OF_TIME)
        self.record.finish(positions[unsolved[~cut_short]], Outcome.NOT_FOUND)
        self.record.count_dropped(positions[recorded], solution.n_dropped(n)[recorded])
        self.note_cut_short(positions[recorded & solution.cut_short])
        lines = solution.lines_to_show(n)
        lines = lines[recorded[solution.shortlist.owner[lines]]]
        if len(lines):
            # A caller who counts the model's answers wants none beyond those of the search.
            is_over = (lambda: self.over) if self.options.max_evaluations is None else None
            frame_rows, models = self._frame_rows(positions), self.spec.models
            self.record.add(
                annotate(problem, frame_rows, solution, lines, self.fitted, is_over, models)
            )
        fronts = solution.shortlist.fronts
        self.record.keep_fronts(fronts.renumbered(positions, recorded & is_solved))

    def _finish_open_rows(self, reachable: Array) -> None:
        """Give every row an outcome and its notes."""
        positions = self.record.open_rows()
        is_reachable = np.isin(positions, reachable)
        self.record.finish(positions[is_reachable], Outcome.OUT_OF_TIME)
        self.record.finish(positions[~is_reachable], Outcome.NOT_FOUND)
        notes = self.fitted.notes_on(self.record.probabilities)
        notes += typical_notes(self._typical, reachable, self.record.rows_with(Outcome.FOUND))
        for noted, text in notes:
            self.record.note(noted, text)

    def _diagnose(self) -> None:
        """Record for rows without a counterfactual what blocks them, or a way that turns up."""
        positions, search = self.record.rows_with(Outcome.NOT_FOUND), BlockerSearch()
        try:
            self.report_rows()
            if not len(positions):
                return
            search = search_blockers(self, self.spec, positions, self._misses)
            for found in search.found:
                self._record_found(found)
        except KeyboardInterrupt:
            self.interrupt()
        positions = self.record.rows_with(Outcome.NOT_FOUND)
        for row, diagnosis in diagnose(self, self.spec, positions, self._misses, search).items():
            self.record.diagnose(row, diagnosis)

    def _record_found(self, found: FoundAfterAll) -> None:
        """Record ways within all limits that were found while limits were lifted."""
        frame_rows, problem = self._frame_rows(found.positions), found.problem
        is_open = np.isin(found.positions, self.record.rows_with(Outcome.NOT_FOUND))
        solution = solution_of(problem, frame_rows, found.nearest(is_open))
        if self.fitted.settings.sparse:
            solution = prune_shown(problem, frame_rows, solution, self.options.n)
        with_margin = problem.with_requirement(self.spec.requirement)
        has_margin = solution_of(with_margin, frame_rows, solution.shortlist).is_solved
        self._record(problem, found.positions, solution, solution.is_solved, has_margin)

    def _frame_rows(self, positions: Array) -> FrameRows:
        return FrameRows(positions, self.raw[positions], self.layout)

    def _follow(self, search: SearchProgress) -> object:
        """Tell the caller how far a search has come."""
        losses = search.best_losses[np.isfinite(search.best_losses[:, Loss.PREDICTION])]
        chance, distance = math.nan, math.nan  # while no candidate of any row is feasible
        if len(losses):
            chance = float(chance_of_loss(losses[:, Loss.PREDICTION]).mean())
            distance = float(losses[:, Loss.DISTANCE].mean())
        n_finished, front_size = self.record.n_finished, float(search.front_size.mean())
        return self.report(
            Progress(
                "search", n_finished, len(self), search.generation, chance, distance, front_size
            )
        )


@contextmanager
def before_the_first_generation() -> Iterator[None]:
    """Say of an error that it came before the first generation of a search."""
    try:
        yield
    except ProceError as error:
        error.args = (f"generation 0 of the search: {error}",)
        raise
