"""Short words for a row that the report and the notebook share."""

from proce.explanation.record.outcome import Outcome
from proce.explanation.record.rows import ExplainedRow
from proce.explanation.words.row_labels import row_label as row_label

OUTCOME_WORDS = {
    Outcome.FOUND: "found",
    Outcome.NOT_FOUND: "not found",
    Outcome.ALREADY_TARGET: "already there",
    Outcome.OUT_OF_TIME: "out of time",
    Outcome.FAILED: "the model failed",
}


def row_anchor(explanation: ExplainedRow) -> str:
    """Return the id of a row's article in the page."""
    return f"row-{explanation.row}"
