"""The strokes of a drawn graph: boxes, words, and edges that bend between layers.

Layers follow one another in depth; the nodes of a layer stand side by side across it. Depth runs
to the right, or downwards.
"""

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from proce.causal.drawing.layers import Layers, Node
from proce.causal.graphs.edges import Edge

if TYPE_CHECKING:
    from matplotlib.axes import Axes

POINTS = 72.0  # per inch
Corner = tuple[float, float]  # depth, across


def text_width(text: str, size: float, weight: str = "normal") -> float:
    """Return how wide a text of a size in points is, in inches."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    plain = text.replace("$", r"\$")  # a dollar sign starts no formula
    font = FontProperties(size=size, weight=weight)
    return float(TextPath((0, 0), plain, prop=font).get_extents().width) / POINTS


def ports(layers: Layers, apart: Callable[[str, int], float]) -> dict[tuple[Edge, str], float]:
    """Return how far from the middle of its box each end of an edge lies.

    Ends are spread over the side of the box, in the order of where the edges go.

    Parameters
    ----------
    layers
        Where the nodes are.
    apart
        How far two ends are apart on the box of a name that has so many ends on that side.
    """
    sides: dict[tuple[str, bool], list[tuple[float, Edge]]] = {}
    for (cause, effect), bends in layers.routes.items():
        nodes: list[Node] = [cause, *bends, effect]
        sides.setdefault((cause, True), []).append((layers.height[nodes[1]], (cause, effect)))
        sides.setdefault((effect, False), []).append((layers.height[nodes[-2]], (cause, effect)))
    places = {}
    for (name, _), ends in sides.items():
        gap = apart(name, len(ends))
        for rank, (_, edge) in enumerate(sorted(ends)):
            places[edge, name] = (rank - (len(ends) - 1) / 2) * gap
    return places


def corners_of(
    edge: Edge,
    layers: Layers,
    depth: Callable[[Node], tuple[float, float]],
    places: Mapping[tuple[Edge, str], float],
) -> list[Corner]:
    """Return the points of an edge; it is straight inside a layer and bends between layers.

    Parameters
    ----------
    edge, layers
        Of the graph.
    depth
        Where the box of a node, or the passage of a bend, begins and ends.
    places
        From :func:`ports`.
    """
    cause, effect = edge
    corners = [(depth(cause)[1], layers.height[cause] + places[edge, cause])]
    for bend in layers.routes[edge]:
        corners += [(each, layers.height[bend]) for each in depth(bend)]
    return [*corners, (depth(effect)[0], layers.height[effect] + places[edge, effect])]


def draw_edge(ax: "Axes", corners: list[Corner], *, downwards: bool, **style: Any) -> None:
    """Draw an arrow through the points of an edge."""
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path

    points, codes = [corners[0]], [Path.MOVETO]
    for at, (start, end) in enumerate(pairwise(corners)):
        if at % 2:  # inside a layer
            points.append(end)
            codes.append(Path.LINETO)
        else:
            middle = (start[0] + end[0]) / 2
            points += [(middle, start[1]), (middle, end[1]), end]
            codes += [Path.CURVE4] * 3
    if downwards:
        points = [(across, deep) for deep, across in points]
    usual: dict[str, Any] = {"shrinkA": 0, "shrinkB": 0, "arrowstyle": "-|>"}
    ax.add_patch(FancyArrowPatch(path=Path(points, codes), **usual | style))


def draw_box(
    ax: "Axes",
    corner: tuple[float, float],
    size: tuple[float, float],
    rounding: float,
    **style: Any,
) -> None:
    """Draw a box with round corners, from its lower left one."""
    from matplotlib.patches import FancyBboxPatch

    shape = f"round,pad=0,rounding_size={rounding}"
    ax.add_patch(FancyBboxPatch(corner, *size, boxstyle=shape, **style))


def draw_words(ax: "Axes", middle: tuple[float, float], words: str, **style: Any) -> None:
    """Write words around a point, as they are."""
    usual: dict[str, Any] = {"ha": "center", "va": "center_baseline", "parse_math": False}
    ax.text(*middle, words, **usual | style)
