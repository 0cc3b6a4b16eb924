"""Where FACE looks for paths: training rows in regions that a path cannot leave."""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from proce.arrays import Array, Floats, Ints, blocks, expand
from proce.compiled.copies import groups_of, members_of
from proce.latent.prototype import nearest_of
from proce.methods.published.face.graph import (
    EdgeWeights,
    FaceSettings,
    default_epsilon,
    edge_lengths,
    nearest_neighbours,
    neighbour_graph,
    points_of,
)
from proce.methods.published.task import CommonFit, binding
from proce.schema import Action, Codec

_MAX_ROWS_PER_CALL = 65_536  # rows that the model is asked about in one call


@dataclass(frozen=True, eq=False)
class PathRegion:
    """Training rows that share their fixed values and missing cells, so that a path may join them.

    Attributes
    ----------
    rows, points
        ``(m, f)``, distinct training rows, and ``(m, e)``, where they lie.
    graph
        ``(m, m)``, the weight of each edge, from row to column.
    weights
        The weight of an edge between any two points.
    probabilities
        ``(m, k)``, what the model says of the rows.
    predicted
        ``(m,)``, the class that the model puts each row in.
    dense
        ``(m,)``, whether a row is not among the sparsest.
    """

    rows: Array
    points: Array
    graph: csr_array
    weights: EdgeWeights
    probabilities: Array
    predicted: Array
    dense: Array

    def confident(self, target: int, min_probability: float) -> Array:
        """Return flags ``(m,)``: dense rows of a class, with at least this probability."""
        sure = self.probabilities[:, target] >= min_probability
        return (self.predicted == target) & sure & self.dense

    def link(self, point: Array, allowed: Array, k: int, epsilon: float) -> tuple[Array, Array]:
        """Link a point ``(e,)`` to its nearest allowed rows; return their positions and weights."""
        nearest = nearest_of(point, self.points, np.flatnonzero(allowed), k)
        linked = nearest[edge_lengths(self.points[nearest], point) <= epsilon]
        return linked, self.weights(expand(point, len(linked), -1), self.points[linked])

    def shortest_paths(self, linked: Array, weights: Array, allowed: Array) -> "ShortestPaths":
        """Return the shortest paths over allowed rows from a point with the given edges.

        Parameters
        ----------
        linked, weights
            The rows that the point is linked to, by position, and the weights of these edges.
        allowed
            ``(m,)``, the rows that a path may touch.
        """
        nodes = np.flatnonzero(allowed)
        graph = self.graph if len(nodes) == len(allowed) else self.graph[nodes][:, nodes]
        node_of_row = np.full(len(allowed), -1)
        node_of_row[nodes] = np.arange(len(nodes))
        start = len(nodes)  # the point is the last node
        with_start = csr_array(
            (
                np.concatenate([graph.data, weights]),
                np.concatenate([graph.indices, node_of_row[linked]]),
                np.append(graph.indptr, graph.nnz + len(linked)),
            ),
            shape=(start + 1, start + 1),
        )
        cost, predecessor = dijkstra(with_start, indices=start, return_predecessors=True)
        costs = np.full(len(allowed), math.inf)
        costs[nodes] = cost[:-1]
        return ShortestPaths(costs, nodes, predecessor, node_of_row)


@dataclass(frozen=True, eq=False)
class ShortestPaths:
    """Shortest paths from one point to the rows of a region.

    Attributes
    ----------
    costs
        ``(m,)``, the cost of the path to each row; infinite where there is none.
    nodes
        The rows that a path may touch, by position in the region.
    predecessor
        For each node, the node that its path comes from; ``len(nodes)`` stands for the point.
    node_of_row
        For each row of the region its position among ``nodes``.
    """

    costs: Array
    nodes: Ints
    predecessor: NDArray[np.int32]
    node_of_row: Ints

    def to(self, row: int) -> list[int]:
        """Return the rows on the way to one that has a path, that one last."""
        node, path = int(self.node_of_row[row]), []
        start = len(self.nodes)
        for _ in range(start):
            path.append(int(self.nodes[node]))
            node = int(self.predecessor[node])
            if node == start:
                break
        return path[::-1]


