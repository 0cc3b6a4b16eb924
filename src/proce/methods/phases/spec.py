"""The terms of a search: fitted parts, limits, rules, efforts and what counts as reached."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

from proce.arrays import Array
from proce.classifier import Classifier, PredictionCache, TrainedNetwork
from proce.explanation.record.counterfactuals import SURE
from proce.methods.calls.options import Options
from proce.methods.calls.rules import BoundRule
from proce.methods.fitting.fitted import FittedParts
from proce.objective import (
    CallLimits,
    Clock,
    CounterfactualProblem,
    Doubt,
    EquationDoubt,
    Limits,
    ModelDoubt,
    Query,
    Requirement,
    pose_query,
)
from proce.schema import Codec
from proce.streams import row_keys


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

    def query(self, factual: Array, target: Array, raw: Array) -> Query:
        """Return what the search needs to know of rows ``(i, f)`` with wanted classes ``(i,)``.

        ``raw`` is the rows in raw units, as they came in.
        """
        fitted = self.fitted
        return pose_query(
            factual,
            target,
            row_keys(factual),
            autoencoder=fitted.autoencoder,
            index=fitted.index,
            n_neighbours=fitted.settings.n_neighbours,
            scm=fitted.scm,
            seed=fitted.seed,
            raw=raw,
        )

    def limits_of(self, factual: Array) -> Limits:
        """Return what rows ``(i, f)`` may become."""
        return self.limits.of_rows(self.fitted.codec, factual)

    @property
    def lets_wait(self) -> bool:
        """Whether anybody may wait: the schema has a feature for it, and the call lets it move."""
        names = self.clock.names & self.limits.varied
        return self.fitted.settings.max_wait_years > 0 and bool(names)

    def waiting_problem(self, query: Query) -> CounterfactualProblem:
        """Return the search problem of a query in which people may also wait."""
        max_years, codec = self.fitted.settings.max_wait_years, self.fitted.codec
        problem = self.problem(query)
        return replace(
            problem,
            clock=self.clock,
            limits=self.clock.open(problem.limits, self.limits, codec, query.factual, max_years),
            effort=self.clock.weigh(problem.effort, max_years),
        )

    @cached_property
    def clock(self) -> Clock:
        """How time moves the features that wait."""
        return Clock.of(self.fitted.codec)

    @cached_property
    def doubts(self) -> tuple[Doubt, ...]:
        """The possible worlds in which advice should work, with the chance that is asked for."""
        doubts: list[Doubt] = []
        if self.fitted.refits is not None:
            doubts.append(EquationDoubt.of(self.fitted.refits, SURE))
        if self.robust is not None:
            doubts.append(ModelDoubt.of(self.models, self.robust))
        return tuple(doubts)

    def problem(self, query: Query) -> CounterfactualProblem:
        """Return the search problem of a query; nobody waits, and nothing is doubted."""
        fitted = self.fitted
        return CounterfactualProblem(
            codec=fitted.codec,
            classifier=fitted.classifier,
            autoencoder=fitted.autoencoder,
            distance=fitted.distance,
            scm=fitted.scm,
            query=query,
            limits=self.limits_of(query.factual),
            mode=fitted.mode,
            gene_map=fitted.gene_map,
            requirement=self.requirement,
            rules=self.rules,
            effort=self.effort,
            max_changes=self.max_changes,
            causal_weight=fitted.settings.causal_weight,
            effect_weight=fitted.settings.effect_weight,
            distance_form=fitted.settings.distance,
            answers=self.answers,
        )


def _table_of(classifier: Classifier, codec: Codec) -> PredictionCache | None:
    """Return an empty table of answers; none for our own networks, which answer as quickly."""
    if isinstance(classifier, TrainedNetwork):
        return None
    return PredictionCache(len(codec.schema), len(classifier.classes))
