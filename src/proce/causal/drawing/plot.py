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
    frame_of,
)
from proce.causal.drawing.diagram import Diagram, Size, Spacing, arrange
from proce.causal.drawing.figure_layout import MIN_SIZE, POINTS, FigureLayout
from proce.causal.drawing.palette import LIGHT, Palette, palette_inside
from proce.causal.drawing.text_fit import Font, without_middle
from proce.causal.graphs.dag import Dag, Edge, sorted_pair

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FONT = Font(10.0)
_MIN_SCALE = MIN_SIZE / _FONT.size
_MIN_BOX_HEIGHT = 0.29  # inches
_PADDING = 0.11  # inches left and right of the text in a box
_TITLE_HEIGHT = 0.35  # inches above our own axes
_MIN_WIDTH = 3.0  # inches of our own figure: a title has room
_NAME_LENGTHS = (32, 18)  # characters of a name, and of one where there is little room
_MAX_SCALE = 1.4  # in axes that have more room than the graph needs
_SPACING = Spacing(boxes=0.2, layers=0.85, ends=0.085)
_NO_ROOM = "The graph has no room to be read here: give it larger axes, or none."
_EMPTY = "The graph has no features."
_UNDIRECTED = {True: "#a0522d", False: "#e0a37c"}  # on a light ground, and on a dark one


def plot(
    dag: Dag,
    # where to draw; `None` makes a figure large enough to read every name. Axes in which no name
    # could be read say so.
    ax: "Axes | None" = None,
    *,
    title: str | None = None,  # above the drawing
) -> "Axes":
    """Draw a graph, layered from left to right by causal depth."""
    position = {name: number for number, name in enumerate(dag.order)}
    pairs = [sorted_pair(pair, position) for pair in dag.undirected]
    edges = [*dag.edges, *pairs]
    names, diagram = _arranged(dag, edges, _NAME_LENGTHS[0])
    frame = frame_of(diagram, _SPACING.boxes)
    max_scale = 1.0 if ax is None else _MAX_SCALE
    room = FigureLayout.of(_new_axes(frame) if ax is None else ax)
    if not dag.nodes:
        return room.write_instead(_EMPTY)
    window = room.fit_whole(title or "")
    scale = fit_axes(room.ax, window, frame, max_scale)
    if scale < _MIN_SCALE:
        names, diagram = _arranged(dag, edges, _NAME_LENGTHS[1])
        scale = fit_axes(room.ax, window, frame_of(diagram, _SPACING.boxes), max_scale)
    if scale < _MIN_SCALE:
        return room.write_instead(_NO_ROOM)
    colors = palette_inside(room.ax)
    looks = {
        edge: _edge_look(dag.confidence.get(edge), edge not in pairs, colors) for edge in edges
    }
    boxes = {name: _box_look(words, colors) for name, words in names.items()}
    draw(room.ax, diagram, looks, boxes, scale)
    return room.ax


def _arranged(dag: Dag, edges: Sequence[Edge], max_length: int) -> tuple[dict[str, str], Diagram]:
    """Return the names of nodes as they are shown, none longer than asked, and their places."""
    names = {name: _shown(name, max_length) for name in dag.nodes}
    sizes = {name: _size(name, words, edges) for name, words in names.items()}
    return names, arrange(dag.order, edges, sizes, _SPACING, downwards=False)


def _size(name: str, shown: str, edges: Sequence[Edge]) -> Size:
    """Return the width of a box, and the height at which the ends of all edges have room on it."""
    n_causes = sum(effect == name for _, effect in edges)
    n_effects = sum(cause == name for cause, _ in edges)
    height = max(_MIN_BOX_HEIGHT, _SPACING.ends * (max(n_causes, n_effects) + 1))
    return _FONT.width(shown) / POINTS + 2 * _PADDING, height


def _new_axes(frame: Frame) -> "Axes":
    import matplotlib.pyplot as plt

    size = max(frame.width, _MIN_WIDTH), frame.height + _TITLE_HEIGHT
    figure = plt.figure(figsize=size)
    return figure.add_axes((0, 0, 1, frame.height / size[1]))


def _edge_look(confidence: float | None, directed: bool, colors: Palette) -> EdgeLook:
    share = 0.5 if confidence is None else confidence
    return EdgeLook(
        color=colors.blue if directed else _UNDIRECTED[colors is LIGHT],
        width=0.5 + 2.0 * share,
        head_size=7 + 5 * share if directed else None,
        opacity=0.85 if confidence is None else 0.45 + 0.5 * share,
        dashes=None if directed else (4, 2.5),
        sharp=True,
    )


def _box_look(words: str, colors: Palette) -> BoxLook:
    line = TextLine(words, _FONT, colors.ink)
    return BoxLook((line,), colors.most, colors.ink, frame_width=0.8, rounding=_MIN_BOX_HEIGHT / 4)


def _shown(name: str, max_length: int) -> str:
    """Return a name on one line; one that nobody would see stands in quotes."""
    return without_middle(" ".join(name.split()) or f'"{name}"', max_length)
