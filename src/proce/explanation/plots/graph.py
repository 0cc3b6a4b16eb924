"""The causal graph of an explanation: what is done, what is held, what follows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from proce.causal import CausalGraph
from proce.causal.drawing.layers import Layers, Node, lay_out
from proce.causal.drawing.shapes import (
    Corner,
    corners_of,
    draw_box,
    draw_edge,
    draw_words,
    ports,
    text_width,
)
from proce.explanation.plots.style import (
    BLUE,
    FAINT,
    GREY,
    INK,
    KIND_WORDS,
    MOST,
    PAPER,
    TINT,
    own_axes,
    settled,
    write_instead,
)
from proce.explanation.record.context import Context
from proce.explanation.record.outcome import Change
from proce.explanation.record.rows import ExplainedRow
from proce.explanation.words.cells import ChangedCell, row_cells
from proce.explanation.words.sentences import sentences
from proce.explanation.words.values import cell_texts, name_text, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Edge = tuple[str, str]
Point = tuple[float, float]
_FONT, _SMALL = 9.0, 8.0  # points; one unit of the drawing is an inch
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


def plot_graph(explanation: ExplainedRow, ax: "Axes | None" = None) -> "Axes":
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
    ranked = row_cells(explanation)
    cells = {cell.feature.name: cell for cell in (ranked[0] if ranked else ())}
    context = explanation.context
    joined = {name for edge in context.edges for name in edge}
    alone = [name for name in cells if name not in joined]
    ax = own_axes(ax)
    if not joined and not alone:
        return write_instead(ax, sentences(explanation)[0])
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


def _title(explanation: ExplainedRow, cells: Mapping[str, ChangedCell]) -> str:
    if not explanation.context.edges:
        return f"Row {explanation.row}: no causal graph, so nothing follows"
    if not cells:
        return f"Row {explanation.row}: nothing changes"
    return f"Row {explanation.row}: what to do, and what follows"


def _box(explanation: ExplainedRow, name: str, cell: ChangedCell | None) -> _Box:
    lines = [short(name_text(name), _LONGEST)]
    if cell is not None:
        span = explanation.context.codec.span[cell.position].item()
        before, after = cell_texts(cell, span)
        change = before if cell.kind is Change.HOLD else f"{before} → {after}"
        lines.append(short(f"{KIND_WORDS[cell.kind]}: {change}", _LONGEST))
    fonts = (_FONT, "bold"), (_SMALL, "normal")
    widths = [text_width(line, *font) for line, font in zip(lines, fonts, strict=False)]
    kind = Change.NONE if cell is None else cell.kind
    height = _TWO_LINES if cell is not None else _ONE_LINE
    return _Box(tuple(lines), kind, max(widths) + 2 * _PAD, height)


def _places(
    context: Context, boxes: Mapping[str, _Box], alone: Sequence[str]
) -> tuple[dict[str, Point], dict[Edge, list[Corner]]]:
    """Return the middle of every box and the corners of every edge, in inches."""
    joined = [name for name in context.codec.schema.names if name in boxes and name not in alone]
    middles: dict[str, Point] = {}
    routes: dict[Edge, list[Corner]] = {}
    low, left, right = _TWO_LINES / 2 + _BETWEEN, -_ROW / 2, _ROW / 2
    if joined:
        order = CausalGraph(context.edges, joined).order
        layers = lay_out(order, context.edges, {n: boxes[n].width + _APART for n in joined})
        levels = _levels(layers, boxes)
        middles = {name: (layers.height[name], levels[layers.layer[name]]) for name in joined}
        places = ports(layers, lambda name, n: min(_END, boxes[name].width / (n + 1)))

        def depth(node: Node) -> tuple[float, float]:
            half = boxes[node].height / 2 if isinstance(node, str) else _ONE_LINE / 2
            middle = levels[layers.layer[node]]
            return middle + half, middle - half

        routes = {edge: corners_of(edge, layers, depth, places) for edge in layers.routes}
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
    routes: Mapping[Edge, Sequence[Corner]],
) -> float:
    """Set up axes of one scale both ways; return how much smaller than an inch a unit is."""
    bends = [x for corners in routes.values() for _, x in corners]
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


def _flows(edge: Edge, cells: Mapping[str, ChangedCell]) -> bool:
    """Whether something follows along an edge: its cause moved, and its effect with it."""
    cause, effect = (cells.get(name) for name in edge)
    moved = cause is not None and cause.kind is not Change.HOLD
    return moved and effect is not None and effect.kind is Change.CONSEQUENCE


def _draw_edge(ax: "Axes", corners: list[Corner], flows: bool, scale: float) -> None:
    draw_edge(
        ax,
        corners,
        downwards=True,
        linewidth=(1.5 if flows else 0.7) * scale,
        mutation_scale=9 * scale,
        color=INK if flows else FAINT,
        zorder=2 if flows else 1,
    )


def _draw_box(ax: "Axes", box: _Box, middle: Point, scale: float) -> None:
    (x, y), marked = middle, box.kind is not Change.NONE
    done = box.kind in (Change.ACTION, Change.HOLD)
    draw_box(
        ax,
        (x - box.width / 2, y - box.height / 2),
        (box.width, box.height),
        0.06,
        facecolor=TINT if done else MOST if marked else PAPER,
        edgecolor=BLUE if done else INK if marked else GREY,
        linewidth=_EDGES[box.kind] * scale,
        linestyle=(0, (3, 2)) if box.kind is Change.CONSEQUENCE else "-",
        zorder=3,
    )
    for rank, line in enumerate(box.lines):
        draw_words(
            ax,
            (x, y + (0.085 - 0.17 * rank if marked else 0)),
            line,
            size=(_FONT, _SMALL)[rank] * scale,
            weight="bold" if done and rank == 0 else "normal",
            style="italic" if rank and not done else "normal",
            color=INK if marked else GREY,
            zorder=4,
        )
