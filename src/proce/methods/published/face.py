"""FACE (Poyiadzi et al. 2020, arXiv:1909.09369): the shortest path over dense training rows.

As in the paper's Algorithm 1, rows are linked to those near them, edges are weighted by the
density on them, and the shortest paths lead to rows of the target class that are confident and
dense enough. An edge of length d has the weight ``d * f(z)`` (Section 3), where z is the density on
the edge. It is estimated by the k nearest neighbours, by the ball of radius epsilon, or by kernels
at the middle of the edge. Their f(z) = -log(z) is negative where rows are dense, and shortest paths
need weights that are not negative. Here f(z) = log(1 + z^(-1/D)) with D dimensions, which is
-log(z) / D where rows are rare.
"""

import math
from dataclasses import dataclass, replace
from typing import Literal, cast, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import dijkstra
from scipy.spatial.distance import cdist
from sklearn.neighbors import NearestNeighbors

from proce.arguments import check_fields
from proce.arrays import Array, Floats, Ints, blocks, cells_differ, expand
from proce.compiled.copies import distinct, groups_of, members_of
from proce.compiled.elementary import exponentials, logarithms
from proce.errors import SearchError
from proce.explanation.words.values import class_text
from proce.latent.autoencoder import nearest_of
from proce.methods.calls.method import Progress, ProgressCallback
from proce.methods.published.published import Published
from proce.methods.published.task import Candidates, CommonFit, Task, binding
from proce.schema import Action, Categorical, Codec

