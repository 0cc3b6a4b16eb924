"""The causal graph of an explanation: what is done, what is held, what follows."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from proce.causal.drawing.canvas import BoxLook, EdgeLook, TextLine, draw, fit_axes
from proce.causal.drawing.letters import Font
from proce.causal.drawing.palette import Palette, palette_inside
from proce.causal.drawing.room import POINTS, Room
from proce.explanation.plots.excerpt import (
    CHANGE_SIZE,
    MAX_SCALE,
    NAME_SIZE,
    Edge,
    Excerpt,
    Label,
    readable_excerpt,
)
from proce.explanation.plots.style import axes_or_new
from proce.explanation.record.outcome import Change, Outcome
from proce.explanation.record.rows import ExplainedRow
from proce.explanation.words.cells import ChangedCell, row_cells
from proce.explanation.words.row_labels import row_label
from proce.explanation.words.sentences import sentences
from proce.schema.features.numerals import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LARGEST = (18.0, 14.0)  # inches of a figure of our own
_SMALLEST = (4.0, 1.5)
_TITLE_HEIGHT = 0.45  # inches
_NO_ROOM = "The causal graph has no room to be read here: give it larger axes, or none."
_FRAME_WIDTHS = {
    Change.ACTION: 1.8,
    Change.HOLD: 1.8,
    Change.CONSEQUENCE: 1.2,
    Change.NONE: 0.7,
}


def plot_graph(explanation: ExplainedRow, ax: "Axes | None" = None) -> "Axes":
    """Draw the causal graph, causes before effects, with the recommended counterfactual.

    Features that are acted on or held have a thick frame, those that follow a dashed one, and a
    word in each box says which. Arrows along which a consequence follows are dark. Features that
    neither change nor have an edge are left out; where the words could not be read otherwise,
    those that do not change are too, and the title says how many.

    Parameters
    ----------
    explanation
        The explained row.
    ax
        The axes to draw on; ``None`` makes a figure as large as the graph needs.
    """
    ranked = row_cells(explanation)
    cells = {cell.feature.name: cell for cell in (ranked[0] if ranked else ())}
    if not explanation.context.edges and not cells:
        return Room.of(axes_or_new(ax)).write_instead(sentences(explanation)[0])
    if ax is None:
        excerpt = _natural_excerpt(explanation, cells, _LARGEST)
        room = Room.of(axes_or_new(None, _natural_size(excerpt, _LARGEST)))
    else:
        room = Room.of(ax)
        size = room.width / POINTS, room.height / POINTS - _TITLE_HEIGHT
        excerpt = readable_excerpt(explanation, cells, size)
    if excerpt is None:
        return room.write_instead(_NO_ROOM)
    window = room.fit_whole(_title(explanation, cells) + _rest(explanation, excerpt))
    ax = room.ax
    scale = fit_axes(ax, window, excerpt.frame, MAX_SCALE)
    colors = palette_inside(ax)
    edges = {edge: _edge_look(_flows(edge, cells), colors) for edge in excerpt.diagram.routes}
    boxes = {name: _box_look(label, colors) for name, label in excerpt.labels.items()}
    draw(ax, excerpt.diagram, edges, boxes, scale)
    return ax


def graph_size(explanation: ExplainedRow, max_size: tuple[float, float]) -> tuple[float, float]:
    """Return the size of a figure, in inches, that the graph of an explanation fills.

    Parameters
    ----------
    explanation
        The explained row.
    max_size
        The largest width and height.
    """
    ranked = row_cells(explanation)
    cells = {cell.feature.name: cell for cell in (ranked[0] if ranked else ())}
    return _natural_size(_natural_excerpt(explanation, cells, max_size), max_size)


def _natural_excerpt(
    explanation: ExplainedRow, cells: Mapping[str, ChangedCell], max_size: tuple[float, float]
) -> Excerpt | None:
    """Return as much of a graph as can be read in a figure no larger than a size."""
    size = max_size[0], max_size[1] - _TITLE_HEIGHT
    return readable_excerpt(explanation, cells, size, max_scale=1.0)


def _natural_size(excerpt: Excerpt | None, max_size: tuple[float, float]) -> tuple[float, float]:
    """Return the size of a figure that an excerpt fills."""
    if excerpt is None:
        return max_size
    frame = excerpt.frame
    scale = min(1.0, frame.scale_in(max_size[0], max_size[1] - _TITLE_HEIGHT))
    width = max(frame.width * scale + 0.2, min(_SMALLEST[0], max_size[0]))
    height = max(frame.height * scale + _TITLE_HEIGHT + 0.2, min(_SMALLEST[1], max_size[1]))
    return min(width, max_size[0]), min(height, max_size[1])


def _title(explanation: ExplainedRow, cells: Mapping[str, ChangedCell]) -> str:
    row = f"Row {row_label(explanation)}"
    if not explanation.context.edges:
        return f"{row}: no causal graph, so nothing follows"
    if any(cell.kind is Change.CONSEQUENCE for cell in cells.values()):
        return f"{row}: what to do, and what follows"
    if cells:
        return f"{row}: what to do; nothing follows"
    if explanation.outcome is Outcome.ALREADY_TARGET:
        return f"{row}: nothing needs to change; the causal graph"
    return f"{row}: no way was found; the causal graph as it was used"


def _rest(explanation: ExplainedRow, excerpt: Excerpt) -> str:
    """Return what is not drawn, in words behind the title."""
    parts = []
    if excerpt.n_left_out:
        noun = "feature" if excerpt.leaves_out_changes else "unchanged feature"
        parts.append(counted(excerpt.n_left_out, noun))
    if explanation.context.edges and not excerpt.diagram.routes:
        parts.append("all arrows")
    return f"; {' and '.join(parts)} left out" if parts else ""


def _flows(edge: Edge, cells: Mapping[str, ChangedCell]) -> bool:
    """Whether a consequence follows along an edge: its cause moved, and its effect with it."""
    cause, effect = (cells.get(name) for name in edge)
    moved = cause is not None and cause.kind is not Change.HOLD
    return moved and effect is not None and effect.kind is Change.CONSEQUENCE


def _edge_look(flows: bool, colors: Palette) -> EdgeLook:
    width, color = (1.5, colors.ink) if flows else (0.7, colors.faint)
    return EdgeLook(color, width, head_size=9, in_front=flows)


def _box_look(label: Label, colors: Palette) -> BoxLook:
    is_done = label.kind.by_hand
    changes = label.kind is not Change.NONE
    color = colors.ink if changes else colors.grey
    name, *change = label.lines
    lines = [TextLine(name, Font(NAME_SIZE, bold=is_done), color)]
    lines += [TextLine(text, Font(CHANGE_SIZE, italic=not is_done), color) for text in change]
    return BoxLook(
        tuple(lines),
        fill=colors.tint if is_done else colors.most if changes else colors.paper,
        frame=colors.blue if is_done else color,
        frame_width=_FRAME_WIDTHS[label.kind],
        rounding=0.06,
        dashes=(3, 2) if label.kind is Change.CONSEQUENCE else None,
    )
