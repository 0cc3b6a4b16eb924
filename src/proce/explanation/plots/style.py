"""The style that all pictures share: sizes, colours and words, and how axes are prepared.

Actions, holds and consequences differ by marker and word, never by colour alone.
"""

from textwrap import wrap
from typing import TYPE_CHECKING

from proce.explanation.record.outcome import Change
from proce.explanation.words.cells import ChangedCell
from proce.explanation.words.values import short
from proce.explanation.words.waiting import is_waiting

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.transforms import Bbox

_FIGURE_SIZE = (6.0, 4.0)  # inches, where the caller gives no axes
BLUE, GREY, INK = "#1f5fa8", "#6b6b6b", "#222222"
RANGE_LINE, MIDDLE_HALF, NINE_TENTHS = "#dddddd", "#c9d3de", "#e8edf2"  # of a feature's values
PAPER, TINT, FAINT = "#ffffff", "#e3eefb", "#b5b5b5"
KIND_WORDS = {Change.ACTION: "action", Change.HOLD: "keep", Change.CONSEQUENCE: "follows"}
_WAITING_WORD = "by waiting"
MAX_LABEL_LENGTH = 24  # characters of a name or of a level


def kind_word(cell: ChangedCell) -> str:
    """Return what became of a cell, in a word or two."""
    return _WAITING_WORD if is_waiting(cell) else KIND_WORDS[cell.kind]


def axes_or_new(ax: "Axes | None") -> "Axes":
    """Return the axes given, or those of a new figure."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=_FIGURE_SIZE, layout="constrained")[1]


def wrapped(name: str, between: str = "\n") -> str:
    """Return the name of a feature in two lines where it is long, or cut where one must do.

    Parameters
    ----------
    name
        The name.
    between
        What stands between parts of the text: a line break where there is room for lines.
    """
    lines = wrap(name, MAX_LABEL_LENGTH) if between == "\n" else [name]
    if len(lines) > 2:
        lines = [lines[0], " ".join(lines[1:])]
    return "\n".join(short(line, MAX_LABEL_LENGTH) for line in lines)


def settled_extent(ax: "Axes") -> "Bbox":
    """Return where the axes are once the figure's layout has been worked out."""
    figure = ax.get_figure(root=True)
    if figure is not None:
        figure.draw_without_rendering()
    return ax.get_window_extent()


def plain_frame(ax: "Axes", *sides: str) -> None:
    """Take away the ticks, and the lines of the frame on some sides."""
    ax.tick_params(length=0)
    for side in sides:
        ax.spines[side].set_visible(False)


def write_instead(ax: "Axes", reason: str) -> "Axes":
    """Say in the picture why there is nothing to draw."""
    ax.text(
        0.5,
        0.5,
        reason,
        ha="center",
        va="center",
        wrap=True,
        transform=ax.transAxes,
        fontsize=10,
        parse_math=False,
    )
    ax.set_axis_off()
    return ax
