"""The style that all pictures share: words and colours, and how axes are prepared.

Actions, holds and consequences differ by marker and word, never by colour alone.
"""

from typing import TYPE_CHECKING

from proce.causal.drawing.letters import Font
from proce.causal.drawing.palette import palette_around
from proce.explanation.record.outcome import Change
from proce.explanation.words.cells import ChangedCell
from proce.explanation.words.values import name_text, short
from proce.explanation.words.waiting import is_waiting
from proce.schema import Feature

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import XAxis, YAxis

FIGURE_SIZE = (6.0, 4.0)  # inches, where the caller gives no axes
KIND_WORDS = {Change.ACTION: "action", Change.HOLD: "keep", Change.CONSEQUENCE: "follows"}
MAX_LABEL_LENGTH = 24  # characters of a level or of a class
WAITING_WORD = "by waiting"


def kind_word(cell: ChangedCell) -> str:
    """Return what became of a cell, in a word or two."""
    return WAITING_WORD if is_waiting(cell) else KIND_WORDS[cell.kind]


def shown_name(feature: Feature) -> str:
    """Return the name of a feature; one that nobody would see stands in quotes."""
    return name_text(feature).strip() or f'"{feature.name}"'


def arrow_text(before: str, after: str, max_length: int = 2 * MAX_LABEL_LENGTH) -> str:
    """Return ``before → after``, each shortened by itself so that the arrow stays."""
    room = max_length - 3
    if len(before) + len(after) > room:
        half = room // 2
        spare = max(0, half - min(len(before), len(after)))
        before, after = short(before, half + spare), short(after, half + spare)
    return f"{before} → {after}"


def axes_or_new(ax: "Axes | None", size: tuple[float, float] = FIGURE_SIZE) -> "Axes":
    """Return the axes given, or those of a new figure."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=size, layout="constrained")[1]


def name_ticks(ax: "Axes", names: list[str], font: Font) -> None:
    """Write names beside the lines 0, -1, -2 and so on of axes."""
    settings = [font.settings(name) for name in names]
    ax.set_yticks(range(0, -len(names), -1), [each["s"] for each in settings])
    for label, look in zip(ax.get_yticklabels(), settings, strict=True):
        look.pop("s")
        label.set(color=palette_around(ax).ink, linespacing=1.1, **look)
    ax.set_ylim(-len(names) + 0.4, 0.6)


def plain_frame(ax: "Axes", *sides: str) -> None:
    """Take away the ticks, and the lines of the frame on some sides; no grid is behind words."""
    ax.grid(visible=False)
    ax.tick_params(length=0, labelcolor=palette_around(ax).ink)
    for side, spine in ax.spines.items():
        spine.set_color(palette_around(ax).grey)
        if side in sides:
            spine.set_visible(False)


def plain_numbers(axis: "XAxis | YAxis", font: Font, room: float) -> None:
    """Write as many round numbers along an axis as have room, given in points."""
    from matplotlib.ticker import MaxNLocator

    letters = 3 if axis.axis_name == "y" else 10  # as tall or as wide as a number with its gap
    n_numbers = int(room / (letters * 0.6 * font.size))
    axis.set_major_locator(MaxNLocator(max(1, min(n_numbers, 8)), steps=[1, 2, 5, 10]))
    axis.set_tick_params(labelsize=font.size, labelfontfamily=font.settings("")["fontfamily"])
