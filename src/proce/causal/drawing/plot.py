"""Draw a graph with matplotlib: causes left of effects, edges as thick as they are certain."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from proce.causal.drawing.layers import Layers, lay_out
from proce.causal.drawing.shapes import (
    POINTS,
    Corner,
    corners_of,
    draw_box,
    draw_edge,
    draw_words,
    ports,
    text_width,
)
from proce.causal.graphs.edges import Edge

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from proce.causal.graph import CausalGraph

_FONT = 10.0  # points; one unit of the drawing is an inch where the axes are our own
_BOX = 0.29  # inches: the height of a box
_END = 0.085  # inches between the ends of two edges on one side of a box
_APART = 0.2  # inches between two boxes of a layer
_PAD = 0.11  # inches left and right of the text in a box
_TITLE = 0.35  # inches above our own axes
_LONGEST = 32  # characters of a name that are shown
_GAP = 0.85  # inches between layers, for the edges to bend in
_INK, _PAPER, _LINE, _OPEN = "#1b2733", "#eef3f8", "#41719c", "#a0522d"


def plot(graph: "CausalGraph", ax: "Axes | None" = None, *, title: str | None = None) -> "Axes":
    """Draw the graph, layered from left to right by causal depth.

    Where edges have a confidence, the thicker and darker the more certain. Undirected pairs
    are dashed and have no head.

    Parameters
    ----------
    ax
        Where to draw; ``None`` makes a figure large enough to read every name.
    title
        Above the drawing.

    Returns
    -------
    matplotlib.axes.Axes
    """
    place = {name: at for at, name in enumerate(graph.order)}
    pairs = [pair if place[pair[0]] < place[pair[1]] else pair[::-1] for pair in graph.undirected]
    edges = [*graph.edges, *pairs]
    tall = {name: _box_height(name, edges) for name in graph.nodes}
    layers = lay_out(graph.order, edges, {name: each + _APART for name, each in tall.items()})
    columns = _columns(layers, graph.nodes)
    ax = _canvas(ax, columns, layers, tall)
    if title is not None:
        ax.set_title(title)
    scale = _points_per_unit(ax) / POINTS
    places = ports(layers, lambda name, n_ends: _END)
    for edge in layers.routes:
        corners = corners_of(edge, layers, lambda node: columns[layers.layer[node]], places)
        share = graph.confidence.get(edge)
        _draw_edge(ax, corners, share, scale, directed=edge not in pairs)
    for name in graph.nodes:
        low = layers.height[name] - tall[name] / 2
        _draw_node(ax, name, columns[layers.layer[name]], (low, low + tall[name]), scale)
    return ax


def _box_height(name: str, edges: Sequence[Edge]) -> float:
    """Return the height at which the ends of all edges have room on the box."""
    most = max(sum(effect == name for _, effect in edges), sum(c == name for c, _ in edges))
    return max(_BOX, _END * (most + 1))


def _columns(layers: Layers, names: Sequence[str]) -> list[tuple[float, float]]:
    """Return the left and the right side of each layer, as wide as its longest name."""
    widths = [0.0] * (1 + max((layers.layer[name] for name in names), default=0))
    for name in names:
        width = text_width(_one_line(name), _FONT) + 2 * _PAD
        widths[layers.layer[name]] = max(widths[layers.layer[name]], width)
    columns: list[tuple[float, float]] = []
    left = 0.0
    for width in widths:
        columns.append((left, left + width))
        left += width + _GAP
    return columns


def _canvas(
    ax: "Axes | None",
    columns: Sequence[tuple[float, float]],
    layers: Layers,
    tall: Mapping[str, float],
) -> "Axes":
    """Set up axes that hold everything and have the same scale both ways."""
    room = max(tall.values(), default=0.0) / 2 + _APART
    low = min(layers.height.values(), default=0.0) - room
    high = max(layers.height.values(), default=0.0) + room
    width, height = columns[-1][1] + 2 * _APART, high - low
    if ax is None:
        import matplotlib.pyplot as plt

        figure = plt.figure(figsize=(width, height + _TITLE))
        ax = figure.add_axes((0, 0, 1, height / (height + _TITLE)))
    ax.set_xlim(-_APART, width - _APART)
    ax.set_ylim(low, high)
    ax.set_aspect("equal")
    ax.set_axis_off()
    return ax


def _points_per_unit(ax: "Axes") -> float:
    box = ax.get_window_extent()
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    pixels = min(box.width / (right - left), box.height / (high - low))
    return float(pixels) / ax.figure.dpi * POINTS


def _draw_edge(
    ax: "Axes", corners: list[Corner], share: float | None, scale: float, directed: bool
) -> None:
    certain = 0.5 if share is None else share
    draw_edge(
        ax,
        corners,
        downwards=False,
        arrowstyle="-|>" if directed else "-",
        linestyle="-" if directed else (0, (4, 2.5)),
        linewidth=(0.5 + 2.0 * certain) * scale,
        mutation_scale=(7 + 5 * certain) * scale,
        color=_LINE if directed else _OPEN,
        alpha=0.45 + 0.5 * certain if share is not None else 0.85,
        capstyle="butt",
        joinstyle="miter",
        zorder=1,
    )


def _draw_node(
    ax: "Axes", name: str, column: tuple[float, float], row: tuple[float, float], scale: float
) -> None:
    (left, right), (low, high) = column, row
    size, middle = (right - left, high - low), ((left + right) / 2, (low + high) / 2)
    look = {"facecolor": _PAPER, "edgecolor": _INK, "linewidth": 0.8 * scale}
    draw_box(ax, (left, low), size, _BOX / 4, zorder=2, **look)
    draw_words(ax, middle, _one_line(name), size=_FONT * scale, color=_INK, zorder=3)


def _one_line(name: str) -> str:
    text = " ".join(name.split())
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
