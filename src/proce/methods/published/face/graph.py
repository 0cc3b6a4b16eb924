"""The graph of FACE: training rows, linked to those near them, by edges weighed with density.

Poyiadzi et al. 2020, Section 3: an edge of length d has the weight ``d * f(z)``, where z is the
density on it: by the k nearest neighbours, by the ball of radius epsilon, or by kernels at its
middle. Their f(z) = -log(z) is negative where rows are dense, and shortest paths need weights that
are not. Here f(z) = log(1 + z^(-1/D)) with D dimensions, which is -log(z) / D where rows are rare.
"""

import math
from dataclasses import dataclass
from typing import Literal, cast, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array
from sklearn.neighbors import NearestNeighbors
from torch import Tensor
from torch.nn.functional import softplus

from proce.errors import SearchError
from proce.schema import Categorical, Codec

Linking = Literal["knn", "epsilon", "kde"]
Indices = NDArray[np.int64]
_PAIRS = 8_192  # edges weighed at a time; bounds memory
_MOST_ROWS = 0.9  # of the rows have all their neighbours within the default epsilon


@dataclass(frozen=True, slots=True, kw_only=True)
class FaceSettings:
    """Settings of FACE.

    Attributes
    ----------
    graph
        How the density on an edge is estimated: ``knn``, ``epsilon`` or ``kde``.
    n_neighbours
        How many rows each is linked to, at most; k of ``knn``.
    epsilon
        Rows that are further apart are not linked. A difference of levels, or of a number over
        its whole range, is 1. ``None``: no limit for ``knn``; for the others the distance within
        which nine rows out of ten have all their neighbours.
    confidence
        The probability of the target that a row needs to be the end of a path; t_p of the paper.
    least_density
        The share of rows, the sparsest, that no path ends at. In place of t_d of the paper, which
        is a density and so depends on the units.
    bandwidth
        Of the kernels of ``kde``; ``None`` for Scott's rule.
    n_kernels
        Rows, drawn at random, that the kernels of ``kde`` stand on, at most.
    """

    graph: Linking = "knn"
    n_neighbours: int = 50
    epsilon: float | None = None
    confidence: float = 0.75
    least_density: float = 0.05
    bandwidth: float | None = None
    n_kernels: int = 500

    def __post_init__(self) -> None:
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
class Weights:
    """What an edge between two points weighs.

    Attributes
    ----------
    n_dimensions
        How many features can move.
    radius
        Two points this far apart have a density of 1 between them, where no kernels are used.
    kernels
        ``(s, e)``, the centres of Gaussian kernels, or ``None``.
    bandwidth
        Of the kernels.
    """

    n_dimensions: int
    radius: float = 1.0
    kernels: Tensor | None = None
    bandwidth: float = 1.0

    @classmethod
    def by_neighbours(cls, n_dimensions: int, n_points: int, k: int) -> "Weights":
        """Return weights by k nearest neighbours: k of n points in the ball of an edge's length."""
        unit_ball = n_dimensions / 2 * math.log(math.pi) - math.lgamma(n_dimensions / 2 + 1)
        return cls(n_dimensions, math.exp((math.log(k / n_points) - unit_ball) / n_dimensions))

    @classmethod
    def by_kernels(cls, n_dimensions: int, kernels: Tensor, bandwidth: float | None) -> "Weights":
        """Return weights by kernels on points ``(s, e)``; without a bandwidth by Scott's rule."""
        spread = math.sqrt(float(kernels.var(0, correction=0).sum()) / n_dimensions) or 1.0
        rule = spread * len(kernels) ** (-1 / (n_dimensions + 4))
        return cls(n_dimensions, kernels=kernels, bandwidth=bandwidth or rule)

    def __call__(self, first: Tensor, second: Tensor) -> Tensor:
        """Return the weights ``(p,)`` of edges between points ``(p, e)``."""
        apart = (first - second).square().sum(-1).sqrt()
        if self.kernels is None:
            return apart * torch.log1p(apart / self.radius)  # z = (radius / apart)^D
        log_density = self.log_density_at((first + second) / 2)
        return apart * softplus(-log_density / self.n_dimensions)

    def log_density_at(self, points: Tensor) -> Tensor:
        """Return the logarithm of the kernels' density ``(p,)`` at points ``(p, e)``."""
        kernels = self.kernels
        assert kernels is not None
        scale = math.log(2 * math.pi * self.bandwidth**2) * self.n_dimensions / 2
        parts = (torch.cdist(part, kernels).square() for part in torch.split(points, _PAIRS))
        near = torch.cat([torch.logsumexp(-a / (2 * self.bandwidth**2), -1) for a in parts])
        return near - math.log(len(kernels)) - scale


