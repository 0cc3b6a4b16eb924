"""Where the boxes and edges of a drawn graph lie, in inches.

Layers follow one another in depth; the nodes of a layer stand side by side across it. Depth runs
to the right, or downwards. Sizes and corners are pairs ``(depth, across)``.

The steps are those of K. Sugiyama, S. Tagawa, M. Toda (1981): layers by causal depth, bends
where an edge passes a layer, an order in each layer with few crossings, then places across it.
networkx has the first of these steps alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from proce.arrays import Floats
from proce.causal.graphs.dag import Edge

Corner = tuple[float, float]  # depth, across
Size = tuple[float, float]  # depth, across
Span = tuple[float, float]  # where a box or a passage begins and ends in depth
Node = str | tuple[Edge, int]  # a name, or the bend of an edge in a layer that it passes
_N_SWEEPS = 24
_BEND_LENGTH = 0.26  # inches across a layer
_LINK_WEIGHTS = (1.0, 3.0, 12.0)  # of links by how many of their two ends are bends


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
    """The boxes of nodes by name, and the corners of edges."""

    boxes: dict[str, Box]  # with `x` to the right and `y` upwards
    # The corners of each edge, from cause to effect. An edge is straight between its second and
    # third, its fourth and fifth and so on, inside the layers that it passes; it bends in between.
    routes: dict[Edge, list[Corner]]
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
    room = {name: sizes[name][1] + spacing.boxes for name in nodes}
    joined = {name for edge in edges for name in edge}
    layer = _depths([name for name in nodes if name in joined], edges)
    chains: dict[Edge, list[Node]] = {}  # from cause to effect, over the bends of the edge
    for cause, effect in edges:
        bends: dict[Node, int] = {
            ((cause, effect), passed): passed for passed in range(layer[cause] + 1, layer[effect])
        }
        layer |= bends
        chains[cause, effect] = [cause, *bends, effect]
    columns: list[list[Node]] = [[] for _ in range(max(layer.values(), default=0) + 1)]
    for node, number in layer.items():
        columns[number].append(node)
    links = [link for chain in chains.values() for link in pairwise(chain)]
    across = _places(_with_few_crossings(columns, links), links, room) if joined else {}
    # Nodes without edges stand in rows of their own, below all others.
    tallest = max(room.values(), default=0.0)
    lowest = min(across.values(), default=2 * tallest)
    for rank, name in enumerate(name for name in nodes if name not in joined):
        layer[name] = rank % len(columns)
        across[name] = lowest - tallest - room[name] * (rank // len(columns))
    spans = _spans(layer, sizes, spacing)
    boxes = {}
    for name in nodes:
        (start, end), length = spans[name], sizes[name][1]
        middle, depth = (start + end) / 2, end - start
        boxes[name] = (
            Box(across[name], -middle, length, depth)
            if downwards
            else Box(middle, across[name], depth, length)
        )
    offsets = _offsets(chains, across, sizes, spacing.ends)
    routes = {}
    for edge, chain in chains.items():
        cause, effect = edge
        routes[edge] = [
            (spans[cause][1], across[cause] + offsets[edge, cause]),
            *((depth, across[bend]) for bend in chain[1:-1] for depth in spans[bend]),
            (spans[effect][0], across[effect] + offsets[edge, effect]),
        ]
    return Diagram(boxes, routes, downwards)


def _depths(nodes: Sequence[str], edges: Sequence[Edge]) -> dict[Node, int]:
    """Return the longest path that leads to each node; roots move next to their first effect."""
    depth: dict[Node, int] = dict.fromkeys(nodes, 0)
    for name in nodes:
        causes = [cause for cause, effect in edges if effect == name]
        depth[name] = max((depth[cause] + 1 for cause in causes), default=0)
    for name in reversed(nodes):
        if not any(effect == name for _, effect in edges):
            depth[name] = min(depth[effect] for cause, effect in edges if cause == name) - 1
    return depth


def _with_few_crossings(
    columns: list[list[Node]], links: Sequence[tuple[Node, Node]]
) -> list[list[Node]]:
    """Order each column by the ranks of its neighbours, to and fro, and keep the best order."""
    left: dict[Node, list[Node]] = {node: [] for column in columns for node in column}
    right: dict[Node, list[Node]] = {node: [] for node in left}
    for one, other in links:
        right[one].append(other)
        left[other].append(one)
    best, fewest = columns, _crossings(columns, right)
    for sweep in range(_N_SWEEPS):
        columns = [list(column) for column in columns]
        forward = sweep % 2 == 0
        steps = range(1, len(columns)) if forward else range(len(columns) - 2, -1, -1)
        for number in steps:
            fixed = columns[number - 1] if forward else columns[number + 1]
            neighbours = left if forward else right
            _sort_by_neighbours(columns[number], fixed, neighbours)
            _swap_neighbours(columns[number], fixed, neighbours)
        crossings = _crossings(columns, right)
        if crossings < fewest:
            best, fewest = columns, crossings
    return best


def _sort_by_neighbours(
    column: list[Node], fixed: Sequence[Node], neighbours: Mapping[Node, Sequence[Node]]
) -> None:
    """Sort a column by the mean rank of each node's neighbours in the fixed one beside it."""
    rank_of = {node: float(rank) for rank, node in enumerate(fixed)}
    share = {node: rank / max(1, len(column)) for rank, node in enumerate(column)}
    mean_rank = {}
    for node in column:
        ranks = [rank_of[neighbour] for neighbour in neighbours[node]]
        # A node without neighbours on that side stays where it is.
        mean_rank[node] = float(np.mean(ranks)) if ranks else share[node] * len(fixed)
    column.sort(key=lambda node: (mean_rank[node], share[node]))


