"""Draw a graph with matplotlib: causes left of effects, edges as thick as they are certain."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from proce.causal.drawing.canvas import (
    BoxLook,
    EdgeLook,
    Frame,
    TextLine,
    draw,
    fit_axes,
    text_width,
)
from proce.causal.drawing.diagram import Diagram, Size, Spacing, arrange
from proce.causal.graphs.dag import Dag
from proce.causal.graphs.edges import Edge, sorted_pair

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FONT_SIZE = 10.0  # points
_MIN_BOX_HEIGHT = 0.29  # inches
_PADDING = 0.11  # inches left and right of the text in a box
_TITLE_HEIGHT = 0.35  # inches above our own axes
_MAX_CHARACTERS = 32  # of a name that are shown
_SPACING = Spacing(boxes=0.2, layers=0.85, ends=0.085)
_INK, _PAPER, _DIRECTED, _UNDIRECTED = "#1b2733", "#eef3f8", "#41719c", "#a0522d"


def plot(dag: Dag, ax: "Axes | None" = None, *, title: str | None = None) -> "Axes":
    """Draw a graph, layered from left to right by causal depth.

    Parameters
    ----------
    dag
        The graph.
    ax
        Where to draw; ``None`` makes a figure large enough to read every name.
    title
        Above the drawing.
    """
    position = {name: number for number, name in enumerate(dag.order)}
    pairs = [sorted_pair(pair, position) for pair in dag.undirected]
    edges = [*dag.edges, *pairs]
    sizes = {name: _size(name, edges) for name in dag.nodes}
    diagram = arrange(dag.order, edges, sizes, _SPACING, downwards=False)
    frame = _frame(diagram)
    if ax is None:
        ax = _new_axes(frame)
    if title is not None:
        ax.set_title(title)
    ax.set_axis_off()
    scale = fit_axes(ax, ax.get_window_extent(), frame)
    ax.set_aspect("equal")
    looks = {edge: _edge_look(dag.confidence.get(edge), edge not in pairs) for edge in edges}
    draw(ax, diagram, looks, {name: _box_look(name) for name in dag.nodes}, scale)
    return ax


def _size(name: str, edges: Sequence[Edge]) -> Size:
    """Return the width of a box, and the height at which the ends of all edges have room on it."""
    n_causes = sum(effect == name for _, effect in edges)
    n_effects = sum(cause == name for cause, _ in edges)
    height = max(_MIN_BOX_HEIGHT, _SPACING.ends * (max(n_causes, n_effects) + 1))
    return text_width(_one_line(name), _FONT_SIZE) + 2 * _PADDING, height


def _frame(diagram: Diagram) -> Frame:
    boxes, margin = diagram.boxes.values(), _SPACING.boxes
    passages = [across for corners in diagram.routes.values() for _, across in corners[1:-1]]
    heights = [*(box.y for box in boxes), *passages]
    room = max((box.height for box in boxes), default=0.0) / 2 + margin
    return Frame(
        -margin,
        max((box.x + box.width / 2 for box in boxes), default=0.0) + margin,
        min(heights, default=0.0) - room,
        max(heights, default=0.0) + room,
    )


def _new_axes(frame: Frame) -> "Axes":
    import matplotlib.pyplot as plt

    width, height = frame.right - frame.left, frame.high - frame.low
    figure = plt.figure(figsize=(width, height + _TITLE_HEIGHT))
    return figure.add_axes((0, 0, 1, height / (height + _TITLE_HEIGHT)))


def _edge_look(confidence: float | None, directed: bool) -> EdgeLook:
    share = 0.5 if confidence is None else confidence
    return EdgeLook(
        color=_DIRECTED if directed else _UNDIRECTED,
        width=0.5 + 2.0 * share,
        head_size=7 + 5 * share if directed else None,
        opacity=0.85 if confidence is None else 0.45 + 0.5 * share,
        dashes=None if directed else (4, 2.5),
        sharp=True,
    )


def _box_look(name: str) -> BoxLook:
    line = TextLine(_one_line(name), _FONT_SIZE, _INK)
    return BoxLook((line,), _PAPER, _INK, frame_width=0.8, rounding=_MIN_BOX_HEIGHT / 4)


def _one_line(name: str) -> str:
    text = " ".join(name.split())
    return text if len(text) <= _MAX_CHARACTERS else text[: _MAX_CHARACTERS - 1] + "…"
