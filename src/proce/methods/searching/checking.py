"""The last check of a problem's candidates: its limits, its rules, and the model itself."""

from dataclasses import dataclass

from proce.arrays import Array
from proce.explanation import done_by_hand, has_moved
from proce.methods.calls.last_check import LastCheck, as_shown, last_check
from proce.objective import CounterfactualProblem
from proce.objective.obeying import obey_limits
from proce.schema import Layout


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
    allowed = obey_limits(
        problem.limits.take(owner),
        problem.codec,
        factual,
        shown.rows[:, None],
        has_moved(changes)[:, None],
        done_by_hand(changes)[:, None],
        problem.max_changes,
    )
    return last_check(
        shown,
        allowed[:, 0],
        factual=factual,
        target=problem.query.target[owner],
        classifier=problem.classifier,
        requirement=problem.requirement,
        rules=problem.rules,
    )
