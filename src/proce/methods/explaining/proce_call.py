"""One call of ProCE: rows in chunks, each searched, shortlisted, checked and recorded."""

from dataclasses import asdict, replace
from typing import Any

import torch
from torch import Tensor

from proce.explanation import Context, Counterfactuals, Explanations, Fronts, Outcome
from proce.losses import Loss
from proce.methods.calls.call import Call, call_context
from proce.methods.calls.method import Progress, ProgressCallback
from proce.methods.calls.options import Options
from proce.methods.calls.rules import refuse_contradiction
from proce.methods.explaining.contributions import (
    contributions,
    graphs_supporting,
    refits_reached,
)
from proce.methods.explaining.diagnosis import diagnose
from proce.methods.explaining.solve import Frame, Solved, solve
from proce.methods.explaining.terms import SearchTerms
from proce.methods.fitting.fitted import Fitted
from proce.objective import CounterfactualProblem
from proce.search import SearchProgress

_NO_TRAINING_ROWS = (
    "The explainer was saved without its training rows: the search started from noise around the"
    " row alone, and may have missed better ways."
)


class ProceCall(Call):
    """The work of one call of ProCE, and how far it has come.

    Parameters
    ----------
    fitted
        What ProCE has learned.
    options, X, progress
        As for :class:`~proce.methods.calls.call.Call`.
    """

    def __init__(
        self, fitted: Fitted, options: Options, X: Any, progress: ProgressCallback | None = None
    ) -> None:
        self.fitted = fitted
        self.terms = SearchTerms.read(fitted, options)
        context = _context(self.terms, options)
        super().__init__(context, fitted.classifier, options, self.terms.limits, X, progress)
        refuse_contradiction(self.terms.rules, self.factual)
        self._generations = 0
        self._misses: dict[int, Tensor] = {}

    def run(self) -> Explanations:
        """Explain every row; what is left when time or patience ends is marked."""
        rows = self.rows_to_change()
        reachable = rows[self.fitted.index.sizes[self.target[rows]] > 0]
        try:
            for chunk in torch.split(reachable, self.fitted.settings.chunk_size):
                if len(chunk) and not self.over:
                    self._explain(chunk)
        except KeyboardInterrupt:
            self.interrupt()
        self._finish_open_rows(reachable)
        self._diagnose()
        fitted = self.fitted
        return self.result(
            method="ProCE",
            seed=fitted.seed,
            settings=asdict(fitted.settings),
            mode=fitted.mode,
            graph=None if fitted.scm is None else str(fitted.scm.graph.origin),
            training_rows=fitted.n_rows,
            training_hash=fitted.training_hash,
            generations=self._generations,
        )

    def _explain(self, chunk: Tensor) -> None:
        """Explain the rows at some positions; without the margin where it cannot be had."""
        problem = self.terms.problem(self.terms.query(self.factual[chunk], self.target[chunk]))
        solved = self._solve(problem, chunk)
        lacking = ~solved.found & (problem.requirement.margin > 0)
        if self.over:
            solved = replace(solved, cut_short=solved.cut_short | lacking)
            lacking = torch.zeros_like(lacking)
        self._record(problem, chunk, solved, ~lacking)
        if bool(lacking.any()):
            again = torch.nonzero(lacking).flatten()
            decision = replace(problem.requirement, margin=0.0)
            easier = replace(problem.take(again), requirement=decision)
            solved = self._solve(easier, chunk[again])
            self.record.miss_margin(chunk[again][solved.found])
            self._record(easier, chunk[again], solved, torch.ones_like(solved.cut_short))

    def _solve(self, problem: CounterfactualProblem, chunk: Tensor) -> Solved:
        frame = Frame(chunk, self.raw[chunk], self.layout)
        solved = solve(
            problem, frame, self.fitted, self.options, self.seconds_left, self._report_search
        )
        self._generations = max(self._generations, solved.n_generations)
        self.evaluations += solved.n_evaluations
        return solved

    def _record(
        self, problem: CounterfactualProblem, chunk: Tensor, solved: Solved, recorded: Tensor
    ) -> None:
        """Record what was found for some rows of a chunk, ``recorded (i,)`` being flags."""
        n, found = self.options.n, solved.found
        without = torch.nonzero(recorded & ~found).flatten()
        for instance in without.tolist():
            self._misses[int(chunk[instance])] = solved.shortlist.misses[instance]
        cut_short = solved.cut_short[without]
        self.record.finish(chunk[without[cut_short]], Outcome.OUT_OF_TIME)
        self.record.finish(chunk[without[~cut_short]], Outcome.NOT_FOUND)
        self.record.drop(chunk[recorded], solved.n_dropped(n)[recorded])
        self.note_cut_short(chunk[recorded & solved.cut_short])
        lines = solved.lines_to_show(n)
        lines = lines[recorded[solved.shortlist.owner[lines]]]
        if len(lines):
            self.record.add(self._counterfactuals(problem, chunk, solved, lines))
        if self.options.keeps_fronts(len(self)):
            fronts = solved.shortlist.fronts
            kept = (recorded & found)[fronts.owner]
            self.record.keep_fronts(
                Fronts(chunk[fronts.owner[kept]], fronts.rows[kept], fronts.losses[kept])
            )

    def _counterfactuals(
        self, problem: CounterfactualProblem, chunk: Tensor, solved: Solved, lines: Tensor
    ) -> Counterfactuals:
        """Return some lines of a shortlist with all that a person is told about them."""
        shortlist, fitted = solved.shortlist, self.fitted
        owner = shortlist.owner[lines]
        part = problem.take(owner)  # an instance for each counterfactual
        rows, changes = shortlist.rows[lines], shortlist.changes[lines]
        probabilities = solved.check.probabilities[lines]
        return Counterfactuals.of(
            chunk[owner],
            rows,
            changes,
            probabilities,
            shortlist.losses[lines],
            expected=shortlist.expected[lines],
            contributions=contributions(part, rows, changes, probabilities),
            support=graphs_supporting(part, rows, changes, fitted.ensemble),
            refits=refits_reached(part, rows, changes, fitted.refits),
        )

    def _finish_open_rows(self, reachable: Tensor) -> None:
        """Give every row an outcome, and the notes that all rows get."""
        rows = self.record.open_rows()
        searched = torch.isin(rows, reachable)
        self.record.finish(rows[searched], Outcome.OUT_OF_TIME)
        self.record.finish(rows[~searched], Outcome.NOT_FOUND)
        if self.fitted.left_out is not None:
            for row in range(len(self)):
                self.record.note(row, _NO_TRAINING_ROWS)

    def _diagnose(self) -> None:
        """Say for rows without a counterfactual what blocks them, the first ones in full."""
        rows = self.record.rows_that_ended(Outcome.NOT_FOUND).tolist()
        try:
            self.report_rows()
            diagnoses = diagnose(self, self.terms, rows, self._misses)
        except KeyboardInterrupt:
            self.interrupt()
            diagnoses = diagnose(self, self.terms, rows, self._misses)  # without a search now
        for row, diagnosis in diagnoses.items():
            self.record.diagnose(row, diagnosis)

    def _report_search(self, search: SearchProgress) -> object:
        losses = search.best_losses[search.best_losses[:, Loss.PREDICTION].isfinite()]
        return self.report(
            Progress(
                "search",
                self.record.n_finished,
                len(self),
                search.generation,
                float((-losses[:, Loss.PREDICTION]).exp().mean()),
                float(losses[:, Loss.DISTANCE].mean()),
                float(search.front_size.double().mean()),
            )
        )


def _context(terms: SearchTerms, options: Options) -> Context:
    """Return what all explanations of a call share."""
    fitted = terms.fitted
    graph = fitted.scm.graph if fitted.scm else None
    return replace(
        call_context(fitted.codec, fitted.classifier, options, terms.limits, terms.requirement),
        edges=graph.edges if graph else (),
        n_graphs=len(fitted.ensemble.members) if fitted.ensemble else 0,
        n_refits=len(fitted.refits.members) if fitted.refits else 0,
        origin=str(graph.origin) if graph else None,
        spread=fitted.spread,
    )
