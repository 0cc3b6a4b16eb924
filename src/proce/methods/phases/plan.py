"""The plan of a call: its terms, and which searches a row gets in which order.

A row for which nothing is found is searched again under easier terms: with the limit on changes
known to the search, without the margin, and over all that was seen in training rather than over the
bulk of it. Each search goes on from where the one before ended. A row whose advice is not sure to
work is searched a second time at once, for advice that is; one whose advice is long, for shorter
advice. The plan is a list: its length bounds the work.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, Self

import numpy as np

from proce.arrays import Array, Flags
from proce.classifier import Classifier, PredictionCache, TrainedNetwork
from proce.compiled.streams import row_keys
from proce.explanation.record.counterfactuals import SURE
from proce.methods.calls.call import BoundRule
from proce.methods.calls.options import Options
from proce.methods.fitting.fitted import FittedParts
from proce.methods.fitting.settings import SearchSettings
from proce.methods.phases.check import Solution
from proce.methods.phases.scan import MAX_SCANNED
from proce.objective import (
    CallLimits,
    Clock,
    CounterfactualProblem,
    EquationUncertainty,
    InstanceBatch,
    Limits,
    ModelUncertainty,
    Requirement,
    Start,
    UncertaintySet,
)
from proce.objective.waiting import STILL
from proce.schema import Codec


@dataclass(frozen=True, eq=False)
class CallSpec:
    """What an explainer and the options of a call say about the search; read and checked once."""

    fitted: FittedParts  # what ProCE has learned
    limits: CallLimits  # what may move, and how far
    rules: tuple[BoundRule, ...]  # the rules of the explainer, then those of the call
    effort: Array  # (f,), how hard a change of each feature is
    requirement: Requirement  # what counts as reaching the target
    max_changes: int | None  # the most actions and holds of a counterfactual, or None
    # the other models under which a counterfactual should keep its class
    models: tuple[Classifier, ...] = ()
    robust: float | None = None  # the share of these models under which it must do so, or None
    # what the explained model has answered in this call; None where it is quicker to ask
    answers: PredictionCache | None = None

    @classmethod
    def read(cls, fitted: FittedParts, options: Options, models: Sequence[Classifier] = ()) -> Self:
        """Read the terms of a call from the explainer and the options."""
        return cls(
            fitted=fitted,
            limits=CallLimits.read(fitted.codec, options.vary, options.ranges),
            rules=(*fitted.rules, *fitted.bind(options.rules)),
            effort=options.effort_weights(fitted.codec),
            requirement=options.requirement(fitted.classifier, fitted.settings.margin),
            max_changes=options.max_changes,
            models=tuple(models),
            robust=options.robust,
            answers=_table_of(fitted.classifier, fitted.codec),
        )

    def without_margin(self) -> Self:
        """Return the terms under which the decision itself is enough."""
        return replace(self, requirement=self.requirement.without_margin())

    def batch(
        self,
        factual: Array,
        target: Array,
        raw: Array,
        positions: Array | None = None,
        own: Array | None = None,
    ) -> InstanceBatch:
        """Return what the search needs to know of rows ``(i, f)`` with wanted classes ``(i,)``.

        The last three are as in an `InstanceBatch`.
        """
        fitted = self.fitted
        return InstanceBatch.of(
            factual,
            target,
            row_keys(factual),
            autoencoder=fitted.autoencoder,
            index=fitted.index,
            n_neighbours=fitted.settings.n_neighbours,
            scm=fitted.scm,
            refits=fitted.refits,
            seed=fitted.seed,
            raw=raw,
            positions=positions,
            own=own,
        )

    @property
    def lets_wait(self) -> bool:
        """Whether anybody may wait: the schema has a feature for it, and the call lets it move."""
        names = Clock.of(self.fitted.codec).names & self.limits.varied
        return self.fitted.settings.max_wait_years > 0 and bool(names)

    @property
    def uncertainty(self) -> tuple[UncertaintySet, ...]:
        """The possible worlds in which advice should work, with the chance that is asked for."""
        sets: list[UncertaintySet] = []
        if self.fitted.refits is not None:
            sets.append(EquationUncertainty(self.fitted.refits, SURE))
        if self.robust is not None:
            sets.append(ModelUncertainty.of(self.models, self.robust))
        return tuple(sets)

    def problem(self, batch: InstanceBatch) -> CounterfactualProblem:
        """Return the search problem of some rows; nobody waits, and nothing is uncertain."""
        limits = self.limits.of_rows(self.fitted.codec, batch.factual)
        return self._pose(batch, limits, self.effort, STILL)

    def waiting_problem(self, batch: InstanceBatch) -> CounterfactualProblem:
        """Return the search problem of some rows in which people may also wait."""
        max_years, codec = self.fitted.settings.max_wait_years, self.fitted.codec
        clock, limits = Clock.of(codec), self.limits.of_rows(codec, batch.factual)
        limits = clock.open(limits, self.limits, codec, batch.factual, max_years)
        return self._pose(batch, limits, clock.weigh(self.effort, max_years), clock)

    def _pose(
        self, batch: InstanceBatch, limits: Limits, effort: Array, clock: Clock
    ) -> CounterfactualProblem:
        fitted = self.fitted
        return CounterfactualProblem.of(
            codec=fitted.codec,
            classifier=fitted.classifier,
            autoencoder=fitted.autoencoder,
            distance=fitted.facts.distance,
            scm=fitted.scm,
            batch=batch,
            limits=limits,
            mode=fitted.mode,
            gene_map=fitted.gene_map,
            requirement=self.requirement,
            rules=self.rules,
            effort=effort,
            max_changes=self.max_changes,
            causal_weight=fitted.settings.causal_weight,
            effect_weight=fitted.settings.effect_weight,
            distance_form=fitted.settings.distance,
            clock=clock,
            answers=self.answers,
        )


def _table_of(classifier: Classifier, codec: Codec) -> PredictionCache | None:
    """Return an empty table of answers; none for our own networks, which answer as quickly."""
    if isinstance(classifier, TrainedNetwork):
        return None
    return PredictionCache(len(codec.schema), len(classifier.classes))


_N_SEEDS = 4  # of the attempts at a row that do not ask for more certainty


@dataclass(frozen=True)
class Attempt:
    """One search of some rows."""

    number: int = 0  # how many attempts were made before; each draws random numbers of its own
    # Whether the search knows the limit on changes. One that does not keeps what obeys the limit of
    # all that it finds.
    limited: bool = False
    with_margin: bool = True  # whether the target must be passed by the margin
    # whether actions may lead to all that was seen in training, not only to where most people are
    anywhere: bool = False
    # whether what is found must be sure to work in the possible worlds of the problem's uncertainty
    robust: bool = False
    # The rows that are searched: open, those without advice; shaky, those whose advice from the
    # attempt before is not sure to work; long, those whose advice has many actions. What is found
    # for the last two counts where it beats what they have.
    whose: Literal["open", "shaky", "long"] = "open"
    # the most actions and holds, where the attempt has a limit of its own
    max_changes: int | None = None

    def for_robustness(self) -> "Attempt":
        """Return a second attempt under the same terms, for advice that is sure to work.

        The way that is sure may lead elsewhere, so that the search starts anywhere.
        """
        return replace(self, number=self.number + _N_SEEDS, robust=True, whose="shaky")

    def start(self, usual: Start) -> Start:
        """Return where the search of this attempt starts, given where searches start.

        Where nothing was found near the row, the ways that there are may be far from it, and what
        is lacking may lead away from them.
        """
        if usual == "gaussian":
            return usual
        return "anywhere" if self.robust or not self.with_margin else usual

    def settings(self, settings: SearchSettings) -> SearchSettings:
        """Return the settings of the search: every further attempt is shorter.

        One that knows the limit on changes has few ways left to look at, and one for surer advice
        is dear: it tries every candidate in many worlds.
        """
        if self.number == 0:
            return settings
        n_generations = settings.n_generations // (4 if self.limited or self.robust else 2)
        return replace(settings, n_generations=max(1, n_generations))

    def rows_of(
        self, solution: Solution, is_settled: Flags, problem: CounterfactualProblem
    ) -> Array:
        """Return which rows of a problem and its solution this attempt is for, as positions."""
        if self.whose == "shaky":
            is_asked = np.full_like(is_settled, problem.requires_robustness)
            return np.flatnonzero((solution.robustness_gap > 0) & (is_asked | solution.is_solved))
        assert self.whose == "long", "who has nothing is known"
        return np.flatnonzero(~is_settled & (solution.n_actions > MAX_SCANNED))

    def counts(self, other: Solution, solution: Solution, rows: Array) -> Flags:
        """Return where what this attempt found beats what ``rows (i,)`` of a solution have."""
        is_better = other.is_better_than(solution, rows)
        return (
            is_better & (other.distance < solution.distance[rows])
            if self.whose == "long"
            else is_better
        )

    def pose(self, problem: CounterfactualProblem, limits: CallLimits) -> CounterfactualProblem:
        """Return the problem of this attempt at the rows of a problem with the limits of a call."""
        if not self.with_margin:
            problem = problem.with_requirement(problem.requirement.without_margin())
        if self.anywhere:
            factual = problem.batch.factual
            problem = problem.with_limits(limits.widened().of_rows(problem.codec, factual))
        if self.max_changes is not None:
            problem = problem.with_max_changes(self.max_changes)
        return problem


FIRST = Attempt()


def plan_attempts(
    problem: CounterfactualProblem, *, goes_on: bool, shortens: bool = False
) -> list[Attempt]:
    """Return the attempts at the rows of a problem, in their order."""
    limited, has_margin = problem.max_changes is not None, problem.requirement.margin > 0
    if problem.clock.names:  # who waits has tried all else before
        attempts = [Attempt(1, limited)]
        if has_margin:
            attempts.append(Attempt(2, limited, with_margin=False))
    else:
        attempts = [Attempt(limited=limited and not goes_on)]
        if limited and goes_on:
            attempts.append(Attempt(len(attempts), limited))
        if has_margin:
            attempts.append(Attempt(len(attempts), limited, with_margin=False))
        if goes_on:
            attempts.append(Attempt(len(attempts), limited, with_margin=False, anywhere=True))
    if not goes_on:
        return attempts
    plan = [turn for attempt in attempts for turn in (attempt, attempt.for_robustness())]
    if shortens and not limited:
        plan.insert(2, Attempt(1, limited=True, whose="long", max_changes=MAX_SCANNED))
    return plan
