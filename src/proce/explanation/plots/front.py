"""The Pareto front of a row as a picture, with a number where there is room beside its dot."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, hypot, pi, sin
from typing import TYPE_CHECKING, Any

import numpy as np

from proce.causal.drawing.figure_layout import POINTS, FigureLayout
from proce.causal.drawing.palette import Palette, palette_around, palette_inside
from proce.causal.drawing.text_fit import Font
from proce.explanation.plots.style import axes_or_new, plain_frame, plain_numbers
from proce.explanation.record.rows import ExplainedRow
from proce.explanation.words.decision import aim_text
from proce.explanation.words.sentences import sentences
from proce.explanation.words.values import class_texts, percent, row_label
from proce.losses import Loss, chance_of_loss

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection

_DOT_RADIUS, _RING_RADIUS = 3.0, 5.5  # points
_SAME_PLACE = 7.0  # points: nearer counterfactuals share a label
_SMALL_WIDTH, _SMALL_HEIGHT = 260.0, 190.0  # points: a smaller picture has smaller words
_BEYOND = 0.03  # of the probabilities: what is shown below 0% and above 100%
_MIN_WIDTH_WITH_BAR = 200.0  # points: a narrower picture has its colours in the caption
Spot = tuple[float, float]  # across and upwards, in points
_N_DIRECTIONS = 16
_GAPS = (1.5, 5.0, 11.0, 19.0, 29.0, 42.0, 60.0)  # points between a dot's ring and its number
_MAX_NEAR = 5.0  # points: from farther away a line leads to the dot
_N_STEPS = 12  # on a line, at which it is looked whether something is in the way


def plot_front(row: ExplainedRow, ax: "Axes | None" = None) -> "Axes":
    """Draw the Pareto front: distance against the probability of the target."""
    ax = axes_or_new(ax)
    figure_layout = FigureLayout.of(ax)
    if not len(row):
        return figure_layout.write_instead(sentences(row)[0])
    small = figure_layout.width < _SMALL_WIDTH or figure_layout.height < _SMALL_HEIGHT
    font, colors = Font(7.0 if small else 9.0), palette_inside(ax)
    points = _draw_points(ax, row, colors)
    if row.needed:  # of more than two classes the lead counts, which the plot does not show
        ax.axhline(row.needed, color=colors.grey, linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)
    ax.margins(0.12)
    low, high = ax.get_ylim()
    ax.set_ylim(max(low, -_BEYOND), min(high, 1 + _BEYOND))
    plain_frame(ax, "top", "right")
    _scale(ax, font, figure_layout)
    has_bar = figure_layout.width >= _MIN_WIDTH_WITH_BAR
    title = "ways that were found; the circled ones are told, by rank"
    if row.front is None:
        title = "the ways that are told, by rank; the front was not kept"
    title = f"Row {row_label(row)}: {title}"
    target = class_texts(row)[1]
    caption = _caption(row, target, has_bar)
    height = figure_layout.height - figure_layout.height_around(title, caption, font)
    _name_side(ax, f"probability of {target}", font, height)
    if has_bar:
        _add_bar(ax, points, f"distance from typical rows of {target}", font, height)
    figure_layout.fit_around(title, caption, font)
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
    losses, probabilities = row.losses, row.probabilities
    if row.front is not None:
        losses, probabilities = (
            row.front.losses,
            chance_of_loss(row.front.losses[:, Loss.PREDICTION]),
        )
    points = ax.scatter(
        losses[:, Loss.DISTANCE],
        probabilities,
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


def _scale(ax: "Axes", font: Font, figure_layout: FigureLayout) -> None:
    plain_numbers(ax.xaxis, font, 0.6 * figure_layout.width)
    plain_numbers(ax.yaxis, font, 0.5 * figure_layout.height)
    ax.yaxis.set_major_formatter(lambda share, _: f"{100 * share:.5g}%")


def _name_side(side: Any, words: str, font: Font, length: float) -> None:
    """Name the axis that runs upwards, in lines of some length."""
    look = font.settings(font.wrapped(words, length, 2))
    side.set_ylabel(look.pop("s"), color=palette_around(side).ink, **look)


def _add_bar(ax: "Axes", points: "PathCollection", words: str, font: Font, length: float) -> None:
    """Say what the colours mean, on the right of the axes."""
    strip = ax.inset_axes((1.03, 0.0, 0.035, 1.0))
    bar = ax.figure.colorbar(points, cax=strip)
    bar.outline.set_visible(False)
    plain_numbers(strip.yaxis, font, length)
    strip.tick_params(length=0, labelcolor=palette_around(ax).ink)
    _name_side(strip, words, font, length)


def _number_ranks(ax: "Axes", row: ExplainedRow, dots: Sequence[Any], font: Font) -> None:
    """Write the rank beside each counterfactual, where nothing else is."""
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


@dataclass(frozen=True)
class Obstacles:
    """What numbers must not cover: dots, lines across the axes, and the numbers before them."""

    size: Spot  # width and the height of the axes
    dots: list[tuple[float, float, float]]  # middle and the radius of every dot
    levels: list[float]  # heights of lines across the axes
    boxes: list[tuple[Spot, Spot]]  # middle and the size of every number so far
    leaders: list[tuple[Spot, Spot]]  # from where to where a line leads from a number to its dot


def free_spot(obstacles: Obstacles, dot: Spot, size: Spot) -> tuple[Spot, bool]:
    """Return the middle of a place that a number takes, and whether a line leads to its dot."""
    best: tuple[int, Spot, bool] | None = None
    for gap in _GAPS:
        for number in range(_N_DIRECTIONS):
            angle = pi / 4 + 2 * pi * number / _N_DIRECTIONS
            across, upwards = cos(angle), sin(angle)
            # The number touches a circle around the dot from outside.
            reach = _RING_RADIUS + gap
            middle = (
                dot[0] + across * (reach + size[0] / 2),
                dot[1] + upwards * (reach + size[1] / 2),
            )
            is_far = gap > _MAX_NEAR
            n_covered = _n_covered(obstacles, middle, size, dot if is_far else None)
            if best is None or n_covered < best[0]:
                best = n_covered, middle, is_far
            if not n_covered:
                break
        if best is not None and not best[0]:
            break
    assert best is not None, "there are directions to try"
    _, middle, is_far = best
    obstacles.boxes.append((middle, size))
    if is_far:
        obstacles.leaders.append((middle, dot))
    return middle, is_far


def _n_covered(obstacles: Obstacles, middle: Spot, size: Spot, dot: Spot | None) -> int:
    """Return how many things a number would cover, and its line to the dot."""
    half = size[0] / 2 + 1, size[1] / 2 + 1
    outside = any(
        spot - reach < 0 or spot + reach > length
        for spot, reach, length in zip(middle, half, obstacles.size, strict=True)
    )
    covered = 100 * outside
    covered += sum(_touches(middle, half, (x, y), radius) for x, y, radius in obstacles.dots)
    covered += sum(abs(level - middle[1]) < half[1] for level in obstacles.levels)
    covered += 10 * sum(
        abs(middle[0] - other[0]) < half[0] + length[0] / 2
        and abs(middle[1] - other[1]) < half[1] + length[1] / 2
        for other, length in obstacles.boxes
    )
    covered += sum(
        _touches(middle, half, spot, 0.5)
        for start, end in obstacles.leaders
        for spot in _along(start, end)
    )
    if dot is not None:
        covered += sum(
            _touches(other, (length[0] / 2, length[1] / 2), spot, 1.0)
            for spot in _along(middle, dot)
            for other, length in obstacles.boxes
        )
    return covered


def _touches(middle: Spot, half: Spot, spot: Spot, radius: float) -> bool:
    """Whether a circle reaches into a box."""
    across = max(0.0, abs(spot[0] - middle[0]) - half[0])
    upwards = max(0.0, abs(spot[1] - middle[1]) - half[1])
    return hypot(across, upwards) < radius


def _along(start: Spot, end: Spot) -> list[Spot]:
    shares = [step / _N_STEPS for step in range(_N_STEPS + 1)]
    return [
        (start[0] + share * (end[0] - start[0]), start[1] + share * (end[1] - start[1]))
        for share in shares
    ]
