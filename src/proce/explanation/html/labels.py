"""Short words for a row that the report and the notebook share."""

from typing import TYPE_CHECKING

from proce.explanation.result.explanation import Outcome
from proce.explanation.words.values import class_text
from proce.schema import Layout

if TYPE_CHECKING:
    from proce.explanation.result.explanation import Explanation

OUTCOME_WORDS = {
    Outcome.FOUND: "found",
    Outcome.NOT_FOUND: "not found",
    Outcome.ALREADY_TARGET: "already there",
    Outcome.OUT_OF_TIME: "out of time",
}


def row_label(explanation: "Explanation", layout: Layout | None) -> str:
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
    if index is None or str(index[0]) == position:
        return position
    return f"{position} ({index[0]})"


def row_anchor(explanation: "Explanation") -> str:
    """Return the id of a row's article in the page."""
    return f"row-{explanation.row}"


def class_texts(explanation: "Explanation") -> tuple[str, str]:
    """Return the class that the model predicts, and the target."""
    classes = explanation.context.classes
    return class_text(classes[explanation.predicted]), class_text(classes[explanation.target])
