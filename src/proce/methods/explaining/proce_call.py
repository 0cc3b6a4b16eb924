"""One call of ``explain``: rows in chunks, each searched, chosen from and checked."""

from dataclasses import asdict, dataclass, replace
from typing import Any

import torch
from torch import Tensor

from proce.explanation import Change, Explanation, Explanations, Outcome
from proce.methods.calls.call import Call
from proce.methods.calls.method import Progress, ProgressCallback
from proce.methods.calls.options import FRONTS_KEPT, Options
from proce.methods.calls.rules import refuse_contradiction
from proce.methods.explaining.contributions import weighed
from proce.methods.explaining.diagnosis import diagnose
from proce.methods.explaining.last_check import Checked, checked
from proce.methods.explaining.problem import problem_of, search
from proce.methods.explaining.shortlist import Chosen, choose
from proce.methods.fitting.fitted import BoundRule, Fitted
from proce.objective import CounterfactualProblem, Query, pose
from proce.search import SearchProgress, SearchResult, Stop

_CUT_SHORT = (Stop.OUT_OF_TIME, Stop.CALLER)
_NO_ROWS = (
    "The explainer was saved without its training rows: the search started from noise around the"
    " row alone, and may have missed better ways."
)


@dataclass(eq=False, kw_only=True)
class ProceCall(Call):
    """The work of one call of ProCE, and how far it has come."""

    fitted: Fitted
    rules: tuple[BoundRule, ...]
    generations: int = 0

    @classmethod
    def open(
        cls, fitted: Fitted, options: Options, X: Any, progress: ProgressCallback | None
    ) -> "ProceCall":
        """Read the rows, ask the model about them, and find out what is wanted for each."""
        options.efforts(fitted.codec)  # or a slip would show up late
        margin = 0.0 if options.min_probability else fitted.settings.margin
        graph = fitted.scm.graph if fitted.scm else None
        asked = Call.read(
            fitted.codec,
            fitted.classifier,
            options,
            X,
            progress,
            margin=margin,
            edges=graph.edges if graph else (),
            n_graphs=len(fitted.ensemble.members) if fitted.ensemble else 0,
            n_refits=len(fitted.refits.members) if fitted.refits else 0,
            origin=str(graph.origin) if graph else None,
            spread=fitted.spread,
        )
        rules = fitted.bound(options.rules)
        refuse_contradiction([rule for rule, _ in (*fitted.rules, *rules)], asked["factual"])
        return cls(**asked, fitted=fitted, rules=rules)

    def run(self) -> Explanations:
        """Explain every row; what is left when time or patience ends is marked."""
        wanted = self.settle()
        known = self.fitted.index.sizes[self.target[wanted]] > 0
        try:
            for part in torch.split(wanted[known], self.fitted.settings.chunk_size):
                if len(part) and not self.over:
                    self._search(part)
        except KeyboardInterrupt:
            self.interrupted()
        for row, reached in zip(wanted.tolist(), known.tolist(), strict=True):
            if row not in self.items:
                left_over = Outcome.OUT_OF_TIME if reached else Outcome.NOT_FOUND
                self.items[row] = self.without(row, left_over)
        self._diagnose()
        fitted = self.fitted
        return self.closed(
            method="ProCE",
            seed=fitted.seed,
            settings=asdict(fitted.settings),
            mode=fitted.mode,
            graph=None if fitted.scm is None else str(fitted.scm.graph.origin),
            training_rows=fitted.n_rows,
            training_hash=fitted.training_hash,
            generations=self.generations,
        )

    def without(self, row: int, outcome: Outcome, cut_short: bool = False) -> Explanation:
        """Return the explanation of a row that has no counterfactual, or none yet."""
        item = super().without(row, outcome, cut_short)
        if self.fitted.left_out is None:
            return item
        return replace(item, notes=(*item.notes, _NO_ROWS))

    def _search(self, part: Tensor) -> None:
        """Search the rows at some positions; without the margin where it cannot be had."""
        fitted, options = self.fitted, self.options
        query = self.query(part)
        margin = 0.0 if options.min_probability else fitted.settings.margin
        problem = problem_of(fitted, options, query, self.rules, margin)
        found, chosen, passed = self._found(problem, part)
        cut_short = [stop in _CUT_SHORT for stop in found.stopped]
        met = [bool(each.passed.any()) for each in passed]
        lacking = torch.tensor([at for at, fine in enumerate(met) if not fine and margin > 0])
        if len(lacking) and self.over:
            for at in lacking.tolist():
                cut_short[at] = True
        elif len(lacking):
            easier = replace(
                problem.take(lacking), requirement=replace(problem.requirement, margin=0.0)
            )
            again, more, more_passed = self._found(easier, part[lacking])
            for at, each, check, stop in zip(
                lacking.tolist(), more, more_passed, again.stopped, strict=True
            ):
                chosen[at], passed[at], cut_short[at] = each, check, stop in _CUT_SHORT
        made = [
            self._explanation(row, chosen[at], passed[at], met[at], cut_short[at])
            for at, row in enumerate(part.tolist())
        ]
        self.items.update(zip(part.tolist(), weighed(problem, made, fitted.refits), strict=True))

    def _found(
        self, problem: CounterfactualProblem, part: Tensor
    ) -> tuple[SearchResult, list[Chosen], list[Checked]]:
        left = self.seconds_left
        found = search(problem, part, self.fitted, self.options, left, self._told)
        self.generations = max(self.generations, int(found.n_generations.max()))
        self.evaluations += int(found.n_evaluations.sum())
        chosen = choose(problem, found, self.options, self.fitted.refits)
        return found, chosen, checked(problem, chosen, self.layout, self.raw[part])

    def query(self, part: Tensor) -> Query:
        """Pose the query of the rows at some positions."""
        fitted = self.fitted
        factual = self.factual[part]
        return pose(
            factual,
            self.target[part],
            fitted.keys(factual),
            autoencoder=fitted.autoencoder,
            index=fitted.index,
            n_neighbours=fitted.settings.n_neighbours,
            scm=fitted.scm,
            seed=fitted.seed,
        )

    def _explanation(
        self, row: int, chosen: Chosen, check: Checked, margin_met: bool, cut_short: bool
    ) -> Explanation:
        kept = torch.nonzero(check.passed).flatten()[: self.options.n]
        if not len(kept):
            outcome = Outcome.OUT_OF_TIME if cut_short else Outcome.NOT_FOUND
            return replace(
                self.without(row, outcome, cut_short),
                miss=chosen.miss,
                dropped=len(check.passed),
            )
        keep_front = self.options.keep_front
        if keep_front is None:
            keep_front = len(self.factual) <= FRONTS_KEPT
        looked_at = int(kept[-1]) + 1 if len(kept) == self.options.n else len(check.passed)
        return replace(
            self.without(row, Outcome.FOUND, cut_short),
            rows=chosen.rows[kept],
            changes=chosen.changes[kept],
            probabilities=check.probabilities[kept],
            losses=chosen.losses[kept],
            expected=chosen.expected[kept],
            margin_met=margin_met,
            support=self._support(row, chosen.rows[kept], chosen.changes[kept]),
            front=chosen.front if keep_front else None,
            dropped=int((~check.passed[:looked_at]).sum()),
        )

    def _support(self, row: int, rows: Tensor, changes: Tensor) -> Tensor | None:
        if self.fitted.ensemble is None:
            return None
        by_hand = (changes == Change.ACTION) | (changes == Change.HOLD)
        factual, seed = self.factual[row : row + 1], self.fitted.seed
        keys = self.fitted.keys(factual)
        ensemble = self.fitted.ensemble
        return ensemble.support(factual, rows[None], by_hand[None], seed=seed, keys=keys)[0]

    def _diagnose(self) -> None:
        """Say for rows without a counterfactual what blocks them, the first ones in full."""
        lost = [row for row, item in self.items.items() if item.outcome is Outcome.NOT_FOUND]
        try:
            self.tell(Progress("search", len(self.items), len(self.items)))
            told = diagnose(self, sorted(lost))
        except KeyboardInterrupt:
            self.interrupted()
            told = diagnose(self, sorted(lost))  # without a search now
        for row, diagnosis in told.items():
            self.items[row] = replace(self.items[row], diagnosis=diagnosis)

    def _told(self, search: SearchProgress) -> object:
        losses = search.best_losses[search.best_losses[:, 0].isfinite()]
        return self.tell(
            Progress(
                "search",
                len(self.items),
                len(self.factual),
                search.generation,
                float((-losses[:, 0]).exp().mean()),
                float(losses[:, 2].mean()),
                float(search.front_size.double().mean()),
            )
        )
