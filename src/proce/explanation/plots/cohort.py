"""Many explanations as pictures: what changes how often, and what it costs in which group."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from proce.explanation.plots.first_row import NOTHING_TO_DRAW
from proce.explanation.plots.style import (
    BLUE,
    FAINT,
    GREY,
    INK,
    KIND_WORDS,
    MAX_LABEL_LENGTH,
    MIDDLE_HALF,
    NINE_TENTHS,
    RANGE_LINE,
    axes_or_new,
    plain_frame,
    settled_extent,
    wrapped,
    write_instead,
)
from proce.explanation.record.frame import ExplainedFrame
from proce.explanation.record.outcome import Change
from proce.explanation.tables.cohort import Tally, change_text, n_found, tallies
from proce.explanation.tables.groups import CONFIDENCE, Group, groups_of
from proce.explanation.words.sentences import sentences
from proce.explanation.words.values import name_text, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MAX_LINES = 12
_LABEL_GAP = 5  # points between a bar and its label
_LOOKS: dict[Change, dict[str, Any]] = {
    Change.ACTION: {"facecolor": BLUE},
    Change.HOLD: {"facecolor": MIDDLE_HALF, "hatch": "...", "edgecolor": BLUE},
    Change.CONSEQUENCE: {"facecolor": NINE_TENTHS, "hatch": "////", "edgecolor": FAINT},
}


def plot_cohort(result: ExplainedFrame, ax: "Axes | None" = None) -> "Axes":
    """Draw in which share of the rows each feature is acted on, held, or follows.

    Only recommended counterfactuals count. Beside each bar stands the median change in raw units,
    or the most frequent change of levels.

    Parameters
    ----------
    result
        Explanations of some rows.
    ax
        The axes to draw on; ``None`` makes a figure.
    """
    ax = axes_or_new(ax)
    by_feature: dict[str, list[Tally]] = {}
    for tally in tallies(result):
        by_feature.setdefault(tally.feature.name, []).append(tally)
    if not by_feature:
        return write_instead(ax, _reason(result))
    shown = list(by_feature)[:_MAX_LINES]
    size = 9.0 if len(shown) <= 8 else 7.5
    for line, name in enumerate(shown):
        _draw_feature(ax, result, by_feature[name], -line, size)
    ends = [sum(tally.share for tally in by_feature[name]) for name in shown]
    names = [wrapped(name_text(by_feature[name][0].feature)) for name in shown]
    ax.set_yticks(range(0, -len(shown), -1), names, fontsize=size, parse_math=False)
    ax.set_ylim(-len(shown) + 0.4, 0.6)
    ax.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0%", "25%", "50%", "75%", "100%"], fontsize=size)
    n_left_out = len(by_feature) - len(shown)
    rest = f"; {n_left_out} more left out" if n_left_out else ""
    ax.set_xlabel(f"of {n_found(result):,} rows with a counterfactual{rest}", fontsize=size)
    ax.set_title("What changes how often, and its median", fontsize=10)
    plain_frame(ax, "top", "right", "left")
    _name_kinds(ax, {tally.kind for name in shown for tally in by_feature[name]}, size)
    _widen(ax, ends)
    return ax


def plot_groups(
    result: ExplainedFrame, by: str | Sequence[Any], ax: "Axes | None" = None
) -> "Axes":
    """Draw what the recommended counterfactuals cost in each group, and the gaps.

    A dot is the mean cost, the dark band the middle half of a group's rows, the light one nine of
    ten. A gap is the mean of a group less that of all others, with its 95% interval. Rows for
    which nothing was found have no cost: how many they are is written beside the name.

    Parameters
    ----------
    result
        Explanations of some rows.
    by
        The name of a feature, or a label for each row.
    ax
        The axes to draw on; ``None`` makes a figure.
    """
    groups = groups_of(result, by)
    ax = axes_or_new(ax)
    if not any(group.costs for group in groups):
        return write_instead(ax, _reason(result))
    shown = groups[:_MAX_LINES]
    size = 9.0 if len(shown) <= 7 else 7.5
    for line, group in enumerate(shown):
        _draw_group(ax, group, -line, size)
    names = [
        f"{short(group.name, MAX_LABEL_LENGTH)}\n{len(group.costs)} of {group.n_rows} found"
        for group in shown
    ]
    ax.set_yticks(range(0, -len(shown), -1), names, fontsize=size, parse_math=False)
    ax.set_ylim(-len(shown) + 0.4, 0.6)
    ax.set_xlim(left=0)
    ax.tick_params(labelsize=size)
    n_left_out = len(groups) - len(shown)
    rest = f"; {n_left_out} more left out" if n_left_out else ""
    ax.set_xlabel(
        f"cost: distance from the row as it is{rest}\n"
        "dot: mean; dark: the middle half, light: nine of ten\n"
        f"gap: mean less that of the others, {CONFIDENCE:.0%} interval",
        fontsize=size,
    )
    grouping = "group"
    if isinstance(by, str):
        grouping = short(name_text(result.context.codec.schema[by]), MAX_LABEL_LENGTH)
    ax.set_title(f"What it costs by {grouping}", fontsize=10, parse_math=False)
    plain_frame(ax, "top", "right", "left")
    return ax


def _reason(result: ExplainedFrame) -> str:
    """Return why there is nothing to draw."""
    (*rows,) = result
    return sentences(rows[0])[0] if len(rows) == 1 else NOTHING_TO_DRAW


def gap_text(group: Group) -> str:
    """Return how far a group is from the others: ``+0.051 (+0.013 to +0.092)``."""
    if group.gap is None:
        return "no other group"
    if group.low is None or group.high is None:
        return f"{group.gap:+.3f} (too few rows for an interval)"
    return f"{group.gap:+.3f} ({group.low:+.3f} to {group.high:+.3f})".replace("-", "−")


def _draw_feature(
    ax: "Axes", result: ExplainedFrame, tallies: Sequence[Tally], y: float, size: float
) -> None:
    end, words = 0.0, []
    for tally in tallies:
        look = {"linewidth": 0.0, **_LOOKS[tally.kind]}
        ax.barh(y, tally.share, left=end, height=0.5, zorder=1, **look)
        end += tally.share
        change = change_text(result, tally)
        if change:
            words.append(change if tally.kind is Change.ACTION else f"follows {change}")
    ax.annotate(
        short("; ".join(words), 2 * MAX_LABEL_LENGTH),
        (end, y),
        xytext=(_LABEL_GAP, 0),
        textcoords="offset points",
        va="center_baseline",
        fontsize=size,
        color=INK,
        parse_math=False,
    )


def _name_kinds(ax: "Axes", kinds: set[Change], size: float) -> None:
    from matplotlib.patches import Patch

    handles = [
        Patch(label=KIND_WORDS[kind], **{"linewidth": 0.0, **_LOOKS[kind]})
        for kind in _LOOKS
        if kind in kinds
    ]
    ax.legend(handles=handles, loc="lower right", fontsize=size, frameon=False)


def _widen(ax: "Axes", ends: Sequence[float]) -> None:
    """Make room on the right for the labels behind bars that end at some shares."""
    width = settled_extent(ax).width
    room = [
        width - _LABEL_GAP * ax.figure.dpi / 72 - text.get_window_extent().width
        for text in ax.texts
    ]
    limits = [end * width / max(left, width / 4) for end, left in zip(ends, room, strict=True)]
    ax.set_xlim(0, 1.02 * max(1.0, *limits))


def _draw_group(ax: "Axes", group: Group, y: float, size: float) -> None:
    ax.axhline(y, color=RANGE_LINE, linewidth=0.8, zorder=0)
    mean = group.mean
    if mean is None:
        return
    for low, color, half in ((5, NINE_TENTHS, 0.16), (25, MIDDLE_HALF, 0.1)):
        ends = np.percentile(group.costs, [low, 100 - low])
        ax.fill_between(ends, y - half, y + half, color=color, linewidth=0, zorder=1)
    ax.plot([mean], [y], marker="o", color=BLUE, markersize=8, zorder=3)
    for text, above, color in (
        (f"mean {mean:.3f}", 7, INK),
        (f"gap {gap_text(group)}", -7, GREY),
    ):
        ax.annotate(
            text,
            (mean, y),
            xytext=(0, 2 * above),
            textcoords="offset points",
            ha="center",
            va="center",
            fontsize=size - 1,
            color=color,
            zorder=4,
        )
