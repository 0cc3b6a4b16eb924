"""The Pareto front of a row as a picture."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from proce.causal.drawing.letters import Font
from proce.causal.drawing.palette import Palette, palette_around, palette_inside
from proce.causal.drawing.room import POINTS, Room
from proce.explanation.plots.ranks import Obstacles, Spot, free_spot
from proce.explanation.plots.style import axes_or_new, plain_frame, plain_numbers
from proce.explanation.record.rows import ExplainedRow
from proce.explanation.words.needs import aim_text
from proce.explanation.words.row_labels import row_label
from proce.explanation.words.sentences import sentences
from proce.explanation.words.values import class_texts, percent
from proce.losses import Loss, chance_of_loss

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection

_DOT_RADIUS, _RING_RADIUS = 3.0, 5.5  # points
_SAME_PLACE = 7.0  # points: nearer counterfactuals share a label
_SMALL_WIDTH, _SMALL_HEIGHT = 260.0, 190.0  # points: a smaller picture has smaller words
_BEYOND = 0.03  # of the probabilities: what is shown below 0% and above 100%
_MIN_WIDTH_WITH_BAR = 200.0  # points: a narrower picture has its colours in the caption


def plot_front(row: ExplainedRow, ax: "Axes | None" = None) -> "Axes":
    """Draw the Pareto front: distance against the probability of the target.

    The third objective, how far a candidate is from typical rows of the target, is the colour. The
    counterfactuals that are returned carry their rank.

    Parameters
    ----------
    row
        The explained row.
    ax
        The axes to draw on; ``None`` makes a figure.
    """
    ax = axes_or_new(ax)
    room = Room.of(ax)
    if not len(row):
        return room.write_instead(sentences(row)[0])
    small = room.width < _SMALL_WIDTH or room.height < _SMALL_HEIGHT
    font, colors = Font(7.0 if small else 9.0), palette_inside(ax)
    points = _draw_points(ax, row, colors)
    if row.needed:  # of more than two classes the lead counts, which the plot does not show
        ax.axhline(row.needed, color=colors.grey, linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)
    ax.margins(0.12)
    low, high = ax.get_ylim()
    ax.set_ylim(max(low, -_BEYOND), min(high, 1 + _BEYOND))
    plain_frame(ax, "top", "right")
    _scale(ax, font, room)
    has_bar = room.width >= _MIN_WIDTH_WITH_BAR
    title = "ways that were found; the circled ones are told, by rank"
    if row.front is None:
        title = "the ways that are told, by rank; the front was not kept"
    title = f"Row {row_label(row)}: {title}"
    target = class_texts(row)[1]
    caption = _caption(row, target, has_bar)
    height = room.height - room.height_around(title, caption, font)
    _name_side(ax, f"probability of {target}", font, height)
    if has_bar:
        _add_bar(ax, points, f"distance from typical rows of {target}", font, height)
    room.fit_around(title, caption, font)
    _number_ranks(ax, row, np.asarray(points.get_offsets()).tolist(), font)
    return ax


def _caption(row: ExplainedRow, target: str, has_bar: bool) -> str:
    parts = ["distance from the row as it is"]
    if row.needed:
        parts.append(f"dashed: {aim_text(percent(row.needed))}")
    if not has_bar:
        parts.append(f"the lighter, the farther from typical rows of {target}")
    return "; ".join(parts)


def _draw_points(ax: "Axes", row: ExplainedRow, colors: Palette) -> "PathCollection":
    losses, chances = row.losses, row.probabilities
    if row.front is not None:
        losses, chances = row.front.losses, chance_of_loss(row.front.losses[:, Loss.PREDICTION])
    points = ax.scatter(
        losses[:, Loss.DISTANCE],
        chances,
        c=losses[:, Loss.PROTOTYPE],
        cmap="viridis",
        s=(2 * _DOT_RADIUS - 0.5) ** 2,
        zorder=2,
    )
    points.set_edgecolor(colors.grey)  # the darkest and the lightest show on any ground
    points.set_linewidth(0.5)
    ax.scatter(
        row.losses[:, Loss.DISTANCE],
        row.probabilities,
        s=(2 * _RING_RADIUS - 1.2) ** 2,
        facecolors="none",
        edgecolors=colors.ink,
        linewidths=1.2,
        zorder=3,
    )
    return points


def _scale(ax: "Axes", font: Font, room: Room) -> None:
    plain_numbers(ax.xaxis, font, 0.6 * room.width)
    plain_numbers(ax.yaxis, font, 0.5 * room.height)
    ax.yaxis.set_major_formatter(lambda share, _: f"{100 * share:.5g}%")


def _name_side(side: Any, words: str, font: Font, room: float) -> None:
    """Name the axis that runs upwards, in lines that are as long as the room."""
    look = font.settings(font.wrapped(words, room, 2))
    side.set_ylabel(look.pop("s"), color=palette_around(side).ink, **look)


def _add_bar(ax: "Axes", points: "PathCollection", words: str, font: Font, room: float) -> None:
    """Say what the colours mean, on the right of the axes."""
    strip = ax.inset_axes((1.03, 0.0, 0.035, 1.0))
    bar = ax.figure.colorbar(points, cax=strip)
    bar.outline.set_visible(False)
    plain_numbers(strip.yaxis, font, room)
    strip.tick_params(length=0, labelcolor=palette_around(ax).ink)
    _name_side(strip, words, font, room)


def _number_ranks(ax: "Axes", row: ExplainedRow, dots: Sequence[Any], font: Font) -> None:
    """Write the rank beside each counterfactual, where nothing else is.

    Counterfactuals at one place share a label.
    """
    per_pixel = POINTS / ax.figure.dpi
    frame = ax.get_window_extent()

    def place(x: float, y: float) -> Spot:
        left, low = ax.transData.transform((x, y))
        return (left - frame.x0) * per_pixel, (low - frame.y0) * per_pixel

    pairs = zip(row.losses[:, Loss.DISTANCE].tolist(), row.probabilities.tolist(), strict=True)
    circled = [(point, place(*point)) for point in pairs]
    groups: list[tuple[Any, Spot, list[str]]] = []
    for rank, (point, spot) in enumerate(circled, 1):
        for _, first, ranks in groups:
            if max(abs(spot[0] - first[0]), abs(spot[1] - first[1])) < _SAME_PLACE:
                ranks.append(str(rank))
                break
        else:
            groups.append((point, spot, [str(rank)]))
    obstacles = Obstacles(
        (frame.width * per_pixel, frame.height * per_pixel),
        [(*place(*dot), _DOT_RADIUS) for dot in dots]
        + [(*spot, _RING_RADIUS) for _, spot in circled],
        [place(0.0, row.needed)[1]] if row.needed else [],
        [],
        [],
    )
    bold, colors = Font(font.size, bold=True), palette_inside(ax)
    for point, spot, ranks in groups:
        words = ", ".join(ranks)
        size = (bold.width(words), 0.8 * font.size)
        middle, is_far = free_spot(obstacles, spot, size)
        look = bold.settings(words)
        text = ax.annotate(
            look.pop("s"),
            point,
            xytext=(middle[0] - spot[0], middle[1] - spot[1]),
            textcoords="offset points",
            ha="center",
            va="center",
            color=colors.ink,
            zorder=4,
            arrowprops=(
                {
                    "arrowstyle": "-",
                    "color": colors.grey,
                    "linewidth": 0.6,
                    "shrinkA": 0,
                    "shrinkB": _RING_RADIUS,
                }
                if is_far
                else None
            ),
            **look,
        )
        text.set_in_layout(False)