def placed(codec: Codec, rows: Tensor) -> Tensor:
    """Return rows ``(n, f)`` as points ``(n, e)`` whose Euclidean distance is that of the rows.

    Numbers lie on the unit range, ranks over the last rank, levels one-hot on a scale at which two
    different ones are 1 apart. What is missing lies at 0: rows of a region all miss the same.
    """
    columns = []
    for at, feature in enumerate(codec.schema):
        column = rows[:, at]
        if isinstance(feature, Categorical):
            hot = column[:, None] == torch.arange(len(feature.levels))
            columns.append(hot.double() / math.sqrt(2))
        else:
            known = torch.where(codec.missing(rows)[:, at], 0.0, column)
            columns.append(known[:, None] / codec.reach[at])
    return torch.cat(columns, -1)


def neighbours_of(points: Tensor, k: int) -> tuple[Indices, Tensor]:
    """Return the nearest other points of each, ``(m, k)``, and how far the last is ``(m,)``.

    Fewer than k where there are fewer points; none, infinitely far, for a point on its own.
    """
    k = min(k, len(points) - 1)
    if k < 1:
        return np.zeros((len(points), 0), dtype=np.int64), points.new_full((len(points),), math.inf)
    search = NearestNeighbors(n_neighbors=k).fit(points.numpy())
    apart, near = search.kneighbors()  # in chunks: no distance between all pairs is kept
    return cast(Indices, near), torch.from_numpy(apart[:, -1].copy())


def default_epsilon(radii: Tensor) -> float:
    """Return a distance within which nearly every row has all its neighbours."""
    known = radii[radii.isfinite()]
    return float(known.quantile(_MOST_ROWS)) if len(known) else math.inf


def linked(
    points: Tensor, near: Indices, epsilon: float, weights: Weights, one_way: Tensor
) -> csr_array:
    """Return the graph in which each point is linked to its neighbours, and they to it.

    Parameters
    ----------
    points
        ``(m, e)``.
    near
        ``(m, k)``, the neighbours of each.
    epsilon
        Longer edges are left out.
    weights
        What an edge weighs.
    one_way
        ``(m, o)``, values that may not fall along an edge.
    """
    size, k = near.shape
    own = np.repeat(np.arange(size), k)
    other = near.ravel()
    pairs = np.unique(np.minimum(own, other) * size + np.maximum(own, other))
    first, second = (torch.from_numpy(each) for each in np.divmod(pairs, size))
    parts = list(zip(torch.split(first, _PAIRS), torch.split(second, _PAIRS), strict=True))
    apart = torch.cat([(points[a] - points[b]).square().sum(-1).sqrt() for a, b in parts])
    weight = torch.cat([weights(points[a], points[b]) for a, b in parts])
    start, end = torch.cat([first, second]), torch.cat([second, first])
    kept = (apart <= epsilon).repeat(2) & (one_way[end] >= one_way[start]).all(-1)
    entries = (weight.repeat(2)[kept].numpy(), (start[kept].numpy(), end[kept].numpy()))
    return coo_array(entries, shape=(size, size)).tocsr()
