"""Plain ways that a lifted limit opens, for rows in which the search over all limits saw none.

That search is short and keeps many limits in balance. Where a limit leaves few actions, such as
``max_changes=1``, it can miss the one that would do. Here every single action is tried, and pairs
of the promising ones where the limit binds more than one feature.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from proce.arrays import Array
from proce.methods.diagnosing.lifted_limits import OF_NO_FEATURE, LiftedLimit
from proce.methods.diagnosing.opened_ways import OpenedWays
from proce.methods.searching.chances import missing_chances
from proce.methods.searching.scan import scan
from proce.methods.searching.shortlist import change_kinds
from proce.methods.searching.terms import SearchTerms
from proce.methods.searching.trials import concatenate
from proce.objective import CounterfactualProblem, Query

_N_TRIED_AGAIN = 6  # ways of a row that are tried with the equations fitted again
_MAX_ACTIONS = 2


def plain_ways(
    terms: SearchTerms,
    lifted: Sequence[LiftedLimit],
    query: Query,
    rows: Array,
    is_over: Callable[[], bool],
) -> Iterator[OpenedWays]:
    """Yield for each limit the nearest way of one or two actions that it opens.

    Parameters
    ----------
    terms, lifted, query
        The terms under which nothing was found, the limits, and the rows that were searched.
    rows
        ``(n,)``, the positions in the query of those without any way.
    is_over
        Whether the call has ended.
    """
    for number, limit in enumerate(lifted):
        if is_over() or not len(rows):
            return
        doubts = terms.doubts if len(limit.terms.doubts) == len(terms.doubts) else ()
        problem = limit.terms.without_margin().problem(query.take(rows))
        found = _nearest(replace(problem, doubts=doubts), 1 + (limit.kind in OF_NO_FEATURE))
        if found is not None:
            yield replace(found, row=rows[found.row], limit=np.full_like(found.row, number))


def _nearest(problem: CounterfactualProblem, n_actions: int) -> OpenedWays | None:
    """Return the nearest likely way of each row that has one of at most so many actions."""
    most = min(n_actions, _MAX_ACTIONS, problem.max_changes or _MAX_ACTIONS)
    groups = scan(problem.without_doubts(), most)
    if not groups:
        return None
    near = concatenate(groups).nearest(_N_TRIED_AGAIN)
    realised = problem.realise_by_hand(near.rows, near.by_hand)
    is_likely = np.isfinite(missing_chances(problem, realised, near.is_feasible))
    instances = np.flatnonzero(is_likely.any(1))
    if not len(instances):
        return None
    nth = is_likely.astype(np.uint8).argmax(1)[
        instances
    ]  # from near to far, so the first that is likely
    losses = problem.without_doubts().score(realised).losses
    return OpenedWays(
        instances,
        instances,
        np.zeros_like(instances),
        realised.point[instances, nth],
        change_kinds(realised)[instances, nth],
        realised.expected[instances, nth],
        losses[instances, nth],
    )
