"""One search problem of many instances: each is a row with one of its limits lifted."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from proce.methods.diagnosing.lifted_limits import LiftedLimit
from proce.methods.searching.terms import SearchTerms
from proce.objective import CounterfactualProblem, Limits, Query
from proce.objective.terms import OwnTerms, most_changes
from proce.schema import Action


def relax(terms: SearchTerms, lifted: Sequence[LiftedLimit], query: Query) -> CounterfactualProblem:
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
    shared = replace(
        terms,
        fitted=fitted,
        max_changes=None,
        requirement=replace(terms.requirement, margin=0.0, min_probability=None),
    )
    return replace(
        shared.problem(query.take(np.tile(np.arange(n_rows), len(lifted)))),
        limits=Limits(*columns),
        own_terms=_own_terms(terms, lifted).take(np.repeat(np.arange(len(lifted)), n_rows)),
    )


def _own_terms(terms: SearchTerms, lifted: Sequence[LiftedLimit]) -> OwnTerms:
    """Return what binds a row with each of the limits lifted."""
    each = [limit.terms.without_margin() for limit in lifted]
    obeyed = [[any(bound is other for other in own.rules) for bound in terms.rules] for own in each]
    return OwnTerms(
        np.array([most_changes(own.max_changes) for own in each]),
        np.array([own.requirement.line for own in each]),
        np.array(obeyed, np.bool_).reshape(len(each), -1),
    )


def follows_when_freed(limit: LiftedLimit) -> bool:
    """Whether lifting the limit changes what follows from what: a fixed effect has its causes back.

    Such a limit cannot share its equations with others.
    """
    scm = limit.terms.fitted.scm
    return limit.kind == Action.FIXED and scm is not None and limit.name in scm.graph.endogenous
