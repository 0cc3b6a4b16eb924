"""The Pareto front of a row as a picture."""

from typing import TYPE_CHECKING, Any

from proce.explanation.plots.style import (
    GREY,
    INK,
    axes_or_new,
    plain_frame,
    settled_extent,
    write_instead,
)
from proce.explanation.record.rows import ExplainedRow
from proce.explanation.words.sentences import sentences
from proce.explanation.words.values import class_texts, percent
from proce.losses import Loss

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MIN_LABEL_DISTANCE = 14  # pixels: nearer counterfactuals share a label


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
    if not len(row):
        return write_instead(ax, sentences(row)[0])
    front = row.front
    losses, chances = row.losses, row.probabilities
    if front is not None:
        losses, chances = front.losses, (-front.losses[:, Loss.PREDICTION]).exp()
    _, target = class_texts(row)
    points = ax.scatter(
        losses[:, Loss.DISTANCE],
        chances,
        c=losses[:, Loss.PROTOTYPE],
        cmap="viridis",
        s=26,
        zorder=2,
    )
    points.set_edgecolor(GREY)  # the darkest and the lightest show on any ground
    points.set_linewidth(0.5)
    bar = ax.figure.colorbar(points, ax=ax)
    bar.set_label(f"distance from typical rows of {target}", parse_math=False)
    bar.outline.set_visible(False)
    ax.scatter(
        row.losses[:, Loss.DISTANCE],
        row.probabilities,
        s=90,
        facecolors="none",
        edgecolors=INK,
        linewidths=1.2,
        zorder=3,
    )
    if row.needed:  # of more than two classes the lead counts, which the plot does not show
        _draw_need(ax, row.needed)
    ax.set_xlabel("distance from the row as it is")
    ax.set_ylabel(f"probability of {target}", parse_math=False)
    ax.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    kept = "" if front is not None else "; the front was not kept"
    ax.set_title(f"Row {row.row}: circled ways are shown, by rank{kept}", fontsize=10)
    ax.margins(0.08)
    plain_frame(ax, "top", "right")
    _number_ranks(ax, row)
    return ax


def _number_ranks(ax: "Axes", row: ExplainedRow) -> None:
    """Write the rank beside each counterfactual; those close together share a label."""
    settled_extent(ax)
    groups: list[tuple[tuple[float, float], list[str]]] = []
    pairs = zip(row.losses[:, Loss.DISTANCE].tolist(), row.probabilities.tolist(), strict=True)
    for rank, point in enumerate(pairs, 1):
        x, y = ax.transData.transform(point)
        for first, ranks in groups:
            left, low = ax.transData.transform(first)
            if (
                abs(x - left) < _MIN_LABEL_DISTANCE * len(ranks)
                and abs(y - low) < _MIN_LABEL_DISTANCE
            ):
                ranks.append(str(rank))
                break
        else:
            groups.append((point, [str(rank)]))
    for point, ranks in groups:
        ax.annotate(
            ", ".join(ranks),
            point,
            xytext=(6, 5),
            textcoords="offset points",
            fontsize=10,
            fontweight="bold",
            color=INK,
            zorder=4,
        )


def _draw_need(ax: Any, needed: float) -> None:
    """Draw the probability that was asked for as a line."""
    ax.axhline(needed, color=GREY, linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)
    ax.annotate(
        f"asked for: {percent(needed)}",
        (1, needed),
        xycoords=("axes fraction", "data"),
        xytext=(-2, -3),
        textcoords="offset points",
        ha="right",
        va="top",
        fontsize=8,
        color=GREY,
    )
