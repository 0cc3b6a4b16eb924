"""The rows of a search problem, and what the search needs to know of each."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from proce.arrays import Array
from proce.causal import StructuralCausalModel
from proce.latent import AutoEncoder, PrototypeIndex

_MAX_ENTRY = 1e6  # unit ranges


@dataclass(frozen=True, eq=False)
class Query:
    """Rows to explain, and what the search needs to know of each."""

    factual: Array  # (i, f), x_org of the paper
    target: Array  # (i,), the wanted class as a position
    prototype: Array  # (i, e), proto* (Eq. 5).
    # (i, k), the positions of the training rows of each row's prototype, the nearest first; -1
    # behind the last, where a class has fewer than k rows
    neighbours: Array
    residual: Array  # (i, w), the rows' own noise; w is 0 without a causal model
    keys: Array  # (i,), what a row's random stream depends on beside the seed
    seed: int = 0  # the seed of the noise
    # (i, f), the rows in raw units as they came in; by default as the codec gives them back
    raw: Array | None = None
    # (i,), where each row stands in the caller's frame, for messages; None if unknown
    positions: Array | None = None
    # (i,), the class that the model gives each row; None where nobody asks for it
    own: Array | None = None

    @cached_property
    def magnitude(self) -> Array:
        """How large the entries of each row are, ``(i, 1, f)``."""
        return magnitude(self.factual)[:, None]

    def take(self, instances: Array) -> "Query":
        """Return the query for some of the rows, given by position."""
        return Query(
            self.factual.take(instances, axis=0),
            self.target.take(instances, axis=0),
            self.prototype.take(instances, axis=0),
            self.neighbours.take(instances, axis=0),
            self.residual.take(instances, axis=0),
            self.keys.take(instances, axis=0),
            self.seed,
            None if self.raw is None else self.raw.take(instances, axis=0),
            None if self.positions is None else self.positions.take(instances, axis=0),
            None if self.own is None else self.own.take(instances, axis=0),
        )


def pose_query(
    factual: Array,
    target: Array,
    keys: Array,
    *,
    autoencoder: AutoEncoder,
    index: PrototypeIndex,
    n_neighbours: int,
    scm: StructuralCausalModel | None,
    seed: int,
    raw: Array | None = None,
) -> Query:
    """Find the prototypes of rows ``(i, f)``, and the noise that makes them what they are."""
    latents = autoencoder.encode(factual)
    prototype = np.empty_like(latents)
    neighbours = np.full((len(factual), n_neighbours), -1, dtype=target.dtype)
    for wanted in np.unique(target).tolist():
        rows = np.flatnonzero(target == wanted)
        prototypes = index.prototype(latents[rows], wanted, n_neighbours)
        prototype[rows] = prototypes.latents
        neighbours[rows, : prototypes.neighbours.shape[1]] = prototypes.neighbours
    noise = np.empty((len(factual), 0), dtype=factual.dtype)
    if scm is not None:
        noise = scm.abduct(factual, seed=seed, keys=keys)
    return Query(factual, target, prototype, neighbours, noise, keys, seed, raw)


def clamp_for_model(rows: Array, known: Array) -> Array:
    """Return rows without entries so far from all known rows that a model could fail on them.

    Equations can lead anywhere. A candidate that ends far outside of the training rows is not
    allowed anyway, but the model is asked about it together with all others.

    Shapes: rows ``(…, f)``.
    """
    least = known.min(initial=np.inf)
    if -least <= rows.min(initial=0.0) and rows.max(initial=0.0) <= least:  # no copy is needed
        return rows
    return np.clip(rows, -known, known)


def magnitude(rows: Array) -> Array:
    """Return how large the entries of rows ``(…, f)`` are, or may be for that matter."""
    return np.maximum(np.nan_to_num(np.abs(rows), nan=0.0), _MAX_ENTRY)
