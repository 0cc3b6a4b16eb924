"""Where to draw the nodes of a graph: in layers, causes before effects.

The steps are those of K. Sugiyama, S. Tagawa, M. Toda (1981): layers by causal depth, bends
where an edge passes a layer, an order in each layer with few crossings, then heights.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from proce.arrays import Floats

Node = Hashable  # a name, or a bend: (edge, layer)
_N_SWEEPS = 24
_BEND_ROOM = 0.26
_PULLS = (1.0, 3.0, 12.0)  # of links by how many of their two ends are bends


@dataclass(frozen=True)
class Layers:
    """The places of nodes and of the bends of long edges."""

    layer: dict[Node, int]  # by name, counted from the left
    # by name and by bend, upwards; neighbours in a layer have the room they need
    height: dict[Node, float]
    # for each edge the bends between its ends, from left to right
    routes: dict[tuple[str, str], list[Node]]


def lay_out(
    nodes: Sequence[str],  # causes before effects
    edges: Sequence[tuple[str, str]],  # from cause to effect
    # how much height each node needs, its distance from the next one included
    room: Mapping[str, float],
) -> Layers:
    """Place nodes in layers."""
    joined = {name for edge in edges for name in edge}
    layer: dict[Node, int] = {}
    layer.update(_depths([name for name in nodes if name in joined], edges))
    n_layers = max(layer.values(), default=0) + 1
    routes: dict[tuple[str, str], list[Node]] = {}
    columns: list[list[Node]] = [[] for _ in range(n_layers)]
    for name in nodes:
        if name in joined:
            columns[layer[name]].append(name)
    for cause, effect in edges:
        passed = range(layer[cause] + 1, layer[effect])
        routes[cause, effect] = [((cause, effect), number) for number in passed]
        for number, bend in zip(passed, routes[cause, effect], strict=True):
            layer[bend] = number
            columns[number].append(bend)
    links = [
        pair
        for (cause, effect), bends in routes.items()
        for pair in zip([cause, *bends], [*bends, effect], strict=True)
    ]
    height = _heights(_with_few_crossings(columns, links), links, room) if joined else {}
    alone = [name for name in nodes if name not in joined]
    _add_rows(alone, n_layers, room, layer, height)
    return Layers(layer, height, routes)


def _depths(nodes: Sequence[str], edges: Sequence[tuple[str, str]]) -> dict[Node, int]:
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
    left: dict[Node, list[Node]] = {}
    right: dict[Node, list[Node]] = {}
    for one, other in links:
        right.setdefault(one, []).append(other)
        left.setdefault(other, []).append(one)
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
        ranks = [rank_of[neighbour] for neighbour in neighbours.get(node, ())]
        # A node without neighbours on that side stays where it is.
        mean_rank[node] = float(np.mean(ranks)) if ranks else share[node] * len(fixed)
    column.sort(key=lambda node: (mean_rank[node], share[node]))


def _swap_neighbours(
    column: list[Node], fixed: Sequence[Node], neighbours: Mapping[Node, Sequence[Node]]
) -> None:
    """Exchange nodes next to each other as long as that saves crossings with one side."""
    rank_of = {node: rank for rank, node in enumerate(fixed)}
    ends = {
        node: np.array([rank_of[neighbour] for neighbour in neighbours.get(node, ())])
        for node in column
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
                for neighbour in right.get(node, ())
            ]
        ).reshape(-1, 2)
        order = np.sign(links[:, None, :] - links[None, :, :])
        total += int((order.prod(-1) < 0).sum()) // 2
    return total


def _heights(
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
        weight = _PULLS[isinstance(one, tuple) + isinstance(other, tuple)]
        neighbours[one].append((other, weight))
        neighbours[other].append((one, weight))
    offsets = [np.cumsum([0.0, *_distances(column, room)]) for column in columns]
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


def _distances(column: Sequence[Node], room: Mapping[str, float]) -> list[float]:
    """Return how far each node must be from the one before it."""
    sizes = [room[node] if isinstance(node, str) else _BEND_ROOM for node in column]
    return [(one + other) / 2 for one, other in pairwise(sizes)]


def _increasing(wanted: Floats, weights: Floats) -> Floats:
    """Return the increasing sequence nearest to the wanted one (pooled adjacent violators)."""
    pools: list[tuple[float, float, int]] = []  # mean, weight, length
    for value, weight in zip(wanted, weights, strict=True):
        pools.append((value, weight, 1))
        while len(pools) > 1 and pools[-2][0] >= pools[-1][0]:
            (a, wa, na), (b, wb, nb) = pools[-2:]
            pools[-2:] = [((a * wa + b * wb) / (wa + wb), wa + wb, na + nb)]
    return np.repeat([mean for mean, _, _ in pools], [length for _, _, length in pools])


def _add_rows(
    names: Sequence[str],
    n_layers: int,
    room: Mapping[str, float],
    layer: dict[Node, int],
    height: dict[Node, float],
) -> None:
    """Put nodes without edges into rows of their own, below all others."""
    tallest = max(room.values(), default=0.0)
    lowest = min(height.values(), default=2 * tallest)
    for rank, name in enumerate(names):
        layer[name] = rank % n_layers
        height[name] = lowest - tallest - room[name] * (rank // n_layers)