def _swap_neighbours(
    column: list[Node], fixed: Sequence[Node], neighbours: Mapping[Node, Sequence[Node]]
) -> None:
    """Exchange nodes next to each other as long as that saves crossings with one side."""
    rank_of = {node: rank for rank, node in enumerate(fixed)}
    ends = {
        node: np.array([rank_of[neighbour] for neighbour in neighbours[node]]) for node in column
    }
    for _ in range(len(column)):
        swapped = False
        for rank in range(len(column) - 1):
            upper, lower = ends[column[rank]], ends[column[rank + 1]]
            gap = upper[:, None] - lower[None, :]
            if (gap > 0).sum() > (gap < 0).sum():
                column[rank], column[rank + 1] = column[rank + 1], column[rank]
                swapped = True
        if not swapped:
            return


def _crossings(columns: Sequence[Sequence[Node]], right: Mapping[Node, Sequence[Node]]) -> int:
    total = 0
    for column, next_column in pairwise(columns):
        rank_of = {node: rank for rank, node in enumerate(next_column)}
        links = np.array(
            [
                (rank, rank_of[neighbour])
                for rank, node in enumerate(column)
                for neighbour in right[node]
            ]
        ).reshape(-1, 2)
        order = np.sign(links[:, None, :] - links[None, :, :])
        total += int((order.prod(-1) < 0).sum()) // 2
    return total


def _places(
    columns: Sequence[Sequence[Node]],
    links: Sequence[tuple[Node, Node]],
    room: Mapping[str, float],
) -> dict[Node, float]:
    """Pull every node towards its neighbours, as far as the room between nodes allows."""
    neighbours: dict[Node, list[tuple[Node, float]]] = {
        node: [] for column in columns for node in column
    }
    for one, other in links:
        # Lines that bend without need are what makes a drawing hard to read.
        weight = _LINK_WEIGHTS[isinstance(one, tuple) + isinstance(other, tuple)]
        neighbours[one].append((other, weight))
        neighbours[other].append((one, weight))
    offsets = []  # of the nodes of each column from its first one, at the least
    for column in columns:
        sizes = [room[node] if isinstance(node, str) else _BEND_LENGTH for node in column]
        offsets.append(np.cumsum([0.0, *((one + other) / 2 for one, other in pairwise(sizes))]))
    height: dict[Node, float] = {}
    for column, offset in zip(columns, offsets, strict=True):
        middle = offset[-1] / 2
        height |= {node: float(h - middle) for node, h in zip(column, offset, strict=True)}
    for sweep in range(2 * _N_SWEEPS):
        in_order = list(zip(columns, offsets, strict=True))
        for column, offset in in_order if sweep % 2 == 0 else reversed(in_order):
            wanted, weights = [], []
            for node in column:
                pulls = [(height[neighbour], weight) for neighbour, weight in neighbours[node]]
                weights.append(sum(weight for _, weight in pulls) or 0.1)
                wanted.append(
                    sum(h * weight for h, weight in pulls) / weights[-1] if pulls else height[node]
                )
            heights = _increasing(np.array(wanted) - offset, np.array(weights)) + offset
            height |= {node: float(h) for node, h in zip(column, heights, strict=True)}
    return height


def _increasing(wanted: Floats, weights: Floats) -> Floats:
    """Return the increasing sequence nearest to the wanted one (pooled adjacent violators)."""
    pools: list[tuple[float, float, int]] = []  # mean, weight, length
    for value, weight in zip(wanted, weights, strict=True):
        pools.append((value, weight, 1))
        while len(pools) > 1 and pools[-2][0] >= pools[-1][0]:
            (a, wa, na), (b, wb, nb) = pools[-2:]
            pools[-2:] = [((a * wa + b * wb) / (wa + wb), wa + wb, na + nb)]
    return np.repeat([mean for mean, _, _ in pools], [length for _, _, length in pools])


def _spans(
    layer: Mapping[Node, int], sizes: Mapping[str, Size], spacing: Spacing
) -> dict[Node, Span]:
    """Return where each box, and each passage of an edge, begins and ends in depth."""
    depths = [0.0] * (1 + max(layer.values(), default=0))
    for node, number in layer.items():
        if isinstance(node, str):
            depths[number] = max(depths[number], sizes[node][0])
    starts = [0.0]
    for depth in depths:
        starts.append(starts[-1] + depth + spacing.layers)
    spans: dict[Node, Span] = {}
    for node, number in layer.items():
        depth = depths[number]
        if spacing.passage is not None:
            depth = sizes[node][0] if isinstance(node, str) else spacing.passage
        start = starts[number] + (depths[number] - depth) / 2
        spans[node] = start, start + depth
    return spans


def _offsets(
    chains: Mapping[Edge, Sequence[Node]],
    across: Mapping[Node, float],
    sizes: Mapping[str, Size],
    distance: float,
) -> dict[tuple[Edge, str], float]:
    """Return how far from the middle of its box each end of an edge lies."""
    # Ends are spread over the side of the box, in the order of where the edges go.
    sides: dict[tuple[str, bool], list[tuple[float, Edge]]] = {}
    for edge, chain in chains.items():
        sides.setdefault((edge[0], True), []).append((across[chain[1]], edge))
        sides.setdefault((edge[1], False), []).append((across[chain[-2]], edge))
    offsets = {}
    for (name, _), ends in sides.items():
        gap = min(distance, sizes[name][1] / (len(ends) + 1))
        for rank, (_, edge) in enumerate(sorted(ends)):
            offsets[edge, name] = (rank - (len(ends) - 1) / 2) * gap
    return offsets
