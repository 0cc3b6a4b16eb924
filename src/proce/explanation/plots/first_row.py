"""Which row of many a picture of one row shows."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from proce.causal.drawing.room import Room
from proce.explanation.plots.style import axes_or_new
from proce.explanation.record.rows import ExplainedFrame, ExplainedRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NOTHING_TO_DRAW = "No row has a counterfactual."


def plot_first_row(
    result: ExplainedFrame,
    plot: "Callable[[ExplainedRow, Axes | None], Axes]",
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw the first row that has a counterfactual, preferably one whose front was kept.

    Where no row has a counterfactual, the picture says so, and for a single row why.
    """
    explained = [row for row in result if len(row)]
    with_front = [row for row in explained if row.front is not None]
    rows = with_front or explained or (list(result) if len(result) == 1 else [])
    return plot(rows[0], ax) if rows else Room.of(axes_or_new(ax)).write_instead(NOTHING_TO_DRAW)
