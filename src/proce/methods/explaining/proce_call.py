"""One call of ProCE: rows in chunks, each searched, shortlisted, checked and recorded."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from proce.arrays import Array
from proce.classifier import Classifier
from proce.explanation import Explanations, Outcome
from proce.methods.calls.call import Call
from proce.methods.calls.method import ProgressCallback
from proce.methods.calls.options import Options
from proce.methods.calls.rules import refuse_contradiction
from proce.methods.diagnosing.blockers import BlockerSearch, FoundAfterAll, search_blockers
from proce.methods.diagnosing.diagnosis import diagnose
from proce.methods.diagnosing.misses import NearestMisses
from proce.methods.explaining.described import describe
from proce.methods.explaining.proce_context import proce_context
from proce.methods.explaining.search_report import search_progress
from proce.methods.fitting.fitted import FittedParts
from proce.methods.searching.attempts import Attempt, plan_attempts
from proce.methods.searching.checking import FrameRows
from proce.methods.searching.needed import drop_needless
from proce.methods.searching.scan import MAX_SCANNED, scanned_alike
from proce.methods.searching.solution import Solution
from proce.methods.searching.solve import solution_of, solve
from proce.methods.searching.terms import SearchTerms
from proce.methods.searching.typical import TypicalRows, learn_looks, typical_notes
from proce.objective import CounterfactualProblem, Query
from proce.search import SearchProgress


class ProceCall(Call):
    """The work of one call of ProCE, and how far it has come.

    Parameters
    ----------
    fitted
        What ProCE has learned.
    options, X, progress
        The parameters of :class:`~proce.methods.calls.call.Call` of the same names.
    models
        The other models under which a counterfactual should keep its class.
    """

    def __init__(
        self,
        fitted: FittedParts,
        options: Options,
        X: Any,
        progress: ProgressCallback | None = None,
        models: Sequence[Classifier] = (),
    ) -> None:
        self.fitted = fitted
        self.terms = SearchTerms.read(fitted, options, models)
        context = proce_context(self.terms, options)
        own = context, fitted.classifier, self.terms.requirement
        super().__init__(*own, options, self.terms.limits, X, progress)
        refuse_contradiction(self.terms.rules, self.factual)
        self._typical = TypicalRows.none()
        self._generations = 0
        self._misses = NearestMisses(len(self))

    def run(self) -> Explanations:
        """Explain every row; rows that are open when the call ends early are marked as such."""
        rows = self.rows_to_change()
        reachable = rows[self.fitted.index.sizes[self.target[rows]] > 0]
        try:
            classes = self.target[reachable], self.predicted[reachable]
            self._typical = learn_looks(self.fitted, self.options, reachable, *classes)
            self._explain_all(reachable, self.terms.problem)
            self._let_wait(reachable)
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
            training_hash=fitted.training_hash,
            generations=self._generations,
        )

    def _let_wait(self, reachable: Array) -> None:
        """Search the rows for which nothing else was found once more: now they may wait."""
        rows = self.record.rows_with(Outcome.NOT_FOUND)
        rows = rows[np.isin(rows, reachable)]
        if self.terms.lets_wait:
            self._explain_all(rows, self.terms.waiting_problem)

    def _explain_all(self, rows: Array, pose: Callable[[Query], CounterfactualProblem]) -> None:
        """Explain rows, a chunk at a time."""
        for chunk in self._typical.chunks(rows, self.fitted.chunk_size):
            if len(chunk) and not self.over:
                self._explain(chunk, pose)

    def _explain(self, chunk: Array, pose: Callable[[Query], CounterfactualProblem]) -> None:
        """Explain a chunk, in which a row has the answer that it has alone."""
        likeness = self._typical.likeness_of(chunk)
        posed = replace(pose(self.query(chunk)), likeness=likeness, doubts=self.terms.doubts)
        for part in scanned_alike(posed):
            if not self.over:
                self._explain_posed(posed.take(part), chunk[part])

    def _explain_posed(self, posed: CounterfactualProblem, chunk: Array) -> None:
        """Explain a chunk; rows that have nothing are attempted again under easier terms."""
        goes_on = self.fitted.settings.sparse and self.options.max_evaluations is None
        attempts = plan_attempts(posed, goes_on=goes_on)
        solution: Solution | None = None
        for attempt in attempts:
            problem = attempt.problem(posed, self.limits)
            solution = self._solve(problem, chunk, attempt, solution)
            unsolved = ~solution.is_solved
            if attempt is attempts[-1]:
                unsolved = np.zeros_like(unsolved)
            elif self.over:
                solution = replace(solution, cut_short=solution.cut_short | unsolved)
                unsolved = np.zeros_like(unsolved)
            recorded, surer = ~unsolved, np.zeros_like(unsolved)
            if goes_on and not self.over:
                surer = self._surer_recorded(problem, chunk, solution, attempt)
                recorded, unsolved = recorded & ~surer, unsolved & ~surer
            if not attempt.with_margin and posed.requirement.margin > 0:
                self.record.mark_margin_missed(chunk[solution.is_solved | surer])
            if attempt is attempts[0] and goes_on and not self.over:
                recorded &= ~self._shorter_recorded(problem, chunk, solution, recorded)
            self._record(problem, chunk, solution, recorded)
            if not bool(unsolved.any()):
                break
            again = np.flatnonzero(unsolved)
            posed, chunk = posed.take(again), chunk[again]
            solution = solution.take_population(again)

    def _shorter_recorded(
        self, problem: CounterfactualProblem, chunk: Array, solution: Solution, is_open: Array
    ) -> Array:
        """Search rows whose advice is long for shorter advice; record it where it is closer.

        A call with ``max_changes`` makes the same search where it finds nothing at first, so no
        such call finds what a call without it does not know, unless that is less sure to work.
        Flags ``(i,)`` say where shorter advice was recorded, of the rows that ``is_open (i,)``.
        """
        closer = np.zeros_like(solution.cut_short)
        long = np.flatnonzero(is_open & (solution.n_actions > MAX_SCANNED))
        if problem.max_changes is not None or self.options.pick != "closest" or not len(long):
            return closer
        limited = replace(problem.take(long), max_changes=MAX_SCANNED)
        attempt = Attempt(1, limited=True)
        shorter = self._solve(limited, chunk[long], attempt, solution.take_population(long))
        is_closer = shorter.distance < solution.distance[long]
        closer[long] = is_closer & shorter.is_better_than(solution, long)
        self._record(limited, chunk[long], shorter, closer[long])
        return closer

    def _surer_recorded(
        self, problem: CounterfactualProblem, chunk: Array, solution: Solution, attempt: Attempt
    ) -> Array:
        """Search rows whose advice is shaky for surer advice; record it where it is better.

        Flags ``(i,)`` say where it was.
        """
        surer = np.zeros_like(solution.cut_short)
        is_shaky = solution.missing > 0
        if not problem.asks_for_doubts:
            is_shaky &= solution.is_solved
        shaky = np.flatnonzero(is_shaky)
        if not len(shaky):
            return surer
        part, again = problem.take(shaky), attempt.for_surer()
        other = self._solve(part, chunk[shaky], again, solution.take_population(shaky))
        surer[shaky] = other.is_better_than(solution, shaky)
        self._record(part, chunk[shaky], other, surer[shaky])
        return surer

    def query(self, rows: Array) -> Query:
        """Return what the search needs to know of the rows at some positions."""
        query = self.terms.query(self.factual[rows], self.target[rows], self.raw[rows])
        return replace(query, positions=rows, own=self.predicted[rows])

    def _solve(
        self,
        problem: CounterfactualProblem,
        chunk: Array,
        attempt: Attempt,
        before: Solution | None,
    ) -> Solution:
        frame_rows = FrameRows(chunk, self.raw[chunk], self.layout)
        solution = solve(
            problem,
            frame_rows,
            self.fitted,
            self.options,
            attempt=attempt,
            before=before,
            keep_fronts=self.options.keeps_fronts(len(self)),
            budget_seconds=self.seconds_left,
            progress=self._follow if self.is_followed else None,
        )
        self._generations = max(self._generations, solution.n_generations)
        self.evaluations += solution.n_evaluations
        return self._needed(problem, frame_rows, solution)

    def _needed(
        self, problem: CounterfactualProblem, frame_rows: FrameRows, solution: Solution
    ) -> Solution:
        """Return a solution whose candidates that are shown need all of their actions."""
        if not self.fitted.settings.sparse:
            return solution
        return drop_needless(problem, frame_rows, solution, self.options.n)

    def _record(
        self, problem: CounterfactualProblem, chunk: Array, solution: Solution, recorded: Array
    ) -> None:
        """Record the solution of a chunk for the rows whose flag in ``recorded (i,)`` is set."""
        n, is_solved = self.options.n, solution.is_solved
        unsolved = np.flatnonzero(recorded & ~is_solved)
        # The nearest miss is that of the first search, in which nobody waits.
        self._misses.add(chunk[unsolved], solution.shortlist.misses[unsolved])
        cut_short = solution.cut_short[unsolved]
        self.record.finish(chunk[unsolved[cut_short]], Outcome.OUT_OF_TIME)
        self.record.finish(chunk[unsolved[~cut_short]], Outcome.NOT_FOUND)
        self.record.count_dropped(chunk[recorded], solution.n_dropped(n)[recorded])
        self.note_cut_short(chunk[recorded & solution.cut_short])
        lines = solution.lines_to_show(n)
        lines = lines[recorded[solution.shortlist.owner[lines]]]
        if len(lines):
            described = describe(
                problem,
                FrameRows(chunk, self.raw[chunk], self.layout),
                solution,
                lines,
                self.fitted,
                # A caller who counts the model's answers wants none beyond those of the search.
                is_over=(lambda: self.over) if self.options.max_evaluations is None else None,
                models=self.terms.models,
            )
            self.record.add(described)
        fronts = solution.shortlist.fronts
        self.record.keep_fronts(fronts.renumbered(chunk, recorded & is_solved))

    def _finish_open_rows(self, reachable: Array) -> None:
        """Give every row an outcome and its notes."""
        rows = self.record.open_rows()
        is_reachable = np.isin(rows, reachable)
        self.record.finish(rows[is_reachable], Outcome.OUT_OF_TIME)
        self.record.finish(rows[~is_reachable], Outcome.NOT_FOUND)
        notes = self.fitted.notes_on(self.record.probabilities)
        notes += typical_notes(self._typical, reachable, self.record.rows_with(Outcome.FOUND))
        for noted, text in notes:
            self.record.note(noted, text)

    def _diagnose(self) -> None:
        """Record for rows without a counterfactual what blocks them, or a way that turns up."""
        rows = self.record.rows_with(Outcome.NOT_FOUND)
        search = BlockerSearch()
        try:
            self.report_rows()
            search = search_blockers(self, self.terms, rows, self._misses)
            for found in search.found:
                self._record_found(found)
        except KeyboardInterrupt:
            self.interrupt()
        rows = self.record.rows_with(Outcome.NOT_FOUND)
        for row, diagnosis in diagnose(self, self.terms, rows, self._misses, search).items():
            self.record.diagnose(row, diagnosis)

    def _record_found(self, found: FoundAfterAll) -> None:
        """Record ways within all limits that were found while limits were lifted."""
        frame_rows = FrameRows(found.rows, self.raw[found.rows], self.layout)
        is_open = np.isin(found.rows, self.record.rows_with(Outcome.NOT_FOUND))
        problem = found.problem
        solution = solution_of(problem, frame_rows, found.nearest(is_open))
        solution = self._needed(problem, frame_rows, solution)
        with_margin = replace(problem, requirement=self.terms.requirement)
        firm = solution_of(with_margin, frame_rows, solution.shortlist).is_solved
        self.record.mark_margin_missed(found.rows[solution.is_solved & ~firm])
        self._record(problem, found.rows, solution, solution.is_solved)

    def _follow(self, search: SearchProgress) -> object:
        return self.report(search_progress(search, self.record.n_finished, len(self)))
