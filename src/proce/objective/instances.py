"""The rows of a search problem, and what the search needs to know of each."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from proce.arrays import Array
from proce.causal import Ensemble, StructuralCausalModel
from proce.latent import AutoEncoder, PrototypeIndex

_MAX_ENTRY = 1e6  # unit ranges


@dataclass(frozen=True, eq=False)
class InstanceBatch:
    """Rows to explain, and what the search needs to know of each."""

    factual: Array  # (i, f), x_org of the paper
    target: Array  # (i,), the wanted class as a position
    prototype: Array  # (i, e), proto* (Eq. 5).
    # (i, k), the positions of the training rows of each row's prototype, the nearest first; -1
    # behind the last, where a class has fewer than k rows
    neighbours: Array
    residual: Array  # (i, w), the rows' own noise; w is 0 without a causal model
    # (i, m, w), the rows' own noise in each refit of the equations; m is 0 without refits
    refit_residual: Array
    keys: Array  # (i,), what a row's random stream depends on beside the seed
    seed: int = 0  # the seed of the noise
    # (i, f), the rows in raw units as they came in; by default as the codec gives them back
    raw: Array | None = None
    # (i,), where each row stands in the caller's frame, for messages; None if unknown
    positions: Array | None = None
    # (i,), the class that the model gives each row; None where nobody asks for it
    own: Array | None = None

    @classmethod
    def of(
        cls,
        factual: Array,
        target: Array,
        keys: Array,
        *,
        autoencoder: AutoEncoder,
        index: PrototypeIndex,
        n_neighbours: int,
        scm: StructuralCausalModel | None,
        refits: Ensemble | None = None,
        seed: int,
        raw: Array | None = None,
        positions: Array | None = None,
        own: Array | None = None,
    ) -> "InstanceBatch":
        """Find the prototypes of rows ``(i, f)``, and the noise that makes them what they are."""
        latents = autoencoder.encode(factual)
        prototype = np.empty_like(latents)
        neighbours = np.full((len(factual), n_neighbours), -1, dtype=target.dtype)
        for label in np.unique(target).tolist():
            rows = np.flatnonzero(target == label)
            prototypes = index.prototype(latents[rows], label, n_neighbours)
            prototype[rows] = prototypes.latents
            neighbours[rows, : prototypes.neighbours.shape[1]] = prototypes.neighbours
        residual, refit_residual = np.empty((len(factual), 0)), np.empty((len(factual), 0, 0))
        if scm is not None:
            residual = scm.abduct(factual, seed=seed, keys=keys)
        if refits is not None:
            refit_residual = np.stack(refits.abduct(factual, seed=seed, keys=keys), axis=1)
        return cls(
            factual,
            target,
            prototype,
            neighbours,
            residual,
            refit_residual,
            keys,
            seed,
            raw,
            positions,
            own,
        )

    def take(self, rows: Array) -> "InstanceBatch":
        """Return some of the rows, given by position."""
        columns: list[Any] = [
            column.take(rows, axis=0) if isinstance(column, np.ndarray) else column
            for column in vars(self).values()
        ]
        return InstanceBatch(*columns)


def clamp_for_model(rows: Array, known: Array) -> Array:
    """Return rows ``(…, f)`` without entries so far from known rows that a model could fail.

    Equations can lead anywhere. A candidate that ends far outside of the training rows is not
    allowed anyway, but the model is asked about it together with all others.
    """
    least = known.min(initial=np.inf)
    if -least <= rows.min(initial=0.0) and rows.max(initial=0.0) <= least:  # no copy is needed
        return rows
    return np.clip(rows, -known, known)


def magnitude(rows: Array) -> Array:
    """Return how large the entries of rows ``(…, f)`` are, or may be for that matter."""
    return np.maximum(np.nan_to_num(np.abs(rows), nan=0.0), _MAX_ENTRY)
