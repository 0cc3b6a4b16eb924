"""What the model says of a row, and what was looked for, in words."""

from proce.explanation.record.outcome import UNKNOWN_CLASS, Outcome
from proce.explanation.record.rows import ExplainedRow
from proce.explanation.words.chances import now_text
from proce.explanation.words.needs import need_text
from proce.explanation.words.values import class_texts

OUTCOME_WORDS = {
    Outcome.FOUND: "found",
    Outcome.NOT_FOUND: "not found",
    Outcome.ALREADY_TARGET: "already there",
    Outcome.OUT_OF_TIME: "out of time",
    Outcome.FAILED: "the model failed",
}


def decision_text(row: ExplainedRow) -> str:
    """Return what the model says of a row, and what was looked for."""
    predicted, target = class_texts(row)
    decision = f"The model says {predicted}; the probability of {target} is {now_text(row)}."
    if row.predicted == UNKNOWN_CLASS:
        decision = "What the model says of this row is not known."
    if row.outcome is Outcome.ALREADY_TARGET or row.target == UNKNOWN_CLASS:
        return decision
    return (
        f"{decision} Looked for: what would have had to be different for it to say {target},"
        f" {need_text(row)}."
    )
