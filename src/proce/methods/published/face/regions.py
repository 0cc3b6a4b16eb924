"""Where FACE looks for paths: training rows, apart by what a path cannot change."""

import math
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra
from torch import Tensor

from proce.classifier import decide
from proce.methods.published.face.graph import (
    FaceSettings,
    Indices,
    Weights,
    default_epsilon,
    linked,
    neighbours_of,
    placed,
)
from proce.methods.published.task import Learnt, binding
from proce.schema import Action, Codec

_ASK_AT_ONCE = 65_536  # rows that the model is asked about in one call
_HELD = (Action.FIXED, Action.INDIRECT)
_MISSING = -9.0  # stands for NaN, which is not equal to itself


@dataclass(frozen=True, eq=False)
class Region:
    """Rows among which a path may lead: what is held, and what is missing, is the same in all.

    Attributes
    ----------
    rows, points
        ``(m, f)``, distinct training rows, and ``(m, e)``, where they lie.
    graph
        ``(m, m)``, the weight of each edge, from row to column.
    weights
        What any edge weighs.
    chances
        ``(m, k)``, the model's probabilities.
    predicted
        ``(m,)``, the class that the model puts each in.
    dense
        ``(m,)``, rows that are not among the sparsest.
    """

    rows: Tensor
    points: Tensor
    graph: csr_array
    weights: Weights
    chances: Tensor
    predicted: Tensor
    dense: Tensor

    def confident(self, target: int, least: float) -> Tensor:
        """Return flags ``(m,)``: dense rows of a class, with at least this probability."""
        return (self.predicted == target) & (self.chances[:, target] >= least) & self.dense

    def near(self, point: Tensor, allowed: Tensor, k: int, epsilon: float) -> tuple[Tensor, Tensor]:
        """Link a point ``(e,)`` to its nearest allowed rows; return positions and weights."""
        places = torch.nonzero(allowed).flatten()
        apart = (self.points[places] - point).square().sum(-1).sqrt()
        nearest = apart.argsort(stable=True)[:k]
        chosen = places[nearest[apart[nearest] <= epsilon]]
        return chosen, self.weights(point.expand(len(chosen), -1), self.points[chosen])

    def shortest(self, near: Tensor, weights: Tensor, allowed: Tensor) -> "Paths":
        """Return the shortest paths over allowed rows from a point with the given edges."""
        places = torch.nonzero(allowed).flatten().numpy()
        graph = self.graph if len(places) == len(allowed) else self.graph[places][:, places]
        position = np.full(len(allowed), -1)
        position[places] = np.arange(len(places))
        size = len(places)
        joined = csr_array(
            (
                np.concatenate([graph.data, weights.numpy()]),
                np.concatenate([graph.indices, position[near.numpy()]]),
                np.append(graph.indptr, graph.nnz + len(near)),
            ),
            shape=(size + 1, size + 1),
        )
        cost, before = dijkstra(joined, indices=size, return_predecessors=True)
        costs = torch.full((len(allowed),), math.inf, dtype=torch.float64)
        costs[places] = torch.from_numpy(cost[:-1])
        return Paths(costs, places, before, position)


@dataclass(frozen=True, eq=False)
class Paths:
    """Shortest paths from one point to the rows of a region.

    Attributes
    ----------
    costs
        ``(m,)``, of the path to each row; infinite where there is none.
    places
        The rows that were allowed, by position in the region.
    before
        For each of these, which of them a path comes from; for those next to the point, none.
    position
        For each row of the region its position among ``places``.
    """

    costs: Tensor
    places: Indices
    before: NDArray[np.int32]
    position: Indices

    def to(self, row: int) -> list[int]:
        """Return the rows on the way to one that has a path, that one last."""
        at, way = int(self.position[row]), []
        start = len(self.places)
        for _ in range(start):
            way.append(int(self.places[at]))
            at = int(self.before[at])
            if at == start:
                break
        return way[::-1]


