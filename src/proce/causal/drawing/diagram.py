"""Where the boxes and edges of a drawn graph lie, in inches.

Layers follow one another in depth; the nodes of a layer stand side by side across it. Depth runs
to the right, or downwards. Sizes and corners are pairs ``(depth, across)``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from proce.causal.drawing.layers import Layers, Node, lay_out
from proce.causal.graphs.dag import Edge

Corner = tuple[float, float]  # depth, across
Size = tuple[float, float]  # depth, across
Span = tuple[float, float]  # where a box or a passage begins and ends in depth


@dataclass(frozen=True)
class Spacing:
    """Distances in inches."""

    boxes: float  # between two boxes of a layer
    layers: float  # between two layers, for the edges to bend in
    ends: float  # between the ends of two edges on one side of a box, where the box is long enough
    # how long an edge stays straight where it passes a layer. `None` is as deep as the layer; all
    # boxes of a layer are then as deep as it too.
    passage: float | None = None


@dataclass(frozen=True)
class Box:
    """The middle and the size of a box."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class Diagram:
    """The boxes of nodes by name, and the corners of edges.

    An edge is straight between its second and third corner, its fourth and fifth and so on,
    inside the layers that it passes; it bends in between.
    """

    boxes: dict[str, Box]  # with `x` to the right and `y` upwards
    routes: dict[Edge, list[Corner]]  # the corners of each edge, from cause to effect
    downwards: bool  # whether depth runs downwards rather than to the right


def arrange(
    nodes: Sequence[str],  # causes before effects
    edges: Sequence[Edge],  # from cause to effect
    sizes: Mapping[str, Size],  # the size of the box of each node
    spacing: Spacing,
    *,
    downwards: bool,  # whether depth runs downwards rather than to the right
) -> Diagram:
    """Place the boxes of a graph in layers and lead its edges between them."""
    layers = lay_out(nodes, edges, {name: sizes[name][1] + spacing.boxes for name in nodes})
    spans = _spans(layers, sizes, spacing)
    offsets = _offsets(layers, sizes, spacing.ends)
    routes = {edge: _corners(edge, layers, offsets, spans) for edge in layers.routes}
    boxes = {}
    for name in nodes:
        (start, end), across, length = spans[name], layers.height[name], sizes[name][1]
        middle, depth = (start + end) / 2, end - start
        boxes[name] = (
            Box(across, -middle, length, depth) if downwards else Box(middle, across, depth, length)
        )
    return Diagram(boxes, routes, downwards)


def _spans(layers: Layers, sizes: Mapping[str, Size], spacing: Spacing) -> dict[Node, Span]:
    """Return where each box, and each passage of an edge, begins and ends in depth."""
    depths = [0.0] * (1 + max(layers.layer.values(), default=0))
    for node, layer in layers.layer.items():
        if isinstance(node, str):
            depths[layer] = max(depths[layer], sizes[node][0])
    starts = [0.0]
    for depth in depths:
        starts.append(starts[-1] + depth + spacing.layers)
    spans: dict[Node, Span] = {}
    for node, layer in layers.layer.items():
        depth = depths[layer]
        if spacing.passage is not None:
            depth = sizes[node][0] if isinstance(node, str) else spacing.passage
        start = starts[layer] + (depths[layer] - depth) / 2
        spans[node] = start, start + depth
    return spans


def _offsets(
    layers: Layers, sizes: Mapping[str, Size], distance: float
) -> dict[tuple[Edge, str], float]:
    """Return how far from the middle of its box each end of an edge lies.

    Ends are spread over the side of the box, in the order of where the edges go.
    """
    sides: dict[tuple[str, bool], list[tuple[float, Edge]]] = {}
    for (cause, effect), bends in layers.routes.items():
        nodes: list[Node] = [cause, *bends, effect]
        sides.setdefault((cause, True), []).append((layers.height[nodes[1]], (cause, effect)))
        sides.setdefault((effect, False), []).append((layers.height[nodes[-2]], (cause, effect)))
    offsets = {}
    for (name, _), ends in sides.items():
        gap = min(distance, sizes[name][1] / (len(ends) + 1))
        for rank, (_, edge) in enumerate(sorted(ends)):
            offsets[edge, name] = (rank - (len(ends) - 1) / 2) * gap
    return offsets


def _corners(
    edge: Edge,
    layers: Layers,
    offsets: Mapping[tuple[Edge, str], float],
    spans: Mapping[Node, Span],
) -> list[Corner]:
    cause, effect = edge
    corners = [(spans[cause][1], layers.height[cause] + offsets[edge, cause])]
    for bend in layers.routes[edge]:
        corners += [(depth, layers.height[bend]) for depth in spans[bend]]
    return [*corners, (spans[effect][0], layers.height[effect] + offsets[edge, effect])]
