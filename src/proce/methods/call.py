"""One call of ``explain``: rows in chunks, each searched, chosen from and checked."""

import logging
import time
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from proce.classifier import decide
from proce.explanation import Change, Context, Explanation, Explanations, Outcome
from proce.methods.choosing import Chosen, choose
from proce.methods.contradiction import refuse_contradiction
from proce.methods.diagnose import diagnose
from proce.methods.fitted import BoundRule, Fitted
from proce.methods.method import Progress, Report
from proce.methods.options import FRONTS_KEPT, Options
from proce.methods.recheck import Checked, checked
from proce.methods.record import provenance
from proce.methods.searching import problem_of, search
from proce.objective import Counterfactuals, Query, Requirement, limits_of, pose
from proce.schema import Layout
from proce.search import SearchProgress, SearchResult, Stop

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
        limits_of(codec, factual[:1], options.vary, options.ranges)  # or a slip would show up late
        options.efforts(codec)
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
            origin=str(graph.origin) if graph else None,
            vary=options.vary,
            ranges={name: tuple(limits) for name, limits in (options.ranges or {}).items()},
            effort=dict(options.effort or {}),
        )
        rules = fitted.bound(options.rules)
        refuse_contradiction([rule for rule, _ in (*fitted.rules, *rules)], factual)
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
                if len(part) and not self.over:
                    self._search(part)
        except KeyboardInterrupt:
            self._interrupted()
        for row, reached in zip(wanted.tolist(), known.tolist(), strict=True):
            if row not in self.items:
                left_over = Outcome.OUT_OF_TIME if reached else Outcome.NOT_FOUND
                self.items[row] = self._without(row, left_over)
        self._diagnose()
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
        for at, row in enumerate(part.tolist()):
            self.items[row] = self._explanation(row, chosen[at], passed[at], met[at], cut_short[at])

    def _found(
        self, problem: Counterfactuals, part: Tensor
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

    def _without(self, row: int, outcome: Outcome, cut_short: bool = False) -> Explanation:
        """Return the explanation of a row that has no counterfactual, or none yet."""
        target = int(self.target[row])
        factual = self.factual[row]
        nothing = factual.new_zeros(0, len(factual))
        notes = _notes(self.fitted, factual)
        if cut_short:
            notes = (*notes, "The search was ended early; more time may find better.")
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
        lost = [row for row, item in self.items.items() if item.outcome is Outcome.NOT_FOUND]
        try:
            self.tell(Progress("search", len(self.items), len(self.items)))
            told = diagnose(self, sorted(lost))
        except KeyboardInterrupt:
            self._interrupted()
            told = diagnose(self, sorted(lost))  # without a search now
        for row, diagnosis in told.items():
            self.items[row] = replace(self.items[row], diagnosis=diagnosis)

    def _interrupted(self) -> None:
        _log.warning("interrupted: %d of %d rows were finished", len(self.items), len(self.raw))
        self.stopped = True

    def tell(self, progress: Progress) -> object:
        """Report how far the call has come; it ends soon where the answer is False."""
        told = self.progress and self.progress(progress)
        self.stopped = self.stopped or told is False
        return told

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


def _notes(fitted: Fitted, factual: Tensor) -> tuple[str, ...]:
    """Return what the reader should know of a row."""
    gone = torch.nonzero(fitted.codec.missing(factual)).flatten().tolist()
    if not gone:
        return ()
    names = ", ".join(fitted.codec.schema.names[at] for at in gone)
    return (f"Missing and so left as they are: {names}.",)
