"""Explanations as pictures: before and after. Every plot takes ``ax`` and returns it.

What a person does, holds or may expect is told by marker and word, never by colour alone.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from proce.explanation.cells import Cell, cells_of
from proce.explanation.explanation import Change, Explanation, Explanations
from proce.explanation.rendering import sentences
from proce.explanation.words import (
    cell_texts,
    class_text,
    name_text,
    percents,
    short,
    value_text,
)
from proce.schema import Categorical, Ordinal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text
    from matplotlib.transforms import Bbox

SIZE = (6.0, 4.0)  # inches, where the axes are our own
BLUE, GREY, INK = "#1f5fa8", "#767676", "#222222"
KIND_WORDS = {Change.ACTION: "action", Change.HOLD: "keep", Change.CONSEQUENCE: "follows"}
_MARKERS = {Change.ACTION: "o", Change.HOLD: "s", Change.CONSEQUENCE: "D"}
_MOST_LINES = 12
_SHORTEST = 0.06  # of the range: an arrow has no room in less
_EDGE = 5  # pixels between a label and the edge
_LONGEST = 24  # characters of a name or a level
_UNORDERED = (0.3, 0.7)  # where levels without an order are drawn


def plot_changes(result: Explanations | Explanation, ax: "Axes | None" = None) -> "Axes":
    """Draw before and after of the recommended counterfactual of the first row that has one.

    One line a feature, on the range of the training rows; labels are in raw units.

    Parameters
    ----------
    result
        Explanations, or one of them.
    ax
        Where to draw; ``None`` makes a figure.
    """
    explanation = first_found(result)
    ax = own_axes(ax)
    if explanation is None or not len(explanation):
        return write_instead(ax, result)
    cells = cells_of([explanation])[0][0]
    shown = cells[:_MOST_LINES]
    size = 9.0 if len(shown) <= 7 else 7.5
    labels = [
        label
        for place, cell in enumerate(shown)
        for label in _draw_change(ax, explanation, cell, -place, size)
    ]
    between = "\n" if len(shown) <= 7 else ", "
    names = [
        f"{short(name_text(c.feature.name), _LONGEST)}{between}{KIND_WORDS[c.kind]}" for c in shown
    ]
    ax.set_yticks(range(0, -len(shown), -1), names, fontsize=size)
    ax.set_ylim(-len(shown) + 0.4, 0.6)
    ax.set_xticks([0, 1], ["lowest", "highest"], fontsize=size)
    unordered = any(isinstance(cell.feature, Categorical) for cell in shown)
    left_out = len(cells) - len(shown)
    ax.set_xlabel(
        "in the training rows"
        + " (names have no order)" * unordered
        + (f"; {left_out} more left out" if left_out else ""),
        fontsize=size,
    )
    ax.set_title(_contrast(explanation), fontsize=10)
    ax.tick_params(length=0)
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    _make_room(ax, labels)
    return ax


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


def write_instead(ax: "Axes", result: Explanations | Explanation) -> "Axes":
    """Say in the picture why there is nothing to draw."""
    if isinstance(result, Explanation):
        reason = sentences(result)[0]
    else:
        reason = sentences(result[0])[0] if len(result) == 1 else "No row has a counterfactual."
    ax.text(
        0.5, 0.5, reason, ha="center", va="center", wrap=True, transform=ax.transAxes, fontsize=10
    )
    ax.set_axis_off()
    return ax


def first_found(result: Explanations | Explanation) -> Explanation | None:
    """Return the first explanation that has counterfactuals, with a front if there is one."""
    if isinstance(result, Explanation):
        return result
    found = [item for item in result if len(item)]
    return next((item for item in found if item.front is not None), next(iter(found), None))


def _contrast(explanation: Explanation) -> str:
    classes = explanation.context.classes
    now, then = (class_text(classes[at]) for at in (explanation.predicted, explanation.target))
    new, old = percents(explanation.probabilities[0].item(), explanation.probability)
    return f"Row {explanation.row}: {now} → {then} ({then}: {old} → {new})"


def _draw_change(
    ax: "Axes", explanation: Explanation, cell: Cell, y: float, size: float
) -> "Iterable[Text]":
    """Draw one feature and return its labels, each on the side where nothing else is."""
    color = GREY if cell.kind is Change.CONSEQUENCE else BLUE
    marker = _MARKERS[cell.kind]
    codec = explanation.context.codec
    span = codec.span[cell.position].item()
    start, end = _place(explanation, cell, cell.before), _place(explanation, cell, cell.after)
    first, last = (short(text, _LONGEST) for text in cell_texts(cell, span))
    ax.axhline(y, color="#dddddd", linewidth=0.8, zorder=0)
    if isinstance(cell.feature, Categorical) and cell.kind is not Change.HOLD:
        start, end = _UNORDERED
    if start != start:  # NaN: it was missing
        start = end
    if cell.kind is Change.HOLD:
        last = "kept"
        if cell.expected == cell.expected:  # not NaN
            end = _place(explanation, cell, cell.expected)
            last = f"would be {short(value_text(cell.feature, cell.expected, span), _LONGEST)}"
        ax.plot([start, end], [y, y], color=color, linewidth=1.2, linestyle=":", zorder=1)
        ax.plot([end], [y], marker="x", color=color, markersize=7, zorder=2)
        ax.plot([start], [y], marker=marker, color=color, markersize=8, zorder=3)
    else:
        dashed = cell.kind is Change.CONSEQUENCE or isinstance(cell.feature, Categorical)
        if abs(end - start) > _SHORTEST:
            ax.annotate(
                "",
                (end, y),
                (start, y),
                arrowprops={
                    "arrowstyle": "-|>",
                    "color": color,
                    "linewidth": 1.6,
                    "linestyle": (0, (3, 2)) if dashed else "-",
                    "shrinkA": 0,
                    "shrinkB": 4,
                },
                zorder=1,
            )
        ax.plot([start], [y], marker=marker, color=color, markerfacecolor="white", markersize=7)
        ax.plot([end], [y], marker=marker, color=color, markersize=8, zorder=3)
    rightwards = end >= start
    labels = [
        (start, first, not rightwards, cell.kind is Change.HOLD),
        (end, last, rightwards, cell.kind is Change.ACTION),
    ]
    if abs(end - start) <= _SHORTEST and cell.kind is not Change.HOLD:
        labels = [(max(start, end), f"{first} → {last}", True, cell.kind is Change.ACTION)]
    for x, text, to_right, bold in labels:
        yield ax.annotate(
            text,
            (x, y),
            xytext=(8 if to_right else -8, 0),
            textcoords="offset points",
            ha="left" if to_right else "right",
            va="center_baseline",
            fontsize=size,
            fontweight="bold" if bold else "normal",
            color=INK,
            parse_math=False,
            zorder=4,
        )


def _place(explanation: Explanation, cell: Cell, value: float) -> float:
    """Return where a value lies between the lowest and the highest of the training rows."""
    codec, at = explanation.context.codec, cell.position
    if isinstance(cell.feature, Ordinal):
        return value / codec.reach[at].item()
    if isinstance(cell.feature, Categorical):
        return sum(_UNORDERED) / 2
    return (value - codec.low[at].item()) / codec.span[at].item()


def _make_room(ax: "Axes", labels: "Sequence[Text]") -> None:
    """Widen the axes until every label is inside."""
    for _ in range(6):
        box = settled(ax)
        boxes = [label.get_window_extent() for label in labels]
        left, right = ax.get_xlim()
        per_pixel = (right - left) / box.width
        before = max(0.0, box.x0 + _EDGE - min((each.x0 for each in boxes), default=box.x1))
        after = max(0.0, max((each.x1 for each in boxes), default=box.x0) + _EDGE - box.x1)
        if before + after < 1:
            return
        ax.set_xlim(left - 1.05 * before * per_pixel, right + 1.05 * after * per_pixel)
