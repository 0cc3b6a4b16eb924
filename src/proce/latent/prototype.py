"""The prototype of a row: the mean latent of its nearest rows in the target class (Eqs. 3-5).

Eq. 3 takes neighbours whose class is not the row's own. With more than two classes such a row
need not be of the target class, so the neighbours here are the nearest training rows that are
*predicted* as the target.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from proce.arrays import Array, Ints, blocks
from proce.errors import ModelError
from proce.schema import Level

_BLOCK_BYTES = 64 * 2**20  # of distances held at a time
_ROUNDING_EPSILONS = 64  # machine epsilons by which the product form of a distance may be off


@dataclass(frozen=True)
class Prototypes:
    """The prototypes of some rows."""

    latents: Array  # ``(q, e)``, the mean latent of the neighbours (Eq. 5)
    neighbours: Array  # ``(q, k)``, their positions among the training rows, the nearest first


class PrototypeIndex:
    """Training latents by predicted class, searched exactly."""

    def __init__(self, latents: Array, predicted: Array, classes: Sequence[Level]) -> None:
        self.classes = tuple(classes)
        self._rows = [np.flatnonzero(predicted == k) for k in range(len(self.classes))]
        self._latents = [latents[rows] for rows in self._rows]
        self._norms = [np.square(members).sum(-1) for members in self._latents]

    @property
    def sizes(self) -> Array:
        """How many training rows are predicted as each class, ``(k,)``."""
        return np.array([len(rows) for rows in self._rows])

    @property
    def members(self) -> tuple[Array, Array]:
        """The latents ``(n, e)`` and the predicted classes ``(n,)`` that it was made of."""
        positions, latents = np.concatenate(self._rows), np.concatenate(self._latents)
        predicted = np.concatenate([np.full_like(rows, k) for k, rows in enumerate(self._rows)])
        order = np.argsort(positions, kind="stable")
        return latents[order], predicted[order]

    def prototype(self, latent: Array, target: int, n_neighbours: int) -> Prototypes:
        """Return the prototypes of latents ``(q, e)`` for a class."""
        members, rows, norms = (part[target] for part in (self._latents, self._rows, self._norms))
        if not len(rows):
            raise ModelError(
                f"no training row is predicted as {self.classes[target]!r}, so it has no prototype."
                " Choose another target, or fit on rows that the model puts in that class."
            )
        count = min(n_neighbours, len(rows))
        block = max(1, _BLOCK_BYTES // (members.itemsize * len(rows)))
        parts = blocks(latent, block)
        nearest = np.concatenate([_nearest(part, members, norms, count) for part in parts])
        return Prototypes(members[nearest].mean(1), rows[nearest])


def _nearest(queries: Array, members: Array, norms: Array, count: int) -> Ints:
    """Return the positions ``(q, count)`` of the nearest members; ties go to the earlier."""
    # The product form of the distance is fast but rounds. It says which members could be among the
    # nearest, and those are compared by the difference form. ``norms (n,)`` are the squared lengths
    # of the members.
    own = np.square(queries).sum(-1, keepdims=True)  # (q, 1)
    rough = queries @ members.T  # (q, n)
    rough *= -2
    rough += norms
    rough += own
    rounding = _ROUNDING_EPSILONS * np.finfo(rough.dtype).eps * (own + norms.max())
    reached = np.partition(rough, count - 1, axis=1)[:, count - 1 : count]
    possible = rough <= reached + 2 * rounding
    nearest = np.empty((len(queries), count), np.int64)
    for position, query in enumerate(queries):
        candidates = np.flatnonzero(possible[position])
        nearest[position] = nearest_of(query, members, candidates, count)
    return nearest


def nearest_of(query: Array, members: Array, candidates: Ints, count: int) -> Ints:
    """Return the nearest ``(count,)`` of the candidates ``(k,)``, which are in order."""
    offset = query.astype(np.float64) - members[candidates]  # (k, e)
    order = np.argsort(np.square(offset).sum(-1), kind="stable")
    return candidates[order[:count]]
