"""One call of ``explain``: rows in chunks, each searched, chosen from and checked."""

import logging
import time
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from proce.classifier import decide
from proce.explanation import Change, Context, Explanation, Explanations, Outcome
from proce.methods.diagnose import diagnose
from proce.methods.fitted import BoundRule, Fitted
from proce.methods.method import Progress, Report
from proce.methods.options import FRONTS_KEPT, Options
from proce.methods.recheck import Checked, checked
from proce.methods.record import provenance
from proce.methods.searching import Chosen, choose, problem_of, search
from proce.objective import Counterfactuals, Query, Requirement, pose
from proce.schema import Layout
from proce.search import SearchProgress, SearchResult, Stop
from proce.search.stream import folded

_log = logging.getLogger(__name__)
_CUT_SHORT = (Stop.OUT_OF_TIME, Stop.CALLER)


@dataclass(eq=False)
class Call:
    """The work of one call, and how far it has come."""

    fitted: Fitted
    options: Options
    progress: Report | None
    layout: Layout
    factual: Tensor  # (i, f)
    raw: Tensor  # (i, f), in raw units
    rules: tuple[BoundRule, ...]
    context: Context
    chances: Tensor  # (i, k)
    target: Tensor  # (i,)
    began: float = field(default_factory=time.perf_counter)
    items: dict[int, Explanation] = field(default_factory=dict)
    generations: int = 0
    evaluations: int = 0
    stopped: bool = False

    @classmethod
    def open(cls, fitted: Fitted, options: Options, X: Any, progress: Report | None) -> "Call":
        """Read the rows, ask the model about them, and find out what is wanted for each."""
        codec, classifier = fitted.codec, fitted.classifier
        factual, raw = codec.encode(X).contiguous(), codec.read(X)
        chances = classifier.predict_proba(factual)
        target = options.targets(decide(chances, classifier.threshold), classifier)
        margin = 0.0 if options.min_probability else fitted.settings.margin
        needed = Requirement(classifier.threshold, margin, options.min_probability)
        graph = fitted.scm.graph if fitted.scm else None
        context = Context(
            codec,
            classifier.classes,
            needed.probability(len(classifier.classes)),
            graph.edges if graph else (),
            len(fitted.ensemble.members) if fitted.ensemble else 0,
        )
        rules = fitted.bound(options.rules)
        return cls(
            fitted, options, progress, Layout.of(X), factual, raw, rules, context, chances, target
        )

    def run(self) -> Explanations:
        """Explain every row; what is left when time or patience ends is marked."""
        predicted = decide(self.chances, self.fitted.classifier.threshold)
        wanted = torch.nonzero(predicted != self.target).flatten()
        for row in torch.nonzero(predicted == self.target).flatten().tolist():
            self.items[row] = self._without(row, Outcome.ALREADY_TARGET)
        known = self.fitted.index.sizes[self.target[wanted]] > 0
        try:
            for part in torch.split(wanted[known], self.fitted.settings.chunk_size):
                if self.over:
                    break
                self._search(part)
            self._diagnose()
        except KeyboardInterrupt:
            _log.warning("interrupted: %d of %d rows were finished", len(self.items), len(self.raw))
        for row in wanted.tolist():
            if row not in self.items:
                self.items[row] = self._without(row, Outcome.OUT_OF_TIME)
        items = tuple(self.items[row] for row in range(len(self.factual)))
        elapsed = time.perf_counter() - self.began
        record = provenance(self.fitted, self.options, elapsed, self.generations, self.evaluations)
        return Explanations(self.context, items, self.layout, record)

    def _search(self, part: Tensor) -> None:
        """Search the rows at some positions; without the margin where it cannot be had."""
        fitted, options = self.fitted, self.options
        query = self.query(part)
        margin = 0.0 if options.min_probability else fitted.settings.margin
        problem = problem_of(fitted, options, query, self.rules, margin)
        found, chosen, passed = self._found(problem, part)
        lacking = torch.tensor([not bool(each.passed.any()) for each in passed])
        met = ~lacking
        if margin > 0 and bool(lacking.any()) and not self.over:
            again = torch.nonzero(lacking).flatten()
            easier = replace(
                problem.take(again), requirement=replace(problem.requirement, margin=0.0)
            )
            _, more, more_passed = self._found(easier, part[again])
            for at, each, check in zip(again.tolist(), more, more_passed, strict=True):
                chosen[at], passed[at] = each, check
        for at, row in enumerate(part.tolist()):
            cut_short = found.stopped[at] in _CUT_SHORT
            self.items[row] = self._explanation(
                row, chosen[at], passed[at], bool(met[at]), cut_short
            )

    def _found(
        self, problem: Counterfactuals, part: Tensor
    ) -> tuple[SearchResult, list[Chosen], list[Checked]]:
        left = self.seconds_left
        found = search(problem, self.fitted, self.options, left, self._told)
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
            folded(factual.nan_to_num(nan=-9.0)),
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
                self._without(row, outcome, cut_short),
                miss=chosen.miss,
                dropped=len(check.passed),
            )
        keep_front = self.options.keep_front
        if keep_front is None:
            keep_front = len(self.factual) <= FRONTS_KEPT
        looked_at = int(kept[-1]) + 1 if len(kept) == self.options.n else len(check.passed)
        return replace(
            self._without(row, Outcome.FOUND, cut_short),
            rows=chosen.rows[kept],
            changes=chosen.changes[kept],
            probabilities=check.probabilities[kept],
            losses=chosen.losses[kept],
            margin_met=margin_met,
            support=self._support(row, chosen.rows[kept], chosen.changes[kept]),
            front=chosen.front if keep_front else None,
            dropped=int((~check.passed[:looked_at]).sum()),
        )

    def _support(self, row: int, rows: Tensor, changes: Tensor) -> Tensor | None:
        if self.fitted.ensemble is None:
            return None
        by_hand = (changes == Change.ACTION) | (changes == Change.HOLD)
        factual = self.factual[row : row + 1]
        return self.fitted.ensemble.support(factual, rows[None], by_hand[None])[0]

    def _without(self, row: int, outcome: Outcome, cut_short: bool = False) -> Explanation:
        """Return the explanation of a row that has no counterfactual, or none yet."""
        target = int(self.target[row])
        factual = self.factual[row]
        nothing = factual.new_zeros(0, len(factual))
        notes = _notes(self.fitted, factual)
        if cut_short:
            notes = (*notes, "The time limit ended the search early; more time may find better.")
        return Explanation(
            context=self.context,
            row=row,
            factual=factual,
            raw=self.raw[row],
            predicted=int(decide(self.chances[row], self.fitted.classifier.threshold)),
            target=target,
            probability=float(self.chances[row, target]),
            outcome=outcome,
            rows=nothing,
            changes=nothing.to(torch.int8),
            probabilities=factual.new_zeros(0),
            losses=factual.new_zeros(0, 3),
            notes=notes,
        )

    def _diagnose(self) -> None:
        """Say for rows without a counterfactual what blocks them, the first ones in full."""
        hopeless = self.fitted.index.sizes[self.target] == 0
        for row in torch.nonzero(hopeless).flatten().tolist():
            if row not in self.items:
                self.items[row] = self._without(row, Outcome.NOT_FOUND)
        lost = [row for row, item in self.items.items() if item.outcome is Outcome.NOT_FOUND]
        told = diagnose(self, sorted(lost))
        for row, diagnosis in told.items():
            self.items[row] = replace(self.items[row], diagnosis=diagnosis)

    @property
    def seconds_left(self) -> float | None:
        """What is left of the time limit, or None without one."""
        if self.options.budget_seconds is None:
            return None
        return max(0.0, self.options.budget_seconds - (time.perf_counter() - self.began))

    @property
    def over(self) -> bool:
        """Whether the call must end now."""
        left = self.seconds_left
        return self.stopped or (left is not None and left <= 0)

    def _told(self, search: SearchProgress) -> object:
        if self.progress is None:
            return None
        losses = search.best_losses[search.best_losses[:, 0].isfinite()]
        told = self.progress(
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
        self.stopped = self.stopped or told is False
        return told


def _notes(fitted: Fitted, factual: Tensor) -> tuple[str, ...]:
    """Return what the reader should know of a row."""
    gone = torch.nonzero(fitted.codec.missing(factual)).flatten().tolist()
    if not gone:
        return ()
    names = ", ".join(fitted.codec.schema.names[at] for at in gone)
    return (f"Missing and so left as they are: {names}.",)
