"""What is recorded of a counterfactual beside its values."""

from collections.abc import Callable, Sequence

from proce.arrays import Array
from proce.classifier import Classifier
from proce.explanation import Counterfactuals
from proce.methods.explaining.confidence import (
    count_models_kept,
    count_supporting_graphs,
    measure_confidence,
)
from proce.methods.explaining.intervals import find_intervals
from proce.methods.explaining.taken_back import take_actions_back
from proce.methods.fitting.fitted import FittedParts
from proce.methods.searching.checking import FrameRows
from proce.methods.searching.solution import Solution
from proce.objective import CounterfactualProblem


def describe(
    problem: CounterfactualProblem,
    frame_rows: FrameRows,
    solution: Solution,
    lines: Array,
    fitted: FittedParts,
    is_over: Callable[[], bool] | None,
    models: Sequence[Classifier] = (),
) -> Counterfactuals:
    """Return some lines of a solution's shortlist with everything that is recorded of them.

    Parameters
    ----------
    problem, frame_rows, solution
        The problem of some rows, the rows as the caller has them, and the candidates for them.
    lines
        The positions of the candidates that are recorded.
    fitted
        The fitted parts.
    is_over
        Says whether the time is up; ``None`` where intervals are not asked for.
    models
        The other models under which a counterfactual should keep its class.
    """
    shortlist = solution.shortlist
    owner = shortlist.owner[lines]
    part = problem.take(owner)  # an instance for each counterfactual
    positions = frame_rows.positions[owner]
    own = FrameRows(positions, frame_rows.raw[owner], frame_rows.layout)
    rows, changes = shortlist.rows[lines], shortlist.changes[lines]
    expected, probabilities = shortlist.expected[lines], solution.check.probabilities[lines]
    intervals = None
    if is_over is not None:
        intervals = find_intervals(part, own, rows, changes, expected, is_over)
    refits, confidence = measure_confidence(part, rows, changes)
    contributions, asked_by = take_actions_back(part, rows, changes, probabilities)
    return Counterfactuals.of(
        positions,
        rows,
        changes,
        probabilities,
        shortlist.losses[lines],
        expected=expected,
        contributions=contributions,
        intervals=intervals,
        asked_by=asked_by,
        support=count_supporting_graphs(part, rows, changes, fitted.ensemble),
        refits=refits,
        confidence=confidence,
        robustness=count_models_kept(part, rows, models),
    )