@dataclass(frozen=True, eq=False)
class PathRegions:
    """All training rows, in regions.

    Attributes
    ----------
    codec
        Schema and scale, with the actions that bind the paths.
    keys, regions
        What the rows of each region share, ``(r, f)``, and the regions.
    epsilon
        The longest that an edge may be.
    """

    codec: Codec
    keys: Floats
    regions: tuple[PathRegion, ...]
    epsilon: float

    @classmethod
    def fit(cls, common: CommonFit, distinct: Ints, settings: FaceSettings) -> "PathRegions":
        """Return the regions of distinct training rows, given by position, each with its graph."""
        codec = replace(common.codec, schema=binding(common.codec.schema, common.respect_schema))
        rows, predicted = common.rows[distinct], common.predicted[distinct]
        parts = blocks(rows, _MAX_ROWS_PER_CALL)
        probabilities = np.concatenate([common.classifier.predict_proba(part) for part in parts])
        keys = _region_keys(codec, rows)
        firsts, region = groups_of(keys)
        groups = members_of(region)
        points = [points_of(codec, rows[group]) for group in groups]
        neighbours = [nearest_neighbours(places, settings.n_neighbours) for places in points]
        epsilon = settings.epsilon or math.inf
        if settings.epsilon is None and settings.graph != "knn":
            epsilon = default_epsilon(np.concatenate([radii for _, radii in neighbours]))
        regions = []
        for group, places, (near, radii) in zip(groups, points, neighbours, strict=True):
            weights = _edge_weights(codec, places, near.shape[1], epsilon, settings, common.seed)
            sparsity = radii if weights.kernels is None else -weights.log_density(places)
            limit = np.quantile(sparsity, 1 - settings.least_density, method="higher")
            edges = neighbour_graph(places, near, epsilon, weights, _one_way(codec, rows[group]))
            own = rows[group], places, edges, weights, probabilities[group], predicted[group]
            regions.append(PathRegion(*own, sparsity <= limit))
        return cls(codec, keys[firsts], tuple(regions), epsilon)

    def around(self, factual: Array) -> PathRegion | None:
        """Return the region of a row ``(f,)``; ``None`` where no training row is like it."""
        keys = np.concatenate([self.keys, _region_keys(self.codec, factual[None])])
        position = groups_of(keys)[1][-1]
        return self.regions[position] if position < len(self.regions) else None


def _region_keys(codec: Codec, rows: Array) -> Floats:
    """Return what a path cannot change ``(n, f)``: fixed values, and which cells are missing."""
    fixed = np.array([not feature.can_be_acted_on for feature in codec.schema])
    return np.where(codec.missing(rows), np.nan, np.where(fixed, rows, 0.0))


def _edge_weights(
    codec: Codec, points: Array, k: int, epsilon: float, settings: FaceSettings, seed: int
) -> EdgeWeights:
    n_dimensions = max(1, sum(feature.can_be_acted_on for feature in codec.schema))
    if settings.graph == "knn":
        return EdgeWeights.by_neighbours(n_dimensions, len(points), max(1, k))
    if settings.graph == "epsilon":
        return EdgeWeights(n_dimensions, epsilon)
    order = np.random.default_rng(seed).permutation(len(points))
    kernels = points[order[: settings.n_kernels]]
    return EdgeWeights.by_kernels(n_dimensions, kernels, settings.bandwidth)


def _one_way(codec: Codec, rows: Array) -> Array:
    """Return the values ``(m, o)`` that may not fall along a path."""
    signs = {Action.INCREASE: 1.0, Action.DECREASE: -1.0}
    columns = [
        np.nan_to_num(rows[:, position]) * signs[feature.action]
        for position, feature in enumerate(codec.schema)
        if feature.action in signs
    ]
    return np.stack(columns, axis=-1) if columns else rows[:, :0]
