"""FACE (Poyiadzi et al. 2020, arXiv:1909.09369): the shortest path over dense training rows.

As in the paper's Algorithm 1, rows are linked to those near them, edges are weighted by the
density on them, and the shortest paths lead to rows of the target class that are confident and
dense enough.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from proce.arrays import Array, Floats, Ints, blocks, cells_differ, expand
from proce.compiled.copies import distinct, groups_of, members_of
from proce.errors import SearchError
from proce.explanation.words.values import class_text
from proce.latent.autoencoder import nearest_of
from proce.methods.calls.method import Progress, ProgressCallback
from proce.methods.published.collector import CounterfactualCollector
from proce.methods.published.face.graph import (
    EdgeWeights,
    FaceSettings,
    default_epsilon,
    edge_lengths,
    nearest_neighbours,
    neighbour_graph,
    points_of,
)
from proce.methods.published.published import Published
from proce.methods.published.task import Candidates, CommonFit, Task, binding
from proce.schema import Action, Codec

_MAX_ROWS_PER_CALL = 65_536  # rows that the model is asked about in one call


@dataclass(frozen=True, eq=False)
class PathRegion:
    """Training rows that share their fixed values and missing cells, which a path may join."""

    # rows, points: (m, f), distinct training rows, and (m, e), where they lie
    rows: Array
    points: Array
    graph: csr_array  # (m, m), the weight of each edge, from row to column
    weights: EdgeWeights  # the weight of an edge between any two points
    probabilities: Array  # (m, k), what the model says of the rows
    predicted: Array  # (m,), the class that the model puts each row in
    dense: Array  # (m,), whether a row is not among the sparsest

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

        Shapes: allowed ``(m,)``.
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
    """Shortest paths from one point to the rows of a region."""

    costs: Array  # (m,), the cost of the path to each row; infinite where there is none
    nodes: Ints  # the rows that a path may touch, by position in the region
    # for each node, the node that its path comes from; len(nodes) stands for the point
    predecessor: NDArray[np.int32]
    node_of_row: Ints  # for each row of the region its position among nodes

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
    """All training rows, in regions."""

    codec: Codec  # schema and scale, with the actions that bind the paths
    # keys, regions: what the rows of each region share, (r, f), and the regions
    keys: Floats
    regions: tuple[PathRegion, ...]
    epsilon: float  # the longest that an edge may be

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


_MAX_ROWS_PER_CALL = 256  # candidates of a row that the model is asked about in one call, at most
_NO_REGION_NOTE = (
    "No training row has the values that must stay and the missing cells of this one, so there is"
    " nothing to walk over."
)


@dataclass(frozen=True, eq=False)
class _RowResult:
    """What was found for one row."""

    rows: Array  # (c, f), the counterfactuals
    steps: tuple[Array, ...] = ()  # the path to each counterfactual
    note: str | None = None  # why there are none, if there are none
    unfinished: bool = False  # whether the time ran out


class Face(Published[FaceSettings]):
    """FACE: the shortest path over dense training rows to one that has the target class.

    The counterfactual is a training row that the model is sure of, and ``Explanation.path()``
    leads there over rows that exist.
    """

    Settings = FaceSettings

    def _prepare(self, common: CommonFit, progress: ProgressCallback | None) -> PathRegions:
        settings: FaceSettings = self.settings_
        positions = distinct(common.rows)
        if len(positions) <= settings.n_neighbours:
            raise SearchError(
                f"the training frame has {len(positions)} different rows, and n_neighbours is"
                f" {settings.n_neighbours}; expected more rows than neighbours. Lower"
                " n_neighbours in FaceSettings, or fit on more rows."
            )
        regions = PathRegions.fit(common, positions, settings)
        if progress is not None:
            progress(Progress("fit", 1, 1))
        return regions

    def _find(self, task: Task) -> Candidates:
        results = []
        for position in range(len(task)):
            task.report(position + 1)
            results.append(self._find_paths(task, position))
        collector = CounterfactualCollector.empty(task)
        for position, result in enumerate(results):
            collector.fill(position, result.rows)
        return Candidates(
            collector.rows,
            collector.filled,
            np.array([result.unfinished for result in results]),
            tuple(result.steps for result in results),
            {position: result.note for position, result in enumerate(results) if result.note},
        )

    def _find_paths(self, task: Task, position: int) -> _RowResult:
        """Return the counterfactuals of one row and the paths to them."""
        settings: FaceSettings = self.settings_
        regions: PathRegions = self.prepared_
        factual, target = task.factual[position], int(task.target[position])
        nothing = np.zeros((0, len(factual)), dtype=factual.dtype)
        if task.over:
            return _RowResult(nothing, unfinished=True)
        region = regions.around(factual)
        if region is None:
            return _RowResult(nothing, note=_NO_REGION_NOTE)
        allowed = task.allowed(region.rows[None], np.array([position]))[0]
        ends = region.confident(target, settings.confidence) & allowed
        if not bool(ends.any()):
            return _RowResult(nothing, note=_no_end_note(task, target, allowed, settings))
        point = points_of(regions.codec, factual[None])[0]
        linked, weights = region.link(point, allowed, settings.n_neighbours, regions.epsilon)
        paths = region.shortest_paths(linked, weights, allowed)
        order = np.argsort(paths.costs, axis=-1, kind="stable")
        order = order[(ends & np.isfinite(paths.costs))[order]]
        if not len(order):
            return _RowResult(nothing, note=_no_path_note(settings, regions.epsilon))
        kept, unfinished = self._confirm(task, position, region, order)
        steps = tuple(_without_factual(region.rows[paths.to(int(end))], factual) for end in kept)
        failed = not len(kept) and not unfinished
        note = _unconfirmed_note(task, position, len(order)) if failed else None
        return _RowResult(region.rows[kept], steps, note, unfinished)

    def _confirm(
        self, task: Task, position: int, region: PathRegion, order: Array
    ) -> tuple[Array, bool]:
        """Ask the model about the ends of paths from the shortest on.

        Returns the first n that are confirmed, and whether the time ran out before.
        """
        confirmed: list[Array] = []
        n_wanted, n_asked = task.n, 0
        only = np.array([position])
        while n_wanted and n_asked < len(order) and int(task.evaluations_left[position]) > 0:
            if task.over:
                return _concatenate(confirmed), True
            part = order[n_asked : n_asked + min(max(n_wanted, n_asked), _MAX_ROWS_PER_CALL)]
            reached, _ = task.reached(region.rows[part][None], only)
            confirmed.append(part[reached[0]][:n_wanted])
            n_wanted, n_asked = n_wanted - len(confirmed[-1]), n_asked + len(part)
        return _concatenate(confirmed), False


def _concatenate(parts: list[Array]) -> Array:
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)


def _without_factual(steps: Array, factual: Array) -> Array:
    """Leave out a first step that is the person, who may be among the training rows."""
    return steps if cells_differ(steps[0], factual).any() else steps[1:]


def _no_end_note(task: Task, target: int, allowed: Array, settings: FaceSettings) -> str:
    label = class_text(task.call.context, task.common.classifier.classes[target])
    return (
        f"Of the {int(allowed.sum()):,} training rows that may be reached, the model puts none that"
        f" is dense enough in {label} with a probability of at least {settings.confidence:g}; let"
        " more features move, or lower confidence in FaceSettings."
    )


def _no_path_note(settings: FaceSettings, epsilon: float) -> str:
    advice = f"n_neighbours above {settings.n_neighbours}"
    if math.isfinite(epsilon):
        advice += f", or epsilon above {epsilon:.3g}"
    return f"No path leads to a row of the target; more rows are linked with {advice}."


def _unconfirmed_note(task: Task, position: int, n_ends: int) -> str:
    if int(task.evaluations_left[position]) <= 0:
        return "The evaluations were used up before a row was confirmed; raise max_evaluations."
    return (
        f"A path leads to {n_ends} rows of the target, but none of them holds: each breaks a rule"
        " of reject_by, or the model no longer says the same of it."
    )
