"""What a row is called: by the caller's own label, else by its position in the frame."""

from proce.explanation.record.rows import ExplainedRow
from proce.explanation.words.values import one_line
from proce.schema import Layout
from proce.schema.frames.cells import is_missing


def row_label(explanation: ExplainedRow, layout: Layout | None = None) -> str:
    """Return what the caller calls a row: its index label, or its position where it has none.

    Parameters
    ----------
    explanation
        The explanation of the row.
    layout
        The layout of the explained frame; by default that which the row brings along.
    """
    layout = explanation.layout if layout is None else layout
    index = None if layout is None else layout.take([explanation.row]).index
    if index is None or is_missing(index[0]):
        return str(explanation.row)
    return one_line(str(index[0])) or str(explanation.row)
