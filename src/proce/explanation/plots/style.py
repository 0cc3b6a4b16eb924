"""One style for every picture: sizes, colours, words; axes that are ours or the caller's.

What a person does, holds or may expect is told by marker and word, never by colour alone.
"""

from typing import TYPE_CHECKING

from proce.explanation.record.outcome import Change

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.transforms import Bbox

SIZE = (6.0, 4.0)  # inches, where the axes are our own
BLUE, GREY, INK = "#1f5fa8", "#6b6b6b", "#222222"
LINE, HALF, MOST = "#dddddd", "#c9d3de", "#e8edf2"  # a range; its middle half; nine of ten
PAPER, TINT, FAINT = "#ffffff", "#e3eefb", "#b5b5b5"
KIND_WORDS = {Change.ACTION: "action", Change.HOLD: "keep", Change.CONSEQUENCE: "follows"}
LONGEST = 24  # characters of a name or a level


def own_axes(ax: "Axes | None") -> "Axes":
    """Return the axes given, or those of a new figure."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=SIZE, layout="constrained")[1]


def settled(ax: "Axes") -> "Bbox":
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
        0.5, 0.5, reason, ha="center", va="center", wrap=True, transform=ax.transAxes, fontsize=10
    )
    ax.set_axis_off()
    return ax
