"""The causal graph of an explanation: what is done, what is held, what follows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from proce.causal import CausalGraph
from proce.causal.layers import Layers, Node, lay_out
from proce.explanation.cells import Cell, cells_of
from proce.explanation.explanation import Change, Context, Explanation
from proce.explanation.plots import BLUE, GREY, INK, KIND_WORDS, own_axes, settled, write_instead
from proce.explanation.words import cell_texts, name_text, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Edge = tuple[str, str]
Point = tuple[float, float]
_FONT, _SMALL = 9.0, 8.0  # points
_POINTS = 72.0  # per inch; one unit of the drawing is an inch
_PAD, _APART, _BETWEEN = 0.1, 0.16, 0.4  # inches inside a box, between boxes, between layers
_ONE_LINE, _TWO_LINES = 0.25, 0.4  # inches: the height of a box
_ROW = 5.0  # inches of boxes without edges side by side
_LARGEST = 1.2  # times the size in inches, where there is room
_END = 0.13  # inches between the ends of two edges on one side of a box
_LONGEST = 40  # characters of a line
_EDGES = {Change.ACTION: 1.8, Change.HOLD: 1.8, Change.CONSEQUENCE: 1.2, Change.NONE: 0.7}


@dataclass(frozen=True)
class _Box:
    """A feature: its lines of text and the size of its box in inches."""

    lines: tuple[str, ...]
    kind: Change
    width: float
    height: float


def plot_graph(explanation: Explanation, ax: "Axes | None" = None) -> "Axes":
    """Draw the causal graph, causes above effects, with the recommended counterfactual.

    Features that are acted on or held have a thick frame, those that follow a dashed one; each
    says so. Arrows along which something follows are dark. Features that neither change nor
    have an edge are left out.

    Parameters
    ----------
    explanation
        Of one row.
    ax
        Where to draw; ``None`` makes a figure.
    """
    ranked = cells_of([explanation])[0]
    cells = {cell.feature.name: cell for cell in (ranked[0] if ranked else ())}
    context = explanation.context
    joined = {name for edge in context.edges for name in edge}
    alone = [name for name in cells if name not in joined]
    ax = own_axes(ax)
    if not joined and not alone:
        return write_instead(ax, explanation)
    boxes = {name: _box(explanation, name, cells.get(name)) for name in [*joined, *alone]}
    middles, routes = _places(context, boxes, alone)
    ax.set_title(_title(explanation, cells), fontsize=10)
    ax.set_axis_off()
    scale = _canvas(ax, middles, boxes, routes)
    for edge, points in routes.items():
        _draw_edge(ax, points, _flows(edge, cells), scale)
    for name, box in boxes.items():
        _draw_box(ax, box, middles[name], scale)
    return ax


def _title(explanation: Explanation, cells: Mapping[str, Cell]) -> str:
    if not explanation.context.edges:
        return f"Row {explanation.row}: no causal graph, so nothing follows"
    if not cells:
        return f"Row {explanation.row}: nothing changes"
    return f"Row {explanation.row}: what to do, and what follows"


def _box(explanation: Explanation, name: str, cell: Cell | None) -> _Box:
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    lines = [short(name_text(name), _LONGEST)]
    if cell is not None:
        span = explanation.context.codec.span[cell.position].item()
        before, after = cell_texts(cell, span)
        change = before if cell.kind is Change.HOLD else f"{before} → {after}"
        lines.append(short(f"{KIND_WORDS[cell.kind]}: {change}", _LONGEST))
    fonts = FontProperties(size=_FONT, weight="bold"), FontProperties(size=_SMALL)
    widths = [
        TextPath((0, 0), line.replace("$", r"\$"), prop=font).get_extents().width / _POINTS
        for line, font in zip(lines, fonts, strict=False)
    ]
    kind = Change.NONE if cell is None else cell.kind
    height = _TWO_LINES if cell is not None else _ONE_LINE
    return _Box(tuple(lines), kind, max(widths) + 2 * _PAD, height)


def _places(
    context: Context, boxes: Mapping[str, _Box], alone: Sequence[str]
) -> tuple[dict[str, Point], dict[Edge, list[Point]]]:
    """Return the middle of every box and the corners of every edge, in inches."""
    joined = [name for name in context.codec.schema.names if name in boxes and name not in alone]
    middles: dict[str, Point] = {}
    routes: dict[Edge, list[Point]] = {}
    low, left, right = _TWO_LINES / 2 + _BETWEEN, -_ROW / 2, _ROW / 2
    if joined:
        order = CausalGraph(context.edges, joined).order
        layers = lay_out(order, context.edges, {n: boxes[n].width + _APART for n in joined})
        levels = _levels(layers, boxes)
        middles = {name: (layers.height[name], levels[layers.layer[name]]) for name in joined}
        ports = _ports(layers, boxes)
        routes = {
            edge: _corners(edge, layers, middles, levels, boxes, ports) for edge in layers.routes
        }
        left = min(middles[name][0] - boxes[name].width / 2 for name in joined)
        right = max(left + _ROW, *(middles[n][0] + boxes[n].width / 2 for n in joined))
        low = levels[-1]
    x, y = left, low - _TWO_LINES - _BETWEEN / 2
    for name in alone:
        width = boxes[name].width
        if x > left and x + width > right:
            x, y = left, y - _TWO_LINES - _APART
        middles[name] = (x + width / 2, y)
        x += width + _APART
    return middles, routes


def _levels(layers: Layers, boxes: Mapping[str, _Box]) -> list[float]:
    """Return how high the middle of each layer lies, the first one on top."""
    tall = [0.0] * (1 + max(layers.layer.values()))
    for name, layer in layers.layer.items():
        if isinstance(name, str):
            tall[layer] = max(tall[layer], boxes[name].height)
    levels = [0.0]
    for above, below in pairwise(tall):
        levels.append(levels[-1] - (above + below) / 2 - _BETWEEN)
    return levels


def _canvas(
    ax: "Axes",
    middles: Mapping[str, Point],
    boxes: Mapping[str, _Box],
    routes: Mapping[Edge, Sequence[Point]],
) -> float:
    """Set up axes of one scale both ways; return how much smaller than an inch a unit is."""
    bends = [x for points in routes.values() for x, _ in points]
    sides = [(middles[name][0], box.width / 2) for name, box in boxes.items()]
    left = min([x - half for x, half in sides] + bends) - _APART / 2
    right = max([x + half for x, half in sides] + bends) + _APART / 2
    heights = [y for _, y in middles.values()]
    low, high = min(heights) - _TWO_LINES / 2 - _PAD, max(heights) + _TWO_LINES / 2 + _PAD
    box, dpi = settled(ax), ax.figure.dpi
    width, height = right - left, high - low
    scale = min(box.width / dpi / width, box.height / dpi / height, _LARGEST)
    room = (box.width / dpi / scale - width) / 2, (box.height / dpi / scale - height) / 2
    ax.set_xlim(left - room[0], right + room[0])
    ax.set_ylim(low - room[1], high + room[1])
    return float(scale)


def _ports(layers: Layers, boxes: Mapping[str, _Box]) -> dict[tuple[Edge, str], float]:
    """Return how far right of the middle of its box each end of an edge lies."""
    sides: dict[tuple[str, bool], list[tuple[float, Edge]]] = {}
    for (cause, effect), bends in layers.routes.items():
        nodes: list[Node] = [cause, *bends, effect]
        sides.setdefault((cause, True), []).append((layers.height[nodes[1]], (cause, effect)))
        sides.setdefault((effect, False), []).append((layers.height[nodes[-2]], (cause, effect)))
    ports = {}
    for (name, _), ends in sides.items():
        apart = min(_END, boxes[name].width / (len(ends) + 1))
        for rank, (_, edge) in enumerate(sorted(ends)):
            ports[edge, name] = (rank - (len(ends) - 1) / 2) * apart
    return ports


def _corners(
    edge: Edge,
    layers: Layers,
    middles: Mapping[str, Point],
    levels: Sequence[float],
    boxes: Mapping[str, _Box],
    ports: Mapping[tuple[Edge, str], float],
) -> list[Point]:
    """Return the points of an edge; it is upright beside boxes and bends between layers."""
    cause, effect = edge
    (from_x, from_y), (to_x, to_y) = middles[cause], middles[effect]
    points = [(from_x + ports[edge, cause], from_y - boxes[cause].height / 2)]
    for bend in layers.routes[edge]:
        middle = levels[layers.layer[bend]]
        points += [(layers.height[bend], middle + side * _ONE_LINE / 2) for side in (1, -1)]
    return [*points, (to_x + ports[edge, effect], to_y + boxes[effect].height / 2)]


def _flows(edge: Edge, cells: Mapping[str, Cell]) -> bool:
    """Whether something follows along an edge: its cause moved, and its effect with it."""
    cause, effect = (cells.get(name) for name in edge)
    moved = cause is not None and cause.kind is not Change.HOLD
    return moved and effect is not None and effect.kind is Change.CONSEQUENCE


def _draw_edge(ax: "Axes", corners: Sequence[Point], flows: bool, scale: float) -> None:
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path

    points, codes = [corners[0]], [Path.MOVETO]
    for at, (start, end) in enumerate(pairwise(corners)):
        if at % 2:  # beside a layer
            points.append(end)
            codes.append(Path.LINETO)
        else:
            middle = (start[1] + end[1]) / 2
            points += [(start[0], middle), (end[0], middle), end]
            codes += [Path.CURVE4] * 3
    ax.add_patch(
        FancyArrowPatch(
            path=Path(points, codes),
            arrowstyle="-|>",
            linewidth=(1.5 if flows else 0.7) * scale,
            mutation_scale=9 * scale,
            color=INK if flows else "#b5b5b5",
            shrinkA=0,
            shrinkB=0,
            zorder=2 if flows else 1,
        )
    )


def _draw_box(ax: "Axes", box: _Box, middle: Point, scale: float) -> None:
    from matplotlib.patches import FancyBboxPatch

    (x, y), marked = middle, box.kind is not Change.NONE
    done = box.kind in (Change.ACTION, Change.HOLD)
    ax.add_patch(
        FancyBboxPatch(
            (x - box.width / 2, y - box.height / 2),
            box.width,
            box.height,
            boxstyle="round,pad=0,rounding_size=0.06",
            facecolor="#e3eefb" if done else "#f1f1f1" if marked else "white",
            edgecolor=BLUE if done else INK if marked else GREY,
            linewidth=_EDGES[box.kind] * scale,
            linestyle=(0, (3, 2)) if box.kind is Change.CONSEQUENCE else "-",
            zorder=3,
        )
    )
    for rank, line in enumerate(box.lines):
        ax.text(
            x,
            y + (0.085 - 0.17 * rank if marked else 0),
            line,
            ha="center",
            va="center_baseline",
            size=(_FONT, _SMALL)[rank] * scale,
            weight="bold" if done and rank == 0 else "normal",
            style="italic" if rank and not done else "normal",
            color=INK if marked else GREY,
            parse_math=False,
            zorder=4,
        )
