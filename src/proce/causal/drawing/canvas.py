"""Draw a diagram with matplotlib; the caller says how each box and edge looks."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from math import inf
from typing import TYPE_CHECKING

from proce.causal.drawing.diagram import Box, Corner, Diagram
from proce.causal.drawing.text_fit import Font
from proce.causal.graphs.dag import Edge

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.transforms import Bbox

_LINE_DISTANCE = 0.17  # inches between two lines of text in a box
Dashes = tuple[float, float]  # lengths of a dash and of the gap behind it


@dataclass(frozen=True)
class TextLine:
    """A line of text in a box."""

    text: str
    font: Font
    color: str


@dataclass(frozen=True)
class BoxLook:
    """How a box looks; widths are in points, the rounding of its corners in inches."""

    lines: tuple[TextLine, ...]
    fill: str
    frame: str
    frame_width: float
    rounding: float
    dashes: Dashes | None = None


@dataclass(frozen=True)
class EdgeLook:
    """How an edge looks; sizes are in points."""

    color: str  # the line; an opacity of 1 hides what is below it
    width: float
    head_size: float | None  # the size of the arrow head; `None` for an edge without one
    opacity: float = 1.0
    dashes: Dashes | None = None  # `None` for a solid line
    sharp: bool = False  # whether the line has sharp ends and corners rather than round ones
    in_front: bool = False  # whether the edge is drawn over those that are not


@dataclass(frozen=True)
class Frame:
    """The part of the plane that is shown, in inches."""

    left: float
    right: float
    low: float
    high: float

    @property
    def width(self) -> float:
        """How wide the part is."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """How high the part is."""
        return self.high - self.low

    def scale_in(self, width: float, height: float) -> float:
        """Return the largest scale at which the part fits into so many inches."""
        return min(width / self.width, height / self.height)


def frame_of(diagram: Diagram, margin: float) -> Frame:
    """Return the part of the plane that holds all boxes and bends of a diagram, and a margin."""
    boxes = diagram.boxes.values()
    bends = [across for corners in diagram.routes.values() for _, across in corners[1:-1]]
    beside, above = (bends, []) if diagram.downwards else ([], bends)
    return Frame(
        min([box.x - box.width / 2 for box in boxes] + beside, default=0.0) - margin,
        max([box.x + box.width / 2 for box in boxes] + beside, default=0.0) + margin,
        min([box.y - box.height / 2 for box in boxes] + above, default=0.0) - margin,
        max([box.y + box.height / 2 for box in boxes] + above, default=0.0) + margin,
    )


def fit_axes(
    ax: "Axes",  # the axes, and where they are in the figure, in pixels
    window: "Bbox",
    frame: Frame,
    max_scale: float = inf,  # the largest scale; room that is left then stays empty
) -> float:
    """Show a frame in the middle of axes, with one scale both ways."""
    dpi = ax.figure.dpi
    scale = min(frame.scale_in(window.width / dpi, window.height / dpi), max_scale)
    x_room = (window.width / dpi / scale - frame.width) / 2
    y_room = (window.height / dpi / scale - frame.height) / 2
    ax.set_xlim(frame.left - x_room, frame.right + x_room)
    ax.set_ylim(frame.low - y_room, frame.high + y_room)
    return float(scale)


def draw(
    ax: "Axes",
    diagram: Diagram,
    edges: Mapping[Edge, EdgeLook],
    boxes: Mapping[str, BoxLook],
    scale: float,
) -> None:
    """Draw the edges and then the boxes of a diagram, at the scale of the axes."""
    for edge, corners in diagram.routes.items():
        _draw_edge(ax, corners, edges[edge], scale, diagram.downwards)
    for name, box in diagram.boxes.items():
        _draw_box(ax, box, boxes[name], scale)
        _draw_lines(ax, box, boxes[name], scale)


def _draw_edge(
    ax: "Axes", corners: list[Corner], look: EdgeLook, scale: float, downwards: bool
) -> None:
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path

    points, codes = [corners[0]], [Path.MOVETO]
    for number, (start, end) in enumerate(pairwise(corners)):
        if number % 2:  # inside a layer
            points.append(end)
            codes.append(Path.LINETO)
        else:
            middle = (start[0] + end[0]) / 2
            points += [(middle, start[1]), (middle, end[1]), end]
            codes += [Path.CURVE4] * 3
    if downwards:
        points = [(across, -depth) for depth, across in points]
    ax.add_patch(
        FancyArrowPatch(
            path=Path(points, codes),
            arrowstyle="-" if look.head_size is None else "-|>",
            mutation_scale=(look.head_size or 1.0) * scale,
            shrinkA=0,
            shrinkB=0,
            linewidth=look.width * scale,
            linestyle="-" if look.dashes is None else (0, look.dashes),
            color=look.color,
            alpha=look.opacity,
            capstyle="butt" if look.sharp else "round",
            joinstyle="miter" if look.sharp else "round",
            zorder=2 if look.in_front else 1,
        )
    )


def _draw_box(ax: "Axes", box: Box, look: BoxLook, scale: float) -> None:
    from matplotlib.patches import FancyBboxPatch

    ax.add_patch(
        FancyBboxPatch(
            (box.x - box.width / 2, box.y - box.height / 2),
            box.width,
            box.height,
            boxstyle=f"round,pad=0,rounding_size={look.rounding}",
            facecolor=look.fill,
            edgecolor=look.frame,
            linewidth=look.frame_width * scale,
            linestyle="-" if look.dashes is None else (0, look.dashes),
            zorder=3,
        )
    )


def _draw_lines(ax: "Axes", box: Box, look: BoxLook, scale: float) -> None:
    top = box.y + _LINE_DISTANCE * (len(look.lines) - 1) / 2
    for rank, line in enumerate(look.lines):
        ax.text(
            box.x,
            top - _LINE_DISTANCE * rank,
            **replace(line.font, size=line.font.size * scale).settings(line.text),
            color=line.color,
            ha="center",
            va="center_baseline",
            zorder=4,
        )
