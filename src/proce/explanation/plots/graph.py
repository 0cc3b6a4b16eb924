"""The causal graph of an explanation: as much of it as can be read, what is done, what follows."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from proce.causal import CausalGraph
from proce.causal.drawing.canvas import BoxLook, EdgeLook, Frame, TextLine, draw, fit_axes, frame_of
from proce.causal.drawing.diagram import Box, Diagram, Spacing, arrange
from proce.causal.drawing.figure_layout import MIN_SIZE, POINTS, FigureLayout
from proce.causal.drawing.palette import Palette, palette_inside
from proce.causal.drawing.text_fit import Font, without_middle
from proce.explanation.plots.style import (
    MAX_LABEL_LENGTH,
    arrow_text,
    axes_or_new,
    kind_word,
    shown_name,
)
from proce.explanation.record.context import Context
from proce.explanation.record.counterfactuals import Change, Outcome
from proce.explanation.record.rows import ExplainedRow
from proce.explanation.words.cells import ChangedCell, row_cells
from proce.explanation.words.sentences import sentences
from proce.explanation.words.values import change_texts, row_label
from proce.schema import Continuous
from proce.schema.features.numerals import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Edge = tuple[str, str]
Size = tuple[float, float]  # width and height in inches
NAME_SIZE, CHANGE_SIZE = 9.0, 8.0  # points
MAX_SCALE = 1.2  # of the sizes above, where there is room
_MIN_SCALE = MIN_SIZE / CHANGE_SIZE
_GOOD_SCALE = 0.9  # at which no other way to draw the same is looked for
_PADDING = 0.1  # inches around the text in a box
_ONE_LINE, _TWO_LINES = 0.25, 0.4  # inches: the height of a box
_LINE_LENGTHS = (44, 22)  # characters of a name or of a change, by how little room there is
_SPACING = Spacing(boxes=0.16, layers=0.4, ends=0.13, passage=_ONE_LINE)
_SPACING_TO_THE_RIGHT = Spacing(boxes=0.16, layers=0.55, ends=0.1)
_MARGIN = 0.1  # inches around all boxes
_MAX_BOXES = 150  # that are arranged with their edges
_MIN_JOINED = 5  # boxes with their edges, for which some changes are left out
_HOPELESS_SCALE = 0.4  # at which shorter lines will not do either
_FEWER = (20, 14, 10, 7, 5, 4, 3, 2, 1)  # changes, where there is no room for all
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


@dataclass(frozen=True)
class BoxLabel:
    """What the box of a feature says, and its size in inches."""

    lines: tuple[str, ...]
    kind: Change
    width: float
    height: float


@dataclass(frozen=True)
class Excerpt:
    """A part of a causal graph, placed."""

    labels: Mapping[str, BoxLabel]  # what each box says
    diagram: Diagram  # where boxes and edges lie, and the part of the plane that holds them
    frame: Frame
    n_left_out: int  # how many features with an edge or a change are not part of it
    leaves_out_changes: bool  # whether some of them change


def readable_excerpt(
    explanation: ExplainedRow,
    cells: Mapping[str, ChangedCell],
    size: Size,
    max_scale: float = MAX_SCALE,
) -> Excerpt | None:
    """Return as much of the graph of an explanation as can be read; ``None`` where nothing can."""
    context = explanation.context
    joined = dict.fromkeys(name for edge in context.edges for name in edge)  # in a fixed order
    everything = [*joined, *(name for name in cells if name not in joined)]
    for names, edges in _parts(context, cells, everything):
        best, best_scale, largest = None, _MIN_SCALE, 0.0
        for length in _LINE_LENGTHS:
            labels = {
                name: _box_label(explanation, name, cells.get(name), length) for name in names
            }
            for downwards in (True, False):
                diagram = _diagram(context, labels, edges, size[0], downwards)
                frame = frame_of(diagram, _MARGIN)
                scale = min(frame.scale_in(*size), max_scale)
                largest = max(largest, scale)
                if scale > best_scale:
                    n_left_out = len(everything) - len(names)
                    cut = any(name not in labels for name in cells)
                    best, best_scale = Excerpt(labels, diagram, frame, n_left_out, cut), scale
            if best_scale >= _GOOD_SCALE or largest < _HOPELESS_SCALE:
                break
        if best is not None:
            return best
    return None


def _parts(
    context: Context, cells: Mapping[str, ChangedCell], everything: Sequence[str]
) -> Iterator[tuple[Sequence[str], Sequence[Edge]]]:
    """Return less and less of a graph: its features, and the edges between them."""
    causes = {cause for cause, effect in context.edges if effect in cells}
    parts = [
        everything,
        [name for name in everything if name in cells or name in causes],
        [name for name in everything if name in cells],
    ]
    changed = _with_what_follows(context, cells)
    fewer = [changed[:n_shown] for n_shown in _FEWER if n_shown < len(changed)]
    for number, names in enumerate([*parts, *fewer]):
        kept = set(names)
        edges = [edge for edge in context.edges if kept.issuperset(edge)]
        is_enough = len(names) >= _MIN_JOINED or (edges and number < len(parts))
        if names and (names is everything or (is_enough and len(names) <= _MAX_BOXES)):
            yield names, edges
    for names in [changed, *fewer]:
        if names:
            yield names, ()


def _with_what_follows(context: Context, cells: Mapping[str, ChangedCell]) -> list[str]:
    """Return what changes, each feature before those that follow from it."""
    ordered: dict[str, None] = {}
    for name in cells:
        ordered[name] = None
        ordered |= {
            effect: None for cause, effect in context.edges if cause == name and effect in cells
        }
    return list(ordered)


def _box_label(
    explanation: ExplainedRow, name: str, cell: ChangedCell | None, max_length: int
) -> BoxLabel:
    lines = [without_middle(shown_name(explanation.context.codec.schema[name]), max_length)]
    if cell is not None:
        lines.append(f"{kind_word(cell)}: {_change(explanation, cell, max_length)}")
    by_hand = cell is not None and cell.kind.by_hand
    fonts = (Font(NAME_SIZE, bold=by_hand), Font(CHANGE_SIZE, italic=not by_hand))
    widths = [font.width(line) / POINTS for line, font in zip(lines, fonts, strict=False)]
    kind = Change.NONE if cell is None else cell.kind
    height = _TWO_LINES if cell is not None else _ONE_LINE
    return BoxLabel(tuple(lines), kind, max(widths) + 2 * _PADDING, height)


def _change(explanation: ExplainedRow, cell: ChangedCell, max_length: int) -> str:
    """Return before and after in words; numbers are never cut."""
    before, after = change_texts(cell, explanation.context)
    if isinstance(cell.feature, Continuous):
        max_length = 2 * MAX_LABEL_LENGTH
    if cell.kind is Change.HOLD:
        return without_middle(before, max_length)
    return arrow_text(before, after, max_length)


def _diagram(
    context: Context,
    labels: Mapping[str, BoxLabel],
    edges: Sequence[Edge],
    width: float,
    downwards: bool,
) -> Diagram:
    """Place features with edges in layers, and those without in rows below."""
    with_edges = {name for edge in edges for name in edge}
    joined = [name for name in context.codec.schema.names if name in with_edges]
    diagram = Diagram({}, {}, downwards)
    if joined:
        order = CausalGraph(edges, joined).order
        sizes = {
            name: (label.height, label.width) if downwards else (label.width, label.height)
            for name, label in labels.items()
        }
        spacing = _SPACING if downwards else _SPACING_TO_THE_RIGHT
        diagram = arrange(order, edges, sizes, spacing, downwards=downwards)
    below = _boxes_below(
        diagram, [(name, label) for name, label in labels.items() if name not in joined], width
    )
    return Diagram(diagram.boxes | below, diagram.routes, downwards)


def _boxes_below(
    diagram: Diagram, labels: Sequence[tuple[str, BoxLabel]], width: float
) -> dict[str, Box]:
    """Return the boxes of features without edges: rows as wide as the room or the diagram."""
    boxes = diagram.boxes.values()
    left = min((box.x - box.width / 2 for box in boxes), default=-width / 2)
    right = max([left + width - 2 * _MARGIN, *(box.x + box.width / 2 for box in boxes)])
    lowest = min((box.y - box.height / 2 for box in boxes), default=0.0)
    x, y = left, lowest - _TWO_LINES / 2 - _SPACING.layers / 2
    below = {}
    for name, label in labels:
        if x > left and x + label.width > right:
            x, y = left, y - _TWO_LINES - _SPACING.boxes
        below[name] = Box(x + label.width / 2, y, label.width, label.height)
        x += label.width + _SPACING.boxes
    return below


def plot_graph(explanation: ExplainedRow, ax: "Axes | None" = None) -> "Axes":
    """Draw the causal graph, causes before effects, with the recommended counterfactual."""
    ranked = row_cells(explanation)
    cells = {cell.feature.name: cell for cell in (ranked[0] if ranked else ())}
    if not explanation.context.edges and not cells:
        return FigureLayout.of(axes_or_new(ax)).write_instead(sentences(explanation)[0])
    if ax is None:
        excerpt = _natural_excerpt(explanation, cells, _LARGEST)
        figure_layout = FigureLayout.of(axes_or_new(None, _natural_size(excerpt, _LARGEST)))
    else:
        figure_layout = FigureLayout.of(ax)
        size = figure_layout.width / POINTS, figure_layout.height / POINTS - _TITLE_HEIGHT
        excerpt = readable_excerpt(explanation, cells, size)
    if excerpt is None:
        return figure_layout.write_instead(_NO_ROOM)
    window = figure_layout.fit_whole(_title(explanation, cells) + _rest(explanation, excerpt))
    ax = figure_layout.ax
    scale = fit_axes(ax, window, excerpt.frame, MAX_SCALE)
    colors = palette_inside(ax)
    edges = {edge: _edge_look(_flows(edge, cells), colors) for edge in excerpt.diagram.routes}
    boxes = {name: _box_look(label, colors) for name, label in excerpt.labels.items()}
    draw(ax, excerpt.diagram, edges, boxes, scale)
    return ax


def graph_size(explanation: ExplainedRow, max_size: tuple[float, float]) -> tuple[float, float]:
    """Return the size of a figure, in inches, that the graph of an explanation fills."""
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


def _box_look(label: BoxLabel, colors: Palette) -> BoxLook:
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
