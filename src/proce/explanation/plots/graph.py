"""The causal graph of an explanation: what is done, what is held, what follows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from proce.causal import CausalGraph
from proce.causal.drawing.canvas import (
    BoxLook,
    EdgeLook,
    Frame,
    TextLine,
    draw,
    fit_axes,
    text_width,
)
from proce.causal.drawing.diagram import Box, Diagram, Spacing, arrange
from proce.explanation.plots.style import (
    BLUE,
    FAINT,
    GREY,
    INK,
    NINE_TENTHS,
    PAPER,
    TINT,
    axes_or_new,
    kind_word,
    settled_extent,
    write_instead,
)
from proce.explanation.record.context import Context
from proce.explanation.record.outcome import Change
from proce.explanation.record.rows import ExplainedRow
from proce.explanation.words.cells import ChangedCell, row_cells
from proce.explanation.words.sentences import sentences
from proce.explanation.words.values import change_texts, name_text, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Edge = tuple[str, str]
_NAME_SIZE, _CHANGE_SIZE = 9.0, 8.0  # points
_PADDING = 0.1  # inches around the text in a box
_ONE_LINE, _TWO_LINES = 0.25, 0.4  # inches: the height of a box
_ROW_WIDTH = 5.0  # inches of boxes without edges side by side
_MAX_SCALE = 1.2  # of the sizes above, where there is room
_MAX_LINE_LENGTH = 40  # characters in a box
_SPACING = Spacing(boxes=0.16, layers=0.4, ends=0.13, passage=_ONE_LINE)
_FRAME_WIDTHS = {
    Change.ACTION: 1.8,
    Change.HOLD: 1.8,
    Change.CONSEQUENCE: 1.2,
    Change.NONE: 0.7,
}


@dataclass(frozen=True)
class _Label:
    """What the box of a feature says, and its size in inches."""

    lines: tuple[str, ...]
    kind: Change
    width: float
    height: float


def plot_graph(explanation: ExplainedRow, ax: "Axes | None" = None) -> "Axes":
    """Draw the causal graph, causes above effects, with the recommended counterfactual.

    Features that are acted on or held have a thick frame, those that follow a dashed one, and a
    word in each box says which. Arrows along which a consequence follows are dark. Features that
    neither change nor have an edge are left out.

    Parameters
    ----------
    explanation
        The explained row.
    ax
        The axes to draw on; ``None`` makes a figure.
    """
    ranked = row_cells(explanation)
    cells = {cell.feature.name: cell for cell in (ranked[0] if ranked else ())}
    context = explanation.context
    joined = dict.fromkeys(name for edge in context.edges for name in edge)  # in a fixed order
    alone = [name for name in cells if name not in joined]
    ax = axes_or_new(ax)
    if not joined and not alone:
        return write_instead(ax, sentences(explanation)[0])
    labels = {name: _label(explanation, name, cells.get(name)) for name in [*joined, *alone]}
    diagram = _diagram(context, labels, alone)
    ax.set_title(_title(explanation, cells), fontsize=10)
    ax.set_axis_off()  # before the layout is settled_extent: ticks would take room
    scale = fit_axes(ax, settled_extent(ax), _frame(diagram), _MAX_SCALE)
    edges = {edge: _edge_look(_flows(edge, cells)) for edge in diagram.routes}
    draw(ax, diagram, edges, {name: _box_look(label) for name, label in labels.items()}, scale)
    return ax


def _title(explanation: ExplainedRow, cells: Mapping[str, ChangedCell]) -> str:
    if not explanation.context.edges:
        return f"Row {explanation.row}: no causal graph, so nothing follows"
    if not cells:
        return f"Row {explanation.row}: nothing changes"
    return f"Row {explanation.row}: what to do, and what follows"


def _label(explanation: ExplainedRow, name: str, cell: ChangedCell | None) -> _Label:
    lines = [short(name_text(explanation.context.codec.schema[name]), _MAX_LINE_LENGTH)]
    if cell is not None:
        before, after = change_texts(cell, explanation.context)
        change = before if cell.kind is Change.HOLD else f"{before} → {after}"
        lines.append(short(f"{kind_word(cell)}: {change}", _MAX_LINE_LENGTH))
    fonts = (_NAME_SIZE, "bold"), (_CHANGE_SIZE, "normal")
    widths = [text_width(line, *font) for line, font in zip(lines, fonts, strict=False)]
    kind = Change.NONE if cell is None else cell.kind
    height = _TWO_LINES if cell is not None else _ONE_LINE
    return _Label(tuple(lines), kind, max(widths) + 2 * _PADDING, height)


def _diagram(context: Context, labels: Mapping[str, _Label], alone: Sequence[str]) -> Diagram:
    """Place features with edges in layers, and those without in rows below."""
    joined = [name for name in context.codec.schema.names if name in labels and name not in alone]
    diagram = Diagram({}, {}, downwards=True)
    if joined:
        order = CausalGraph(context.edges, joined).order
        sizes = {name: (labels[name].height, labels[name].width) for name in joined}
        diagram = arrange(order, context.edges, sizes, _SPACING, downwards=True)
    rows = _rows(diagram, [(name, labels[name]) for name in alone])
    return Diagram(diagram.boxes | rows, diagram.routes, downwards=True)


def _rows(diagram: Diagram, labels: Sequence[tuple[str, _Label]]) -> dict[str, Box]:
    """Return the boxes of features without edges: rows as wide as the diagram above them."""
    boxes = diagram.boxes.values()
    left = min((box.x - box.width / 2 for box in boxes), default=-_ROW_WIDTH / 2)
    right = max([left + _ROW_WIDTH, *(box.x + box.width / 2 for box in boxes)])
    lowest = min((box.y for box in boxes), default=0.0)
    x, y = left, lowest - _TWO_LINES - _SPACING.layers / 2
    rows = {}
    for name, label in labels:
        if x > left and x + label.width > right:
            x, y = left, y - _TWO_LINES - _SPACING.boxes
        rows[name] = Box(x + label.width / 2, y, label.width, label.height)
        x += label.width + _SPACING.boxes
    return rows


def _frame(diagram: Diagram) -> Frame:
    """Return the part of the plane that holds all boxes and bends."""
    boxes, margin = diagram.boxes.values(), _SPACING.boxes / 2
    bends = [across for corners in diagram.routes.values() for _, across in corners]
    return Frame(
        min([box.x - box.width / 2 for box in boxes] + bends) - margin,
        max([box.x + box.width / 2 for box in boxes] + bends) + margin,
        min(box.y for box in boxes) - _TWO_LINES / 2 - _PADDING,
        max(box.y for box in boxes) + _TWO_LINES / 2 + _PADDING,
    )


def _flows(edge: Edge, cells: Mapping[str, ChangedCell]) -> bool:
    """Whether a consequence follows along an edge: its cause moved, and its effect with it."""
    cause, effect = (cells.get(name) for name in edge)
    moved = cause is not None and cause.kind is not Change.HOLD
    return moved and effect is not None and effect.kind is Change.CONSEQUENCE


def _edge_look(flows: bool) -> EdgeLook:
    width, color = (1.5, INK) if flows else (0.7, FAINT)
    return EdgeLook(color, width, head_size=9, in_front=flows)


def _box_look(label: _Label) -> BoxLook:
    is_done = label.kind.by_hand
    changes = label.kind is not Change.NONE
    color = INK if changes else GREY
    name, *change = label.lines
    lines = [TextLine(name, _NAME_SIZE, color, bold=is_done)]
    lines += [TextLine(text, _CHANGE_SIZE, color, italic=not is_done) for text in change]
    return BoxLook(
        tuple(lines),
        fill=TINT if is_done else NINE_TENTHS if changes else PAPER,
        frame=BLUE if is_done else INK if changes else GREY,
        frame_width=_FRAME_WIDTHS[label.kind],
        rounding=0.06,
        dashes=(3, 2) if label.kind is Change.CONSEQUENCE else None,
    )
