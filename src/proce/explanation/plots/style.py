"""What all pictures share: words, colours, axes, and lines with labels that stay inside them.

Actions, holds and consequences differ by marker and word, never by colour alone.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from proce.causal.drawing.figure_layout import LINE_HEIGHT, POINTS, FigureLayout
from proce.causal.drawing.palette import palette_around
from proce.causal.drawing.text_fit import Font
from proce.explanation.record.rows import ExplainedFrame, ExplainedRow
from proce.explanation.words.cells import ChangedCell
from proce.explanation.words.instructions import kind_of
from proce.explanation.words.values import name_text, short
from proce.schema import Feature

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import XAxis, YAxis

FIGURE_SIZE = (6.0, 4.0)  # inches, where the caller gives no axes
KIND_WORDS = {"action": "action", "wait": "by waiting", "hold": "keep", "consequence": "follows"}
MAX_LABEL_LENGTH = 24  # characters of a level or of a class
MAX_LINES = 12
LABEL_HEIGHT = 6.0  # points between a line and the foot of its label
_BELOW = 6.0  # points that a line needs beneath it
_GAP = 6.0  # points between two labels
_SIZES = (9.0, 8.0, 7.0)  # points, by how little room there is
_NAME_SHARE = 0.4  # of the width, for the names beside the lines
NOTHING_TO_DRAW = "No row has a counterfactual."


def kind_word(cell: ChangedCell) -> str:
    """Return what became of a cell, in a word or two."""
    return KIND_WORDS[kind_of(cell)]


def shown_name(feature: Feature) -> str:
    """Return the name of a feature; one that nobody would see stands in quotes."""
    return name_text(feature).strip() or f'"{feature.name}"'


def arrow_text(before: str, after: str, max_length: int = 2 * MAX_LABEL_LENGTH) -> str:
    """Return ``before → after``, each shortened by itself so that the arrow stays."""
    most = max_length - 3
    if len(before) + len(after) > most:
        half = most // 2
        spare = max(0, half - min(len(before), len(after)))
        before, after = short(before, half + spare), short(after, half + spare)
    return f"{before} → {after}"


def axes_or_new(ax: "Axes | None", size: tuple[float, float] = FIGURE_SIZE) -> "Axes":
    """Return the axes given, or those of a new figure."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=size, layout="constrained")[1]


def name_lines(ax: "Axes", names: list[str], font: Font) -> None:
    """Show a line for each name, at 0, -1, -2 and so on, with room for a label above the first."""
    settings = [font.settings(name) for name in names]
    ax.set_yticks(range(0, -len(names), -1), [look["s"] for look in settings])
    for label, look in zip(ax.get_yticklabels(), settings, strict=True):
        look.pop("s")
        label.set(color=palette_around(ax).ink, linespacing=1.1, **look)
    ax.set_ylim(-len(names) + 0.5, 0.75 if len(names) > 1 else 0.6)
    plain_frame(ax, "top", "right", "left")


def plain_frame(ax: "Axes", *sides: str) -> None:
    """Take away the ticks, and the lines of the frame on some sides; no grid is behind words."""
    ax.grid(visible=False)
    ax.tick_params(length=0, labelcolor=palette_around(ax).ink)
    for side, spine in ax.spines.items():
        spine.set_color(palette_around(ax).grey)
        if side in sides:
            spine.set_visible(False)


def plain_numbers(axis: "XAxis | YAxis", font: Font, length: float) -> None:
    """Write as many round numbers along an axis as have room in a length, given in points."""
    from matplotlib.ticker import MaxNLocator

    n_characters = 3 if axis.axis_name == "y" else 10  # as tall or as wide as a number with its gap
    n_numbers = int(length / (n_characters * 0.6 * font.size))
    axis.set_major_locator(MaxNLocator(max(1, min(n_numbers, 8)), steps=[1, 2, 5, 10]))
    axis.set_tick_params(labelsize=font.size, labelfontfamily=font.settings("")["fontfamily"])


@dataclass(frozen=True)
class Lines:
    """How many lines a picture has, and in which font."""

    n_lines: int
    font: Font
    two_rows: bool

    def name(self, name: str, note: str, figure_layout: FigureLayout) -> str:
        """Return the name of a line and a note on it, in one row or in two."""
        width = _NAME_SHARE * figure_layout.width
        if not self.two_rows:
            rest = f", {note}" if note else ""
            return self.font.shortened(name, width - self.font.width(rest)) + rest
        if not note:
            return self.font.wrapped(name, width, 2)
        return "\n".join(self.font.shortened(line, width) for line in (name, note))


