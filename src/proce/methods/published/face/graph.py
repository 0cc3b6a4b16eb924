"""The graph of FACE: training rows, linked to near ones by edges that are weighted by density.

Poyiadzi et al. 2020 (arXiv:1909.09369), Section 3: an edge of length d has the weight
``d * f(z)``, where z is the density on the edge. The density is estimated by the k nearest
neighbours, by the ball of radius epsilon, or by kernels at the middle of the edge. Their
f(z) = -log(z) is negative where rows are dense, and shortest paths need weights that are not
negative. Here f(z) = log(1 + z^(-1/D)) with D dimensions, which is -log(z) / D where rows are rare.
"""

import math
from dataclasses import dataclass
from typing import Literal, cast, get_args

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.spatial.distance import cdist
from sklearn.neighbors import NearestNeighbors

from proce.arguments import check_fields
from proce.arrays import Array, Ints, blocks
from proce.compiled.elementary import exponentials, logarithms
from proce.errors import SearchError
from proce.schema import Categorical, Codec

Linking = Literal["knn", "epsilon", "kde"]
_MAX_EDGES_AT_ONCE = 8_192  # edges weighted at a time; bounds memory
_EPSILON_QUANTILE = 0.9  # share of rows that have all their neighbours within the default epsilon


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
    """Return rows ``(n, f)`` as points ``(n, e)`` whose Euclidean distance is that of the rows.

    Numbers lie on the unit range, ranks over the last rank, levels one-hot on a scale at which two
    different ones are 1 apart. Missing cells lie at 0: rows of one graph all miss the same cells.
    """
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
    """Return the graph in which each point is linked to its neighbours, and they to it.

    Shapes: points ``(m, e)``, neighbours ``(m, k)``, one_way ``(m, o)``.
    """
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
