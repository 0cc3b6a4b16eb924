"""One search problem of many instances: each is a row with one of its limits lifted."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from proce.arrays import Array
from proce.causal import Actions
from proce.compiled.elementary import exponentials
from proce.losses import Loss
from proce.methods.calls.rules import BoundRule
from proce.methods.diagnosing.lifted_limits import LiftedLimit
from proce.methods.searching.terms import SearchTerms
from proce.objective import CounterfactualProblem, Limits, Query, genome_of
from proce.schema import Action
from proce.search import Evaluation, Genome


@dataclass(frozen=True, eq=False)
class RelaxedProblem:
    """The problem of rows times lifted limits, in which rules and other bounds differ by instance.

    Attributes
    ----------
    problem
        The rows, once for each lifted limit, and where their features may end; without rules, a
        number of changes or a probability asked for.
    rules, obeyed
        All rules, and ``(i, r)``, which of them an instance must obey.
    max_changes
        ``(i,)``, the most actions and holds; infinite where nobody asks.
    min_probability
        ``(i,)``, the probability asked for; 0 where nobody asks.
    """

    problem: CounterfactualProblem
    rules: tuple[BoundRule, ...]
    obeyed: Array
    max_changes: Array
    min_probability: Array

    def __len__(self) -> int:
        return len(self.obeyed)

    @cached_property
    def genome(self) -> Genome:
        """What the search may change."""
        problem = self.problem
        return genome_of(problem.codec, problem.query.factual, problem.limits, problem.gene_map)

    def take(self, instances: Array) -> Self:
        """Return the problem of some of the instances, given by position."""
        return replace(
            self,
            problem=self.problem.take(instances),
            obeyed=self.obeyed[instances],
            max_changes=self.max_changes[instances],
            min_probability=self.min_probability[instances],
        )

    def __call__(self, genes: Array, instances: Array) -> Evaluation:
        """Evaluate genes ``(i, c, g)`` of the instances at these positions."""
        part = self.take(instances)
        return part.score(part.problem.realise(genes))

    def score(self, realised: Actions) -> Evaluation:
        """Return the losses and the violation of realised rows."""
        evaluation = self.problem.score(realised)
        violation = evaluation.violation
        violation = violation + np.maximum((realised.count - self.max_changes[:, None]), 0)
        chance = exponentials(-evaluation.losses[..., Loss.PREDICTION])
        violation = violation + np.maximum((self.min_probability[:, None] - chance), 0)
        for number, (rule, mechanisms) in enumerate(self.rules):
            bound = self.obeyed[:, number]
            if bool(bound.any()):
                lacking = rule.violation(self.problem.query.factual, realised.point, mechanisms)
                violation = violation + np.where(bound[:, None], lacking, 0.0)
        return Evaluation(evaluation.losses, violation)


def relax(terms: SearchTerms, lifted: Sequence[LiftedLimit], query: Query) -> RelaxedProblem:
    """Return the problem of every row with every limit lifted, the rows of one limit together.

    Parameters
    ----------
    terms
        The terms under which nothing was found.
    lifted
        The limits; of those that :func:`follows_when_freed` there may be one only, and no other.
    query
        The rows.
    """
    n_rows = len(query.factual)
    freed = [limit.name for limit in lifted if limit.kind in (Action.FIXED, Action.INDIRECT)]
    schema = terms.fitted.codec.schema
    fitted = terms.fitted.with_schema(schema.edit(freed, action=Action.FREE) if freed else schema)
    per_limit = [limit.terms.limits_of(query.factual) for limit in lifted]
    columns = (
        np.concatenate([getattr(limits, name) for limits in per_limit])
        for name in Limits.__dataclass_fields__
    )
    decision = terms.requirement.without_margin()
    unbound = replace(
        terms,
        fitted=fitted,
        rules=(),
        max_changes=None,
        requirement=replace(decision, min_probability=None),
    )
    problem = replace(
        unbound.problem(query.take(np.tile(np.arange(n_rows), len(lifted)))),
        limits=Limits(*columns),
        gene_map=fitted.gene_map,
    )
    kept = [
        [any(bound is other for other in limit.terms.rules) for bound in terms.rules]
        for limit in lifted
    ]
    most = [limit.terms.max_changes for limit in lifted]
    least = [limit.terms.requirement.min_probability for limit in lifted]
    return RelaxedProblem(
        problem,
        terms.rules,
        np.repeat(np.array(kept, dtype=np.bool_), n_rows, axis=0),
        np.repeat(
            np.array([np.inf if count is None else count for count in most], dtype=np.float64),
            n_rows,
        ),
        np.repeat(np.array([chance or 0.0 for chance in least], dtype=np.float64), n_rows),
    )


def follows_when_freed(limit: LiftedLimit) -> bool:
    """Whether lifting the limit changes what follows from what: a fixed effect has its causes back.

    Such a limit cannot share its equations with others.
    """
    scm = limit.terms.fitted.scm
    return limit.kind == Action.FIXED and scm is not None and limit.name in scm.graph.endogenous
