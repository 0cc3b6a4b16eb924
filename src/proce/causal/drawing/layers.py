"""Where to draw the nodes of a graph: in layers, causes before effects.

The steps are those of K. Sugiyama, S. Tagawa, M. Toda (1981): layers by causal depth, bends
where an edge passes a layer, an order in each layer with few crossings, then heights.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Node = Hashable  # a name, or a bend: (edge, layer)
_SWEEPS = 24
_BEND_ROOM = 0.26
_PULL = (1.0, 3.0, 12.0)  # of edges by their number of bends at the two ends


@dataclass(frozen=True)
class Layers:
    """The places of nodes and of the bends of long edges.

    Attributes
    ----------
    layer
        By name, counted from the left.
    height
        By name and by bend, upwards; neighbours in a layer have the room they need.
    routes
        For each edge the bends between its ends, from left to right.
    """

    layer: dict[Node, int]
    height: dict[Node, float]
    routes: dict[tuple[str, str], list[Node]]


def lay_out(
    nodes: Sequence[str], edges: Sequence[tuple[str, str]], room: Mapping[str, float]
) -> Layers:
    """Place nodes in layers.

    Parameters
    ----------
    nodes
        Causes before effects.
    edges
        From cause to effect.
    room
        How much height each node needs, its distance from the next one included.
    """
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
        bends: list[Node] = [((cause, effect), at) for at in range(layer[cause] + 1, layer[effect])]
        routes[cause, effect] = bends
        for at, bend in enumerate(bends, layer[cause] + 1):
            layer[bend] = at
            columns[at].append(bend)
    links = [
        pair
        for (cause, effect), bends in routes.items()
        for pair in zip([cause, *bends], [*bends, effect], strict=True)
    ]
    height = _heights(_with_few_crossings(columns, links), links, room) if joined else {}
    _add_lonely([name for name in nodes if name not in joined], n_layers, room, layer, height)
    return Layers(layer, height, routes)


def _depths(nodes: Sequence[str], edges: Sequence[tuple[str, str]]) -> dict[Node, int]:
    """Return the longest path that leads to each node; roots move next to their first effect."""
    depth: dict[Node, int] = dict.fromkeys(nodes, 0)
    for name in nodes:
        depth[name] = max((depth[c] + 1 for c, effect in edges if effect == name), default=0)
    for name in reversed(nodes):
        if not any(effect == name for _, effect in edges):
            depth[name] = min(depth[effect] for cause, effect in edges if cause == name) - 1
    return depth


def _with_few_crossings(
    columns: list[list[Node]], links: Sequence[tuple[Node, Node]]
) -> list[list[Node]]:
    """Order each column by the places of its neighbours, to and fro, and keep the best order."""
    left: dict[Node, list[Node]] = {}
    right: dict[Node, list[Node]] = {}
    for one, other in links:
        right.setdefault(one, []).append(other)
        left.setdefault(other, []).append(one)
    best, fewest = columns, _crossings(columns, right)
    for sweep in range(_SWEEPS):
        columns = [list(column) for column in columns]
        forward = sweep % 2 == 0
        steps = range(1, len(columns)) if forward else range(len(columns) - 2, -1, -1)
        for at in steps:
            fixed = columns[at - 1] if forward else columns[at + 1]
            place = {node: float(rank) for rank, node in enumerate(fixed)}
            near = left if forward else right
            now = {node: rank / max(1, len(columns[at])) for rank, node in enumerate(columns[at])}
            middle = {
                node: np.mean([place[n] for n in near[node]]) if near.get(node) else np.inf
                for node in columns[at]
            }
            free = [node for node in columns[at] if middle[node] == np.inf]
            for node in free:  # without neighbours on that side it stays where it is
                middle[node] = now[node] * len(fixed)
            columns[at].sort(key=lambda node: (middle[node], now[node]))
            _swap_neighbours(columns[at], fixed, near)
        crossings = _crossings(columns, right)
        if crossings < fewest:
            best, fewest = columns, crossings
    return best


def _swap_neighbours(
    column: list[Node], fixed: Sequence[Node], near: Mapping[Node, Sequence[Node]]
) -> None:
    """Exchange nodes next to each other as long as that saves crossings with one side."""
    place = {node: rank for rank, node in enumerate(fixed)}
    ends = {node: np.array([place[n] for n in near.get(node, ())]) for node in column}
    for _ in range(len(column)):
        swapped = False
        for at in range(len(column) - 1):
            upper, lower = ends[column[at]], ends[column[at + 1]]
            gap = upper[:, None] - lower[None, :]
            if (gap > 0).sum() > (gap < 0).sum():
                column[at], column[at + 1] = column[at + 1], column[at]
                swapped = True
        if not swapped:
            return


def _crossings(columns: Sequence[Sequence[Node]], right: Mapping[Node, Sequence[Node]]) -> int:
    total = 0
    for at in range(len(columns) - 1):
        place = {node: rank for rank, node in enumerate(columns[at + 1])}
        spans = np.array(
            [
                (rank, place[other])
                for rank, node in enumerate(columns[at])
                for other in right.get(node, ())
            ]
        ).reshape(-1, 2)
        ahead = np.sign(spans[:, None, :] - spans[None, :, :])
        total += int((ahead.prod(-1) < 0).sum()) // 2
    return total


def _heights(
    columns: Sequence[Sequence[Node]],
    links: Sequence[tuple[Node, Node]],
    room: Mapping[str, float],
) -> dict[Node, float]:
    """Pull every node towards its neighbours, as far as the room between nodes allows."""
    near: dict[Node, list[tuple[Node, float]]] = {node: [] for col in columns for node in col}
    for one, other in links:
        # A line that bends needlessly is what makes a drawing hard to read.
        weight = _PULL[isinstance(one, tuple) + isinstance(other, tuple)]
        near[one].append((other, weight))
        near[other].append((one, weight))
    offsets = [np.cumsum([0.0, *_distances(column, room)]) for column in columns]
    height: dict[Node, float] = {}
    for column, offset in zip(columns, offsets, strict=True):
        middle = offset[-1] / 2
        height |= {node: float(h - middle) for node, h in zip(column, offset, strict=True)}
    for sweep in range(2 * _SWEEPS):
        order = range(len(columns)) if sweep % 2 == 0 else range(len(columns) - 1, -1, -1)
        for at in order:
            wanted, weights = [], []
            for node in columns[at]:
                pulls = [(height[other], weight) for other, weight in near[node]]
                weights.append(sum(weight for _, weight in pulls) or 0.1)
                wanted.append(
                    sum(h * weight for h, weight in pulls) / weights[-1] if pulls else height[node]
                )
            placed = _increasing(np.array(wanted) - offsets[at], np.array(weights)) + offsets[at]
            height |= {node: float(h) for node, h in zip(columns[at], placed, strict=True)}
    return height


def _distances(column: Sequence[Node], room: Mapping[str, float]) -> list[float]:
    """Return how far each node must be from the one before it."""
    sizes = [room[node] if isinstance(node, str) else _BEND_ROOM for node in column]
    return [(one + other) / 2 for one, other in pairwise(sizes)]


def _increasing(wanted: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the increasing sequence nearest to the wanted one (pooled adjacent violators)."""
    pools: list[tuple[float, float, int]] = []  # mean, weight, length
    for value, weight in zip(wanted, weights, strict=True):
        pools.append((value, weight, 1))
        while len(pools) > 1 and pools[-2][0] >= pools[-1][0]:
            (a, wa, na), (b, wb, nb) = pools[-2:]
            pools[-2:] = [((a * wa + b * wb) / (wa + wb), wa + wb, na + nb)]
    return np.repeat([mean for mean, _, _ in pools], [length for _, _, length in pools])


def _add_lonely(
    names: Sequence[str],
    n_layers: int,
    room: Mapping[str, float],
    layer: dict[Node, int],
    height: dict[Node, float],
) -> None:
    """Put what has no edges into rows of their own, below all else."""
    tallest = max(room.values(), default=0.0)
    lowest = min(height.values(), default=2 * tallest)
    for rank, name in enumerate(names):
        layer[name] = rank % n_layers
        height[name] = lowest - tallest - room[name] * (rank // n_layers)
