"""Short words for a row that the report and the notebook share."""

from proce.explanation.record.outcome import Outcome
from proce.explanation.record.rows import ExplainedRow
from proce.schema import Layout
from proce.schema.frames.cells import is_missing

OUTCOME_WORDS = {
    Outcome.FOUND: "found",
    Outcome.NOT_FOUND: "not found",
    Outcome.ALREADY_TARGET: "already there",
    Outcome.OUT_OF_TIME: "out of time",
    Outcome.FAILED: "the model failed",
}


def row_label(explanation: ExplainedRow, layout: Layout | None) -> str:
    """Return the position of a row, and its index label where that is another: ``0 (ann)``.

    Parameters
    ----------
    explanation
        The explanation of the row.
    layout
        The layout of the explained frame; ``None`` where it is not known.
    """
    position = str(explanation.row)
    index = None if layout is None else layout.take([explanation.row]).index
    if index is None or is_missing(index[0]) or str(index[0]) == position:
        return position
    return f"{position} ({index[0]})"


def row_anchor(explanation: ExplainedRow) -> str:
    """Return the id of a row's article in the page."""
    return f"row-{explanation.row}"