def lines_in(
    figure_layout: FigureLayout,
    n_wanted: int,
    title: str,
    caption: str,
    n_below: int = 0,
    extra: float = 0.0,
) -> Lines:
    """Return how many of some lines have room, in the largest font that leaves none out."""
    n_lines = max(1, min(n_wanted, MAX_LINES))
    for size in _SIZES:
        font = Font(size)
        height = figure_layout.height - figure_layout.height_around(title, caption, font) - extra
        row = LINE_HEIGHT * size
        pitch = LABEL_HEIGHT + _BELOW + row * (1 + n_below)
        if n_lines * pitch <= height:
            return Lines(n_lines, font, two_rows=height / n_lines >= 2 * row + 3)
    return Lines(max(1, int(height / pitch)), font, two_rows=pitch >= 2 * row + 3)


def pitch_of(ax: "Axes") -> float:
    """Return how far one line is from the next, in points."""
    low, high = ax.get_ylim()
    height = ax.get_window_extent().height * POINTS / ax.figure.dpi
    return float(height / (high - low))


def band_height(ax: "Axes", share: float) -> float:
    """Return half the height of a band on a line, for a share of what is free beside words."""
    return min(0.25, (LABEL_HEIGHT - 1) / pitch_of(ax)) * share


@dataclass(frozen=True)
class Label:
    """A text that belongs to a place on a line."""

    x: float
    text: str
    bold: bool = False


def fitting_labels(ax: "Axes", font: Font, *labels: Label) -> list[Label] | None:
    """Return labels with the places where they begin; ``None`` where they would meet."""
    frame, per_pixel = ax.get_window_extent(), POINTS / ax.figure.dpi
    width = frame.width * per_pixel
    placed: list[tuple[float, float, Label]] = []
    for label in sorted(labels, key=lambda label: label.x):
        middle = (ax.transData.transform((label.x, 0.0))[0] - frame.x0) * per_pixel
        length = Font(font.size, bold=label.bold).width(label.text)
        start = max(0.0, min(middle - length / 2, width - length))
        if length > width or (placed and start < placed[-1][1] + _GAP):
            return None
        placed.append((start, start + length, label))
    inverted = ax.transData.inverted()
    return [
        replace(label, x=float(inverted.transform((frame.x0 + start / per_pixel, 0.0))[0]))
        for start, _, label in placed
    ]


def write_label(
    ax: "Axes", font: Font, label: Label, y: float, color: str, above: bool = True
) -> None:
    """Write a label that begins at a place, above its line or below."""
    look = Font(font.size, bold=label.bold)
    text = ax.annotate(
        xy=(label.x, y),
        xytext=(0, LABEL_HEIGHT if above else -LABEL_HEIGHT),
        textcoords="offset points",
        ha="left",
        va="bottom" if above else "top",
        color=color,
        zorder=4,
        **{
            ("text" if key == "s" else key): value
            for key, value in look.settings(label.text).items()
        },
    )
    text.set_in_layout(False)


def shortened_label(ax: "Axes", font: Font, label: Label) -> Label:
    """Return a label that begins inside the axes and is no wider than they are."""
    look = Font(font.size, bold=label.bold)
    width = ax.get_window_extent().width * POINTS / ax.figure.dpi - 1
    text = look.shortened(label.text, width)
    (placed,) = fitting_labels(ax, font, Label(label.x, text, label.bold)) or [
        Label(ax.get_xlim()[0], text, label.bold)
    ]
    return placed


def plot_first_row(
    result: ExplainedFrame,
    plot: "Callable[[ExplainedRow, Axes | None], Axes]",
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw the first row that has a counterfactual, preferably one whose front was kept."""
    explained = [row for row in result if len(row)]
    with_front = [row for row in explained if row.front is not None]
    rows = with_front or explained or (list(result) if len(result) == 1 else [])
    return (
        plot(rows[0], ax)
        if rows
        else FigureLayout.of(axes_or_new(ax)).write_instead(NOTHING_TO_DRAW)
    )
