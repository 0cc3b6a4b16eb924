"""Many explanations as pictures: what changes how often, and what it costs in which group."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from proce.causal.drawing.figure_layout import LINE_HEIGHT, POINTS, FigureLayout
from proce.causal.drawing.palette import Palette, palette_inside
from proce.causal.drawing.text_fit import Font
from proce.explanation.plots.style import (
    KIND_WORDS,
    MAX_LABEL_LENGTH,
    NOTHING_TO_DRAW,
    Label,
    arrow_text,
    axes_or_new,
    band_height,
    fitting_labels,
    lines_in,
    name_lines,
    plain_numbers,
    shortened_label,
    shown_name,
    write_label,
)
from proce.explanation.record.rows import ExplainedFrame
from proce.explanation.tables.cohort import (
    CONFIDENCE,
    Group,
    Tally,
    brief_change_text,
    change_text,
    groups_of,
    n_found,
    tallies,
)
from proce.explanation.words.sentences import sentences
from proce.explanation.words.values import short
from proce.schema.features.numerals import counted, with_minus

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_TOO_FEW, _FEW = "(too few rows for an interval)", "(too few rows)"
_LEGEND_HANDLE = 2.6  # of the size of a word: the patch before it, and what is free behind
_MIN_OF_SEVERAL = 20  # characters of a change of levels that stands beside another one
_MIN_ALONE = 11  # characters of one that stands alone


def plot_cohort(result: ExplainedFrame, ax: "Axes | None" = None) -> "Axes":
    """Draw in which share of the rows each feature is acted on, waits, is held, or follows."""
    ax = axes_or_new(ax)
    figure_layout = FigureLayout.of(ax)
    by_feature: dict[str, list[Tally]] = {}
    for tally in tallies(result):
        by_feature.setdefault(tally.feature.name, []).append(tally)
    if not by_feature:
        return figure_layout.write_instead(_reason(result))
    title = "What changes how often, and its median"
    caption = f"of {counted(n_found(result), 'row')} with a counterfactual"
    lines = lines_in(
        figure_layout, len(by_feature), title, caption, extra=_legend_height(Font(9.0))
    )
    shown = list(by_feature.values())[: lines.n_lines]
    names = [lines.name(shown_name(tallies[0].feature), "", figure_layout) for tallies in shown]
    name_lines(ax, names, lines.font)
    ax.set_xlim(0, 1.02)
    _name_shares(ax, lines.font, figure_layout)
    figure_layout.fit_around(title, caption + _rest(len(by_feature) - len(shown)), lines.font)
    _name_kinds(ax, {tally.mark for tallies in shown for tally in tallies}, lines.font)
    for line, tallies_of_feature in enumerate(shown):
        _draw_feature(ax, result, tallies_of_feature, -line, lines.font)
    return ax


def plot_groups(
    result: ExplainedFrame, by: str | Sequence[Any], ax: "Axes | None" = None
) -> "Axes":
    """Draw what the recommended counterfactuals cost in each group, and the gaps."""
    groups = groups_of(result, by)
    ax = axes_or_new(ax)
    figure_layout = FigureLayout.of(ax)
    if not any(group.costs for group in groups):
        return figure_layout.write_instead(_reason(result))
    grouping = "group"
    if isinstance(by, str):
        grouping = short(shown_name(result.context.codec.schema[by]), MAX_LABEL_LENGTH)
    title = f"What it costs by {grouping}"
    legend = (
        "dot: mean; inner band: the middle half, outer: nine of ten; "
        f"gap: mean less that of the others, {CONFIDENCE:.0%} interval"
    )
    caption = "cost: distance from the row as it is"
    lines = lines_in(figure_layout, len(groups), title, f"{caption}\n{legend}", n_below=1)
    shown = groups[: lines.n_lines]
    names = [
        lines.name(group.name, f"{len(group.costs)} of {group.n_rows} found", figure_layout)
        for group in shown
    ]
    name_lines(ax, names, lines.font)
    highest = max(max(group.costs, default=0.0) for group in groups)
    ax.set_xlim(0, 1.05 * highest or 1.0)
    plain_numbers(ax.xaxis, lines.font, figure_layout.width / 2)
    rest = _rest(len(groups) - len(shown))
    figure_layout.fit_around(title, f"{caption}{rest}\n{legend}", lines.font)
    for line, group in enumerate(shown):
        _draw_group(ax, group, -line, lines.font)
    return ax


def gap_text(group: Group) -> str:
    """Return how far a group is from the others: ``+0.051 (+0.013 to +0.092)``."""
    if group.gap is None:
        return "no other group"
    if group.low is None or group.high is None:
        return f"{with_minus(f'{group.gap:+.3f}')} {_TOO_FEW}"
    return with_minus(f"{group.gap:+.3f} ({group.low:+.3f} to {group.high:+.3f})")


def _reason(result: ExplainedFrame) -> str:
    """Return why there is nothing to draw."""
    (*rows,) = result
    return sentences(rows[0])[0] if len(rows) == 1 else NOTHING_TO_DRAW


def _rest(n_left_out: int) -> str:
    return f"; {n_left_out} more left out" if n_left_out else ""


def _name_shares(ax: "Axes", font: Font, figure_layout: FigureLayout) -> None:
    n_parts = 4 if figure_layout.width / 2 > 10 * font.width("100%") else 2
    shares = [part / n_parts for part in range(n_parts + 1)]
    ax.set_xticks(shares, [f"{share:.0%}" for share in shares])
    look = font.settings("")
    look.pop("s")
    for label in ax.get_xticklabels():
        label.set(**look)


def _looks(colors: Palette) -> Mapping[str, dict[str, Any]]:
    return {
        "action": {"facecolor": colors.blue},
        "wait": {"facecolor": colors.half, "hatch": "||||", "edgecolor": colors.blue},
        "hold": {
            "facecolor": colors.half,
            "hatch": "...",
            "edgecolor": colors.blue,
        },
        "consequence": {
            "facecolor": colors.most,
            "hatch": "////",
            "edgecolor": colors.faint,
        },
    }


def _legend_height(font: Font) -> float:
    return LINE_HEIGHT * font.size + 4


def _name_kinds(ax: "Axes", marks: set[str], font: Font) -> None:
    """Say which bar is which, above all bars, where the axes get more room for it."""
    from matplotlib.patches import Patch

    named = {mark: word for mark, word in KIND_WORDS.items() if mark in marks}
    frame, per_pixel = ax.get_window_extent(), POINTS / ax.figure.dpi
    width, height = frame.width * per_pixel, frame.height * per_pixel
    lengths = [font.width(word) + _LEGEND_HANDLE * font.size for word in named.values()]
    in_one_row = sum(lengths) <= width
    needed = _legend_height(font) * (1 if in_one_row else len(named))
    low, high = ax.get_ylim()
    ax.set_ylim(low, low + (high - low) * height / max(height - needed, height / 3))
    colors = palette_inside(ax)
    looks = _looks(palette_inside(ax))
    handles = [
        Patch(label=word, **{"linewidth": 0.0, **looks[mark]}) for mark, word in named.items()
    ]
    legend = ax.legend(
        handles=handles,
        loc="upper left",
        ncols=len(named) if in_one_row else 1,
        fontsize=font.size,
        labelcolor=colors.ink,
        frameon=False,
        borderpad=0,
        borderaxespad=0,
        labelspacing=0.3,
        handlelength=1.2,
        handletextpad=0.4,
        columnspacing=1.0,
    )
    legend.set_in_layout(False)


def _draw_feature(
    ax: "Axes", result: ExplainedFrame, tallies: Sequence[Tally], y: float, font: Font
) -> None:
    colors, end, half = palette_inside(ax), 0.0, band_height(ax, 1.0)
    for tally in tallies:
        look = {"linewidth": 0.0, **_looks(colors)[tally.mark]}
        ax.barh(y, tally.share, left=end, height=2 * half, zorder=1, **look)
        end += tally.share
    write_change(ax, font, result, tallies, y)


def _draw_group(ax: "Axes", group: Group, y: float, font: Font) -> None:
    colors, mean = palette_inside(ax), group.mean
    ax.plot(ax.get_xlim(), [y, y], color=colors.line, linewidth=0.8, zorder=0)
    if mean is None:
        return
    for low, color, share in ((5, colors.most, 1.0), (25, colors.half, 0.6)):
        half = band_height(ax, share)
        ends = np.percentile(group.costs, [low, 100 - low])
        ax.fill_between(ends, y - half, y + half, color=color, linewidth=0, zorder=1)
    ax.plot([mean], [y], marker="o", color=colors.blue, markersize=8, zorder=3)
    gap = gap_text(group) if group.gap is None else f"gap {gap_text(group)}"
    for texts, color, above in (
        ([f"mean {mean:.3f}"], colors.ink, True),
        ([gap, gap.replace(_TOO_FEW, _FEW), gap.replace(f" {_TOO_FEW}", "")], colors.grey, False),
    ):
        labels = [Label(mean, text) for text in texts]
        fitting = (label for label in labels if fitting_labels(ax, font, label) is not None)
        label = shortened_label(ax, font, next(fitting, labels[-1]))
        write_label(ax, font, label, y, color, above)


def write_change(
    ax: "Axes", font: Font, result: ExplainedFrame, tallies: Sequence[Tally], y: float
) -> None:
    """Write above a bar as much of the usual changes as has room; a number is never cut."""
    for text in _texts(result, tallies):
        placed = fitting_labels(ax, font, Label(0.0, text))
        if placed is not None:
            write_label(ax, font, placed[0], y, palette_inside(ax).ink)
            return


def _texts(result: ExplainedFrame, tallies: Sequence[Tally]) -> Iterator[str]:
    """Return the usual changes in fewer and fewer words."""
    for told, shortest in ((tallies, _MIN_OF_SEVERAL), (tallies[:1], _MIN_ALONE)):
        for length in range(2 * MAX_LABEL_LENGTH, shortest - 1, -1):
            yield _joined(result, told, change_text, length)
        yield _joined(result, told, brief_change_text, shortest)


def _joined(
    result: ExplainedFrame,
    tallies: Sequence[Tally],
    words: Callable[[ExplainedFrame, Tally], str],
    max_length: int,
) -> str:
    """Return the usual change of each kind, names of levels in so many letters at most."""
    parts = []
    for tally in tallies:
        text = words(result, tally)
        if text and tally.median_change is None:
            before, _, after = text.partition(" → ")
            text = arrow_text(before, after, max_length)
        parts += [f"follows {text}" if tally.mark == "consequence" else text] if text else []
    return "; ".join(parts)
