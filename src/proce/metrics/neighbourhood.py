"""Whether counterfactuals lie where training rows of the target class are."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from proce.arrays import Array
from proce.compiled.copies import distinct
from proce.schema import Codec, MixedDistance

_ClassMeasure = Callable[[Array, int], Array | float]  # rows (i, f) and a class -> (i,)
_N_NEIGHBOURS = 20
_MAX_ROWS = 20_000  # of a class for the outlier factor: the time grows with their square


@dataclass(frozen=True, eq=False)
class Neighbourhood:
    """The training rows that a model puts in each class, and how dense they lie."""

    # Distances are Gower's. Densities are of *distinct* rows: people with the same values would
    # make a place infinitely dense.

    codec: Codec  # the codec of the rows
    members: tuple[Array, ...]  # for each class, its distinct rows ``(n, f)``
    seed: int = 0  # the seed of the draw of ``max_rows``
    # Densities are computed from this many rows of a class, drawn at random where it has more
    max_rows: int = _MAX_ROWS
    _crowds: dict[int, "_Crowd"] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def fit(
        cls,
        codec: Codec,
        rows: Array,  # (n, f)
        predicted: Array,  # (n,), their classes
        n_classes: int,
        *,
        seed: int = 0,
        max_rows: int = _MAX_ROWS,
    ) -> "Neighbourhood":
        """Return the neighbourhood of training rows."""
        classes = (rows[predicted == label] for label in range(n_classes))
        return cls(codec, tuple(own[distinct(own)] for own in classes), seed, max_rows)

    def nearest(self, rows: Array, target: Array) -> Array:
        """Return the distance of each row to the nearest training row of its target, ``(i,)``."""
        # ``target`` holds classes as positions. NaN for a class without training rows.
        return self._by_class(rows, target, self._nearest_distances)

    def outlier_factor(self, rows: Array, target: Array) -> Array:
        """Return the local outlier factor (Breunig et al., 2000) of each row, ``(i,)``."""
        # The factor says how much less dense the training rows of the target lie around a row than
        # around its 20 nearest neighbours: it is about 1 among them, and more outside. It is NaN
        # for a class of fewer than two rows.
        return self._by_class(rows, target, self._outlier_factors)

    def _by_class(self, rows: Array, target: Array, measure: _ClassMeasure) -> Array:
        """Return a measure of each row, taken with the members of its target."""
        values = np.full(len(rows), np.nan)
        for label in sorted(set(target.tolist())):
            values[target == label] = measure(rows[target == label], label)
        return values

    def _nearest_distances(self, rows: Array, target: int) -> Array | float:
        others, gower = self.members[target], MixedDistance.gower(self.codec)
        return gower.neighbours(rows, others, 1)[1][:, 0] if len(others) else np.nan

    def _outlier_factors(self, rows: Array, target: int) -> Array | float:
        others = self.members[target]
        if len(others) < 2:
            return np.nan
        gower = MixedDistance.gower(self.codec)
        if target not in self._crowds:
            if len(others) > self.max_rows:
                draw = np.random.default_rng(self.seed)
                others = others[draw.choice(len(others), self.max_rows, replace=False)]
            self._crowds[target] = _Crowd.of(gower, others)
        return self._crowds[target].outlier_factors(gower, rows)


class _Crowd(NamedTuple):
    """Rows, and how dense each of them lies among its neighbours."""

    rows: Array  # ``(n, f)``, distinct rows, two at least
    reach: Array  # ``(n,)``, how far the farthest neighbour of each is
    density: Array  # ``(n,)``, the local reachability density of each

    @classmethod
    def of(cls, gower: MixedDistance, rows: Array) -> "_Crowd":
        """Return rows with their densities."""
        near, apart = gower.neighbours(rows, rows, min(_N_NEIGHBOURS + 1, len(rows)))
        near, apart = near[:, 1:], apart[:, 1:]  # the nearest of all is the row itself
        reach = apart[:, -1]
        return cls(rows, reach, _density(reach[near], apart))

    def outlier_factors(self, gower: MixedDistance, rows: Array) -> Array:
        """Return how much less dense others ``(i, f)`` lie than their neighbours, ``(i,)``."""
        near, apart = gower.neighbours(rows, self.rows, min(_N_NEIGHBOURS, len(self.rows) - 1))
        return self.density[near].mean(1) / _density(self.reach[near], apart)


def _density(reach: Array, apart: Array) -> Array:
    """Return the density where neighbours ``(i, k)`` with their reaches are so far apart."""
    density: Array = 1 / np.maximum(reach, apart).mean(1)
    return density