Linking = Literal["knn", "epsilon", "kde"]
_MAX_EDGES_AT_ONCE = 8_192  # edges weighted at a time; bounds memory
_EPSILON_QUANTILE = 0.9  # share of rows that have all their neighbours within the default epsilon
_MAX_ROWS_AT_ONCE = 65_536  # rows that the model is asked about in one call of a fit
_MAX_ENDS_PER_CALL = 256  # candidates of a row that the model is asked about in one call, at most
_NO_REGION_NOTE = (
    "No training row has the values that must stay and the missing cells of this one, so there is"
    " nothing to walk over."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FaceSettings:
    """Settings of FACE.

    Attributes
    ----------
    graph
        How the density on an edge is estimated: ``knn``, ``epsilon`` or ``kde``.
    n_neighbours
        How many rows each row is linked to, at most; k of ``knn``.
    epsilon
        Rows that are further apart are not linked. A difference of levels, or of a number over
        its whole range, is 1. ``None``: no limit for ``knn``; for the others the distance within
        which nine rows out of ten have all their neighbours.
    confidence
        The probability of the target that a row needs to be the end of a path; t_p of the paper.
    least_density
        The share of the sparsest rows, at which no path ends. It stands in for t_d of the paper,
        which is a density and so depends on the units.
    bandwidth
        The bandwidth of the kernels of ``kde``; ``None`` for Scott's rule.
    n_kernels
        How many rows, drawn at random, the kernels of ``kde`` stand on, at most.
    """

    graph: Linking = "knn"
    n_neighbours: int = 50
    epsilon: float | None = None
    confidence: float = 0.75
    least_density: float = 0.05
    bandwidth: float | None = None
    n_kernels: int = 500

    def __post_init__(self) -> None:
        check_fields(self, SearchError)
        if self.graph not in get_args(Linking):
            raise SearchError(f"graph is {self.graph!r}; expected 'knn', 'epsilon' or 'kde'.")
        for name in ("n_neighbours", "n_kernels"):
            if not getattr(self, name) >= 1:
                raise SearchError(f"{name} is {getattr(self, name)}; expected 1 or more.")
        for name in ("epsilon", "bandwidth"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise SearchError(f"{name} is {value}; expected a positive number, or None.")
        if not 0 < self.confidence <= 1:
            raise SearchError(f"confidence is {self.confidence}; expected over 0, at most 1.")
        if not 0 <= self.least_density < 1:
            raise SearchError(f"least_density is {self.least_density}; expected 0 to under 1.")


@dataclass(frozen=True, eq=False)
class EdgeWeights:
    """The weight of an edge between two points."""

    n_dimensions: int  # how many features can move
    # two points this far apart have a density of 1 between them, where no kernels are used
    radius: float = 1.0
    kernels: Array | None = None  # (s, e), the centres of Gaussian kernels, or None
    bandwidth: float = 1.0  # the bandwidth of the kernels

    @classmethod
    def by_neighbours(cls, n_dimensions: int, n_points: int, k: int) -> "EdgeWeights":
        """Return weights by k nearest neighbours: k of n points in the ball of an edge's length."""
        unit_ball = n_dimensions / 2 * math.log(math.pi) - math.lgamma(n_dimensions / 2 + 1)
        return cls(n_dimensions, math.exp((math.log(k / n_points) - unit_ball) / n_dimensions))

    @classmethod
    def by_kernels(
        cls, n_dimensions: int, kernels: Array, bandwidth: float | None
    ) -> "EdgeWeights":
        """Return weights by kernels on points ``(s, e)``; without a bandwidth by Scott's rule."""
        spread = math.sqrt(float(kernels.var(0).sum()) / n_dimensions) or 1.0
        rule = spread * len(kernels) ** (-1 / (n_dimensions + 4))
        return cls(n_dimensions, kernels=kernels, bandwidth=bandwidth or rule)

    def __call__(self, first: Array, second: Array) -> Array:
        """Return the weights ``(p,)`` of edges between points ``(p, e)``."""
        length = edge_lengths(first, second)
        if self.kernels is None:
            return length * logarithms(1 + length / self.radius)  # z = (radius / length)^D
        rarity = -self.log_density((first + second) / 2) / self.n_dimensions
        above = np.maximum(rarity, 0.0)  # log(1 + exp(rarity)), of which no power overflows
        return length * (above + logarithms(1 + exponentials(-np.abs(rarity))))

    def log_density(self, points: Array) -> Array:
        """Return the logarithm of the kernels' density ``(p,)`` at points ``(p, e)``."""
        kernels = self.kernels
        assert kernels is not None
        scale = math.log(2 * math.pi * self.bandwidth**2) * self.n_dimensions / 2
        parts = blocks(points, _MAX_EDGES_AT_ONCE)
        squares = (cdist(part, kernels, "sqeuclidean") for part in parts)
        logs = [_log_sum(-square / (2 * self.bandwidth**2)) for square in squares]
        return np.concatenate(logs) - math.log(len(kernels)) - scale


def _log_sum(logs: Array) -> Array:
    """Return the logarithm of the sum of what has logarithms ``(p, s)``, ``(p,)``."""
    highest = logs.max(-1)
    return highest + logarithms(exponentials(logs - highest[:, None]).sum(-1))


def edge_lengths(first: Array, second: Array) -> Array:
    """Return how far points ``(p, e)`` are from others, ``(p,)``."""
    lengths: Array = np.sqrt(np.square(first - second).sum(-1))
    return lengths


def points_of(codec: Codec, rows: Array) -> Array:
    """Return rows ``(n, f)`` as points ``(n, e)`` whose Euclidean distance is that of the rows."""
    # Numbers lie on the unit range, ranks over the last rank, levels one-hot on a scale at which
    # two different ones are 1 apart. Missing cells lie at 0: rows of one graph all miss the same
    # cells.
    columns = []
    for position, feature in enumerate(codec.schema):
        column = rows[:, position]
        if isinstance(feature, Categorical):
            hot = column[:, None] == np.arange(len(feature.levels))
            columns.append(hot.astype(np.float64) / math.sqrt(2))
        else:
            known = np.where(codec.missing(rows)[:, position], 0.0, column)
            columns.append(known[:, None] / codec.reach[position])
    return np.concatenate(columns, axis=-1)


def nearest_neighbours(points: Array, k: int) -> tuple[Ints, Array]:
    """Return the k nearest other points of each point ``(m, k)``, and how far the last is ``(m,)``.

    There are fewer than k columns where there are fewer points. A single point has no neighbours,
    and its distance is infinite.
    """
    k = min(k, len(points) - 1)
    if k < 1:
        return np.zeros((len(points), 0), np.int64), np.full(len(points), math.inf)
    search = NearestNeighbors(n_neighbors=k).fit(points)
    distances, neighbours = search.kneighbors()  # works in chunks, not on all pairs at once
    return cast(Ints, neighbours), distances[:, -1].copy()


def default_epsilon(radii: Array) -> float:
    """Return a distance within which nearly every row has all its neighbours."""
    known = radii[np.isfinite(radii)]
    return float(np.quantile(known, _EPSILON_QUANTILE)) if len(known) else math.inf


def neighbour_graph(
    points: Array, neighbours: Ints, epsilon: float, weights: EdgeWeights, one_way: Array
) -> csr_array:
    """Return the graph in which each point is linked to its neighbours, and they to it."""
    # Shapes: points ``(m, e)``, neighbours ``(m, k)``, one_way ``(m, o)``.
    size, k = neighbours.shape
    own = np.repeat(np.arange(size), k)
    other = neighbours.ravel()
    pairs = np.unique(np.minimum(own, other) * size + np.maximum(own, other))
    first, second = np.divmod(pairs, size)
    firsts, seconds = (blocks(ends, _MAX_EDGES_AT_ONCE) for ends in (first, second))
    parts = [(points[a], points[b]) for a, b in zip(firsts, seconds, strict=True)]
    length = np.concatenate([edge_lengths(a, b) for a, b in parts])
    weight = np.concatenate([weights(a, b) for a, b in parts])
    start, end = np.concatenate([first, second]), np.concatenate([second, first])
    kept = np.tile(length <= epsilon, 2) & (one_way[end] >= one_way[start]).all(-1)
    entries = (np.tile(weight, 2)[kept], (start[kept], end[kept]))
    return coo_array(entries, shape=(size, size)).tocsr()


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
        """Return the shortest paths over allowed rows from a point with the given edges."""
        # Shapes: allowed ``(m,)``.
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
        parts = blocks(rows, _MAX_ROWS_AT_ONCE)
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
        candidates, reasons = Candidates.none(task), {}
        for position in range(len(task)):
            task.report(position + 1)
            reasons[position] = self._find_paths(task, position, candidates)
        candidates.note_failures(task, reasons.__getitem__)
        return candidates

    def _find_paths(self, task: Task, position: int, candidates: Candidates) -> str:
        """Find the candidates of one row and the paths to them; return why there are none."""
        settings: FaceSettings = self.settings_
        regions: PathRegions = self.prepared_
        factual, target = task.factual[position], int(task.target[position])
        if task.over:
            candidates.unfinished[position] = True
            return ""
        region = regions.around(factual)
        if region is None:
            return _NO_REGION_NOTE
        allowed = task.allowed(region.rows[None], np.array([position]))[0]
        ends = region.confident(target, settings.confidence) & allowed
        if not bool(ends.any()):
            return _no_end_note(task, target, allowed, settings)
        point = points_of(regions.codec, factual[None])[0]
        linked, weights = region.link(point, allowed, settings.n_neighbours, regions.epsilon)
        paths = region.shortest_paths(linked, weights, allowed)
        order = np.argsort(paths.costs, axis=-1, kind="stable")
        order = order[(ends & np.isfinite(paths.costs))[order]]
        if not len(order):
            return _no_path_note(settings, regions.epsilon)
        kept, candidates.unfinished[position] = self._confirm(task, position, region, order)
        candidates.fill(position, region.rows[kept])
        candidates.steps[position] = tuple(
            _without_factual(region.rows[paths.to(int(end))], factual) for end in kept
        )
        return (
            f"A path leads to {len(order)} rows of the target, but none of them holds: each breaks"
            " a rule of reject_by, or the model no longer says the same of it."
        )

    def _confirm(
        self, task: Task, position: int, region: PathRegion, order: Array
    ) -> tuple[Array, bool]:
        """Ask the model about the ends of paths from the shortest on."""
        # Returns the first n that are confirmed, and whether the time ran out before.
        confirmed: list[Array] = []
        n_wanted, n_asked = task.n, 0
        only = np.array([position])
        while n_wanted and n_asked < len(order) and int(task.evaluations_left[position]) > 0:
            if task.over:
                return _concatenate(confirmed), True
            part = order[n_asked : n_asked + min(max(n_wanted, n_asked), _MAX_ENDS_PER_CALL)]
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
