"""Before and after of one row, drawn over how the training rows are distributed."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from proce.causal.drawing.figure_layout import FigureLayout
from proce.causal.drawing.palette import Palette, palette_around, palette_inside
from proce.causal.drawing.text_fit import Font
from proce.explanation.plots.style import (
    MAX_LABEL_LENGTH,
    MAX_LINES,
    Label,
    axes_or_new,
    band_height,
    fitting_labels,
    kind_word,
    lines_in,
    name_lines,
    shortened_label,
    shown_name,
    write_label,
)
from proce.explanation.record.context import N_QUANTILES, Context
from proce.explanation.record.counterfactuals import Change
from proce.explanation.record.rows import ExplainedRow
from proce.explanation.words.cells import ChangedCell, plain_value, row_cells
from proce.explanation.words.decision import then_and_now
from proce.explanation.words.sentences import sentences
from proce.explanation.words.values import (
    cell_texts,
    class_texts,
    row_label,
    share_text,
    short,
    value_text,
)
from proce.schema import Categorical, Continuous
from proce.schema.codec import unit_numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARKERS = {Change.ACTION: "o", Change.HOLD: "s", Change.CONSEQUENCE: "D"}
NINE_TENTHS, MIDDLE_HALF = 1, 5  # quantiles of 5% each that a band leaves out at either end
_OUTSIDE = 0.08  # of the unit range: where outliers are drawn
_MARGIN = 0.12  # of the unit range: what is shown beside it
_MIN_ARROW_LENGTH = 0.06  # of the range: an arrow has no room in less
_UNORDERED = (0.3, 0.7)  # where levels without an order are drawn
_MIN_LABEL_LENGTH = 5  # characters of a value where there is least room


def plot_changes(row: ExplainedRow, ax: "Axes | None" = None) -> "Axes":
    """Draw before and after of the recommended counterfactual."""
    ax = axes_or_new(ax)
    figure_layout = FigureLayout.of(ax)
    if not len(row):
        return figure_layout.write_instead(sentences(row)[0])
    cells, title = row_cells(row)[0], _contrast(row)
    lines = lines_in(figure_layout, len(cells), title, _legend(row, cells, MAX_LINES))
    shown = cells[: lines.n_lines]
    names = [lines.name(shown_name(cell.feature), kind_word(cell), figure_layout) for cell in shown]
    name_lines(ax, names, lines.font)
    ax.set_xlim(-_MARGIN, 1 + _MARGIN)
    _name_ends(ax, _is_cut(row, shown), lines.font, figure_layout)
    figure_layout.fit_around(title, _legend(row, cells, len(shown)), lines.font)
    for line, cell in enumerate(shown):
        _draw_change(ax, row, cell, -line, lines.font)
    return ax


def _name_ends(ax: "Axes", is_cut: bool, font: Font, figure_layout: FigureLayout) -> None:
    """Write below the axes which end of the range is which."""
    ends = ["low end", "high end"] if is_cut else ["lowest", "highest"]
    if 2.5 * sum(font.width(end) for end in ends) > figure_layout.width:
        ends = ["low", "high"]
    ax.set_xticks([0, 1], ends)
    for label, side in zip(ax.get_xticklabels(), ("left", "right"), strict=True):
        look = font.settings(label.get_text())
        look.pop("s")
        label.set(ha=side, color=palette_around(ax).ink, **look)


def _legend(row: ExplainedRow, cells: Sequence[ChangedCell], n_shown: int) -> str:
    shown = cells[:n_shown]
    known = row.context.spread is not None
    parts = [f"in {'99% of ' if _is_cut(row, shown) else ''}the training rows"]
    if any(isinstance(cell.feature, Categorical) for cell in shown):
        parts[0] += " (names have no order)"
    if len(cells) > n_shown:
        parts.insert(0, f"{len(cells) - n_shown} more left out")
    if known and any(isinstance(cell.feature, Continuous) for cell in shown):
        parts.append("inner band: the middle half, outer: nine of ten")
    if known and not all(isinstance(cell.feature, Continuous) for cell in shown):
        parts.append("in brackets: their share")
    return "; ".join(parts)


def _contrast(row: ExplainedRow) -> str:
    predicted, target = (short(text, MAX_LABEL_LENGTH) for text in class_texts(row))
    then, now = then_and_now(row)
    return f"Row {row_label(row)}: {predicted} → {target} ({target}: {now} → {then})"


def _draw_change(ax: "Axes", row: ExplainedRow, cell: ChangedCell, y: float, font: Font) -> None:
    """Draw one feature, with the words above its line, where nothing else is."""
    colors = palette_inside(ax)
    start, end = _ends(row, cell)
    ax.plot([0, 1], [y, y], color=colors.line, linewidth=0.8, zorder=0)
    _draw_spread(ax, row, cell, y, colors)
    if cell.kind is Change.HOLD:
        _draw_hold(ax, start, end, y, colors.blue)
    else:
        _draw_arrow(ax, cell, start, end, y, colors)
    for label in _labels(ax, row, cell, (start, end), font):
        write_label(ax, font, label, y, colors.ink)


def _ends(row: ExplainedRow, cell: ChangedCell) -> tuple[float, float]:
    """Return where the mark of before stands on the unit range, and that of after."""
    if isinstance(cell.feature, Categorical) and cell.kind is not Change.HOLD:
        return _UNORDERED
    start, end = _place(row, cell, cell.before), _place(row, cell, cell.after)
    if plain_value(cell.feature, cell.before) is None:  # it was missing
        start = end
    if cell.kind is Change.HOLD and cell.expected == cell.expected:  # not NaN
        end = _place(row, cell, cell.expected)
    return start, end


def _draw_hold(ax: "Axes", start: float, end: float, y: float, color: str) -> None:
    ax.plot([start, end], [y, y], color=color, linewidth=1.2, linestyle=":", zorder=1)
    ax.plot([end], [y], marker="x", color=color, markersize=7, zorder=2)
    ax.plot([start], [y], marker=_MARKERS[Change.HOLD], color=color, markersize=8, zorder=3)


def _draw_arrow(
    ax: "Axes", cell: ChangedCell, start: float, end: float, y: float, colors: Palette
) -> None:
    follows = cell.kind is Change.CONSEQUENCE
    color, marker = colors.grey if follows else colors.blue, _MARKERS[cell.kind]
    if abs(end - start) > _MIN_ARROW_LENGTH:
        dashed = follows or isinstance(cell.feature, Categorical)
        look = {
            "arrowstyle": "-|>",
            "color": color,
            "linewidth": 1.6,
            "linestyle": (0, (3, 2)) if dashed else "-",
            "shrinkA": 0,
            "shrinkB": 4,
        }
        ax.annotate("", (end, y), (start, y), arrowprops=look, zorder=1)
    ax.plot([start], [y], marker=marker, color=color, markerfacecolor=colors.paper, markersize=7)
    ax.plot([end], [y], marker=marker, color=color, markersize=8, zorder=3)


def _labels(
    ax: "Axes", row: ExplainedRow, cell: ChangedCell, ends: tuple[float, float], font: Font
) -> list[Label]:
    """Return the words for a change: one label at each end, or one for both where they meet."""
    (start, end), is_held = ends, cell.kind is Change.HOLD
    by_hand = cell.kind is Change.ACTION
    middle, bold = (start + end) / 2, is_held or by_hand
    for length in _lengths(cell):
        before, after = _texts(row, cell, length)
        both = f"{before} ({after})" if is_held else f"{before} → {after}"
        choices: list[tuple[Label, ...]] = [(Label(middle, both, bold),)]
        if is_held or abs(end - start) > _MIN_ARROW_LENGTH:
            choices.insert(0, (Label(start, before, is_held), Label(end, after, by_hand)))
        for choice in choices:
            placed = fitting_labels(ax, font, *choice)
            if placed is not None:
                return placed
    return [shortened_label(ax, font, Label(end, before if is_held else f"→ {after}", bold))]


def _lengths(cell: ChangedCell) -> Sequence[int]:
    """Return how many characters of a value are shown, by how little room there is."""
    if isinstance(cell.feature, Continuous):
        return (MAX_LABEL_LENGTH,)
    return range(MAX_LABEL_LENGTH, _MIN_LABEL_LENGTH - 1, -1)


def _texts(row: ExplainedRow, cell: ChangedCell, max_length: int) -> tuple[str, str]:
    """Return before and after in words; of what is held where it would have gone."""
    span = row.context.codec.span[cell.position].item()
    first, last = (short(text, max_length) for text in cell_texts(cell, span))
    if cell.kind is Change.HOLD:
        last = "kept"
        if cell.expected == cell.expected:  # not NaN
            expected = short(value_text(cell.feature, cell.expected, span), max_length)
            last = f"would be {expected}"
        return first + _share(row, cell, cell.before), last
    return first + _share(row, cell, cell.before), last + _share(row, cell, cell.after)


def _draw_spread(
    ax: "Axes", row: ExplainedRow, cell: ChangedCell, y: float, colors: Palette
) -> None:
    """Draw where nine of ten training rows lie, and the middle half of them."""
    for n_outside, color, share in (
        (NINE_TENTHS, colors.most, 1.0),
        (MIDDLE_HALF, colors.half, 0.6),
    ):
        bulk = bulk_of(cell, row.context, n_outside)
        if bulk is not None:
            half, ends = band_height(ax, share), [_place(row, cell, end) for end in bulk]
            ax.fill_between(ends, y - half, y + half, color=color, linewidth=0, zorder=0.5)


def _share(row: ExplainedRow, cell: ChangedCell, code: float) -> str:
    """Return the share of the training rows that have a level, to be written behind its name."""
    spread = (row.context.spread or {}).get(cell.feature.name, ())
    if not spread or isinstance(cell.feature, Continuous) or code < 0:
        return ""
    return f" ({share_text(spread[int(code)])})"


def place_on_range(
    cell: ChangedCell, context: Context, value: float, outside: float = _OUTSIDE
) -> float:
    """Return where a value lies from the low end to the high end; outliers stand just outside."""
    codec, position = context.codec, cell.position
    place: float = (unit_numbers(codec, position, value) / codec.reach[position]).item()
    return place if place != place else min(max(place, -outside), 1 + outside)  # NaN stays


def bulk_of(cell: ChangedCell, context: Context, n_outside: int) -> tuple[float, float] | None:
    """Return the ends of the training rows but for some quantiles; ``None`` for levels."""
    quantiles = (context.spread or {}).get(cell.feature.name, ())
    if not quantiles or not isinstance(cell.feature, Continuous):
        return None
    return quantiles[n_outside], quantiles[N_QUANTILES - 1 - n_outside]


def _place(row: ExplainedRow, cell: ChangedCell, value: float) -> float:
    """Return where a value lies on the line; levels without an order stand in its middle."""
    if isinstance(cell.feature, Categorical):
        return sum(_UNORDERED) / 2
    return place_on_range(cell, row.context, value)


def _is_cut(row: ExplainedRow, shown: Sequence[ChangedCell]) -> bool:
    """Whether the line of some number leaves out training rows at its ends."""
    codec = row.context.codec
    positions = [cell.position for cell in shown if isinstance(cell.feature, Continuous)]
    lowest, highest = codec.lowest[positions], codec.highest[positions]
    return bool(((lowest < 0) | (highest > 1)).any())