@dataclass(frozen=True, eq=False)
class Regions:
    """All training rows, in regions.

    Attributes
    ----------
    codec
        Schema and scale, with the actions that bind the paths.
    by_key
        The regions, by what their rows share.
    epsilon
        The longest that an edge may be.
    """

    codec: Codec
    by_key: dict[bytes, Region]
    epsilon: float

    def around(self, factual: Tensor) -> Region | None:
        """Return the region of a row ``(f,)``; ``None`` where no training row is like it."""
        return self.by_key.get(_keys(self.codec, factual[None])[0].tobytes())


def regions_of(learnt: Learnt, rows: Tensor, settings: FaceSettings) -> Regions:
    """Return the graphs over distinct training rows ``(n, f)``."""
    codec = replace(learnt.codec, schema=binding(learnt.codec.schema, learnt.respect_schema))
    parts = torch.split(rows, _ASK_AT_ONCE)
    chances = torch.cat([learnt.classifier.predict_proba(part) for part in parts])
    keys, places = _grouped(_keys(codec, rows))
    points = [placed(codec, rows[at]) for at in places]
    near = [neighbours_of(each, settings.n_neighbours) for each in points]
    epsilon = settings.epsilon or math.inf
    if settings.epsilon is None and settings.graph != "knn":
        epsilon = default_epsilon(torch.cat([radii for _, radii in near]))
    regions = {}
    for key, at, each, (others, radii) in zip(keys, places, points, near, strict=True):
        weights = _weights(codec, each, others.shape[1], epsilon, settings, learnt.seed)
        sparsity = radii if weights.kernels is None else -weights.log_density_at(each)
        regions[key] = Region(
            rows[at],
            each,
            linked(each, others, epsilon, weights, _one_way(codec, rows[at])),
            weights,
            chances[at],
            decide(chances[at], learnt.classifier.threshold),
            sparsity <= sparsity.quantile(1 - settings.least_density, interpolation="higher"),
        )
    return Regions(codec, regions, epsilon)


def distinct(rows: Tensor) -> Tensor:
    """Return each row of ``(n, f)`` once."""
    _, first = np.unique(rows.nan_to_num(nan=_MISSING).numpy(), axis=0, return_index=True)
    return rows[torch.from_numpy(np.sort(first))]


def _keys(codec: Codec, rows: Tensor) -> NDArray[np.float64]:
    """Return what a path cannot change ``(n, f)``: held values, and which cells are missing."""
    held = torch.tensor([feature.action in _HELD for feature in codec.schema])
    gone = codec.missing(rows)
    keys = torch.where(gone, _MISSING, torch.where(held, rows, 0.0))
    return (keys + 0.0).numpy()  # -0.0 has other bytes than 0.0


def _grouped(keys: NDArray[np.float64]) -> tuple[list[bytes], list[Tensor]]:
    """Return the different keys, and the positions of the rows that have each."""
    found, owner, counts = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
    order = torch.from_numpy(np.argsort(owner.ravel(), kind="stable"))
    return [key.tobytes() for key in found], list(torch.split(order, counts.tolist()))


def _weights(
    codec: Codec, points: Tensor, k: int, epsilon: float, settings: FaceSettings, seed: int
) -> Weights:
    n_dimensions = max(1, sum(feature.action not in _HELD for feature in codec.schema))
    if settings.graph == "knn":
        return Weights.by_neighbours(n_dimensions, len(points), max(1, k))
    if settings.graph == "epsilon":
        return Weights(n_dimensions, epsilon)
    draws = torch.randperm(len(points), generator=torch.Generator().manual_seed(seed))
    return Weights.by_kernels(n_dimensions, points[draws[: settings.n_kernels]], settings.bandwidth)


def _one_way(codec: Codec, rows: Tensor) -> Tensor:
    """Return the values ``(m, o)`` that may not fall along a path."""
    signs = {Action.INCREASE: 1.0, Action.DECREASE: -1.0}
    columns = [
        rows[:, at].nan_to_num() * signs[feature.action]
        for at, feature in enumerate(codec.schema)
        if feature.action in signs
    ]
    return torch.stack(columns, -1) if columns else rows[:, :0]
