"""Before and after of one row, drawn over how the training rows are distributed."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from proce.explanation.plots.style import (
    BLUE,
    GREY,
    INK,
    MAX_LABEL_LENGTH,
    MIDDLE_HALF,
    NINE_TENTHS,
    RANGE_LINE,
    axes_or_new,
    kind_word,
    plain_frame,
    settled_extent,
    wrapped,
    write_instead,
)
from proce.explanation.record.outcome import Change
from proce.explanation.record.rows import ExplainedRow
from proce.explanation.record.spread import N_QUANTILES
from proce.explanation.words.cells import ChangedCell, row_cells
from proce.explanation.words.sentences import sentences
from proce.explanation.words.values import (
    cell_texts,
    class_texts,
    name_text,
    percents,
    share_text,
    short,
    value_text,
)
from proce.schema import Categorical, Continuous, Ordinal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text

_MARKERS = {Change.ACTION: "o", Change.HOLD: "s", Change.CONSEQUENCE: "D"}
_MAX_LINES = 12
_MAX_ROOMY_LINES = 7  # more lines have smaller text
_OUTSIDE = 0.08  # of the unit range: where outliers are drawn
_MIN_ARROW_LENGTH = 0.06  # of the range: an arrow has no room in less
_EDGE_MARGIN = 5  # pixels between a label and the edge
_MAX_WIDENINGS = 6  # of the axes, until every label is inside
_CAPTION_WIDTH = 72  # characters beneath the axis that a page has room for
_UNORDERED = (0.3, 0.7)  # where levels without an order are drawn


def plot_changes(row: ExplainedRow, ax: "Axes | None" = None) -> "Axes":
    """Draw before and after of the recommended counterfactual.

    Each feature has a line, on the range of the training rows; labels are in raw units. Where the
    result knows how the training rows are distributed, a light band holds nine of ten of them, a
    dark one the middle half, and levels carry their share.

    Parameters
    ----------
    row
        The explained row.
    ax
        The axes to draw on; ``None`` makes a figure.
    """
    ax = axes_or_new(ax)
    if not len(row):
        return write_instead(ax, sentences(row)[0])
    cells = row_cells(row)[0]
    shown = cells[:_MAX_LINES]
    size = 9.0 if len(shown) <= _MAX_ROOMY_LINES else 7.5
    labels = [
        label
        for line, cell in enumerate(shown)
        for label in _draw_change(ax, row, cell, -line, size)
    ]
    between = "\n" if len(shown) <= _MAX_ROOMY_LINES else ", "
    names = [
        f"{wrapped(name_text(cell.feature), between)}{between}{kind_word(cell)}" for cell in shown
    ]
    ax.set_yticks(range(0, -len(shown), -1), names, fontsize=size, parse_math=False)
    ax.set_ylim(-len(shown) + 0.4, 0.6)
    ends = ["low end", "high end"] if _is_cut(row, shown) else ["lowest", "highest"]
    ax.set_xticks([0, 1], ends, fontsize=size)
    ax.set_xlabel(_legend(row, cells, len(shown)), fontsize=size)
    ax.set_title(_contrast(row), fontsize=10, parse_math=False)
    plain_frame(ax, "top", "right", "left")
    _make_room(ax, labels)
    return ax


def _legend(row: ExplainedRow, cells: Sequence[ChangedCell], n_shown: int) -> str:
    shown = cells[:n_shown]
    known = row.context.spread is not None
    parts = [f"in {'99% of ' if _is_cut(row, shown) else ''}the training rows"]
    if any(isinstance(cell.feature, Categorical) for cell in shown):
        parts[0] += " (names have no order)"
    if known and any(isinstance(cell.feature, Continuous) for cell in shown):
        parts.append("dark: the middle half, light: nine of ten")
    if known and not all(isinstance(cell.feature, Continuous) for cell in shown):
        parts.append("in brackets: their share")
    if len(cells) > n_shown:
        parts.append(f"{len(cells) - n_shown} more left out")
    caption = "; ".join(parts)
    return (
        caption if len(caption) <= _CAPTION_WIDTH else ";\n".join([parts[0], "; ".join(parts[1:])])
    )


def _contrast(row: ExplainedRow) -> str:
    predicted, target = class_texts(row)
    new, old = percents(row.probabilities[0].item(), row.probability)
    return f"Row {row.row}: {predicted} → {target} ({target}: {old} → {new})"


def _draw_change(
    ax: "Axes", row: ExplainedRow, cell: ChangedCell, y: float, size: float
) -> "Iterable[Text]":
    """Draw one feature and return its labels, each on the side where nothing else is."""
    color = GREY if cell.kind is Change.CONSEQUENCE else BLUE
    marker = _MARKERS[cell.kind]
    codec = row.context.codec
    span = codec.span[cell.position].item()
    start, end = _place(row, cell, cell.before), _place(row, cell, cell.after)
    first, last = (short(text, MAX_LABEL_LENGTH) for text in cell_texts(cell, span))
    first += _share(row, cell, cell.before)
    last += _share(row, cell, cell.after)
    ax.axhline(y, color=RANGE_LINE, linewidth=0.8, zorder=0)
    _draw_spread(ax, row, cell, y)
    if isinstance(cell.feature, Categorical) and cell.kind is not Change.HOLD:
        start, end = _UNORDERED
    if start != start:  # NaN: it was missing
        start = end
    if cell.kind is Change.HOLD:
        last = "kept"
        if cell.expected == cell.expected:  # not NaN
            end = _place(row, cell, cell.expected)
            last = (
                f"would be {short(value_text(cell.feature, cell.expected, span), MAX_LABEL_LENGTH)}"
            )
        ax.plot([start, end], [y, y], color=color, linewidth=1.2, linestyle=":", zorder=1)
        ax.plot([end], [y], marker="x", color=color, markersize=7, zorder=2)
        ax.plot([start], [y], marker=marker, color=color, markersize=8, zorder=3)
    else:
        dashed = cell.kind is Change.CONSEQUENCE or isinstance(cell.feature, Categorical)
        if abs(end - start) > _MIN_ARROW_LENGTH:
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
    if abs(end - start) <= _MIN_ARROW_LENGTH and cell.kind is not Change.HOLD:
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


def _draw_spread(ax: "Axes", row: ExplainedRow, cell: ChangedCell, y: float) -> None:
    """Draw where nine of ten training rows lie, and the middle half of them."""
    spread = (row.context.spread or {}).get(cell.feature.name, ())
    if not spread or not isinstance(cell.feature, Continuous):
        return
    for low, color, half in ((1, NINE_TENTHS, 0.16), (5, MIDDLE_HALF, 0.1)):
        quantiles = (low, N_QUANTILES - 1 - low)
        ends = [_place(row, cell, spread[quantile]) for quantile in quantiles]
        ax.fill_between(ends, y - half, y + half, color=color, linewidth=0, zorder=0.5)


def _share(row: ExplainedRow, cell: ChangedCell, code: float) -> str:
    """Return the share of the training rows that have a level, to be written behind its name."""
    spread = (row.context.spread or {}).get(cell.feature.name, ())
    if not spread or isinstance(cell.feature, Continuous) or code < 0:
        return ""
    return f" ({share_text(spread[int(code)])})"


def _place(row: ExplainedRow, cell: ChangedCell, value: float) -> float:
    """Return where a value lies on the unit range; outliers stand just outside of it."""
    codec, position = row.context.codec, cell.position
    if isinstance(cell.feature, Ordinal):
        return value / codec.reach[position].item()
    if isinstance(cell.feature, Categorical):
        return sum(_UNORDERED) / 2
    unit = (value - codec.low[position].item()) / codec.span[position].item()
    return unit if unit != unit else min(max(unit, -_OUTSIDE), 1 + _OUTSIDE)  # NaN stays


def _is_cut(row: ExplainedRow, shown: Sequence[ChangedCell]) -> bool:
    """Whether the line of some number leaves out training rows at its ends."""
    codec = row.context.codec
    positions = [cell.position for cell in shown if isinstance(cell.feature, Continuous)]
    lowest, highest = codec.lowest[positions], codec.highest[positions]
    return bool(((lowest < 0) | (highest > 1)).any())


def _make_room(ax: "Axes", labels: "Sequence[Text]") -> None:
    """Widen the axes until every label is inside."""
    for _ in range(_MAX_WIDENINGS):
        box = settled_extent(ax)
        extents = [label.get_window_extent() for label in labels]
        left, right = ax.get_xlim()
        per_pixel = (right - left) / box.width
        before = max(
            0.0, box.x0 + _EDGE_MARGIN - min((extent.x0 for extent in extents), default=box.x1)
        )
        after = max(
            0.0, max((extent.x1 for extent in extents), default=box.x0) + _EDGE_MARGIN - box.x1
        )
        if before + after < 1:
            return
        ax.set_xlim(left - 1.05 * before * per_pixel, right + 1.05 * after * per_pixel)
