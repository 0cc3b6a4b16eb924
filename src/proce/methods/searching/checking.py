"""The last check of a problem's candidates: its limits, its rules, and the model itself."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proce.arrays import Array, Flags, Floats, Ints
from proce.compiled.kernel import kernel
from proce.methods.calls.last_check import ROUNDING, LastCheck, as_shown, last_check
from proce.objective import CounterfactualProblem
from proce.objective.terms import FACTUAL, Terms, beyond_limits
from proce.schema import Layout

_ACTION, _HOLD = 1, 2  # as Change


@dataclass(frozen=True, eq=False)
class FrameRows:
    """The rows of a problem as they stand in the caller's frame.

    Attributes
    ----------
    positions
        ``(i,)``, the position of each row in the frame.
    raw
        ``(i, f)``, the rows in raw units.
    layout
        How the frame looks.
    """

    positions: Array
    raw: Array
    layout: Layout


def check_candidates(
    problem: CounterfactualProblem,
    frame_rows: FrameRows,
    owner: Array,
    rows: Array,
    changes: Array,
) -> LastCheck:
    """Check candidates ``(n, f)`` as they would be shown; ``owner (n,)`` is the row of each."""
    factual = problem.query.factual[owner]
    shown = as_shown(problem.codec, rows, factual, frame_rows.raw[owner], frame_rows.layout)
    return last_check(
        shown,
        within_limits(problem, owner, shown.rows, changes),
        factual=factual,
        target=problem.query.target[owner],
        classifier=problem.classifier,
        requirement=problem.requirement,
        rules=problem.rules,
    )


def within_limits(
    problem: CounterfactualProblem, owner: Array, rows: Array, changes: Array
) -> Array:
    """Return which rows ``(n, f)``, each of the instance that owns it, obey every limit, ``(n,)``.

    Parameters
    ----------
    problem
        The search problem.
    owner
        ``(n,)``, the instance of each row.
    rows, changes
        ``(n, f)``, the rows, and what became of each cell.
    """
    allowed = np.empty(len(rows), dtype=np.bool_)
    obey_limits(
        np.ascontiguousarray(owner),
        np.ascontiguousarray(rows),
        np.ascontiguousarray(changes),
        problem.limits.movable,
        problem.terms,
        problem.codec.is_number,
        problem.avoided.table,
        allowed,
    )
    return allowed


@kernel
def obey_limits(
    owner: Ints,  # (n,)
    rows: Floats,  # (n, f)
    changes: "NDArray[np.int8]",  # (n, f)
    movable: Flags,  # (i, f)
    terms: Terms,
    is_number: Flags,  # (f,)
    avoided: Flags,  # (f, l)
    allowed: Flags,  # (n,); written
) -> None:
    """Write which candidates, each of the instance that owns it, obey every limit."""
    for n in range(len(rows)):
        own = terms.instances[owner[n]]
        obeys, excess, count = True, 0.0, 0
        for f in range(rows.shape[1]):
            value, before, change = rows[n, f], own[FACTUAL, f], changes[n, f]
            acts = change in (_ACTION, _HOLD)
            is_missing = np.isnan(value) if is_number[f] else value < 0
            is_same = value == before or is_missing
            obeys &= movable[owner[n], f] or not acts
            obeys &= is_same or change != 0
            obeys &= not (is_same and change == _ACTION)
            if acts and value != before and not is_number[f] and value >= 0:
                obeys &= not avoided[f, int(value)]
            count += acts
            excess += beyond_limits(value, acts, own[:, f], terms.reach[f])
        allowed[n] = obeys and excess <= ROUNDING and count <= terms.max_changes[owner[n]]
