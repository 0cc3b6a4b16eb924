"""Whether counterfactuals lie where training rows of the target class are."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.neighbors import LocalOutlierFactor

from proce.arrays import Array
from proce.compiled.copies import distinct
from proce.metrics.gower import gower_points
from proce.schema import Codec, MixedDistance

_ClassMeasure = Callable[[Array, int], Array | float]  # rows (i, f) and a class -> (i,)
_N_NEIGHBOURS = 20
_MAX_ROWS = 20_000  # of a class for the outlier factor: the time grows with their square


@dataclass(frozen=True, eq=False)
class Neighbourhood:
    """The training rows that a model puts in each class, and how dense they lie.

    Distances are Gower's; densities are of :func:`~proce.metrics.gower.gower_points`. They are of
    *distinct* rows: people with the same values would make a place infinitely dense.

    Attributes
    ----------
    codec
        The codec of the rows.
    members
        For each class, its distinct rows ``(n, f)``.
    seed
        The seed of the draw of ``max_rows``.
    max_rows
        Densities are computed from this many rows of a class, drawn at random where it has more.
    """

    codec: Codec
    members: tuple[Array, ...]
    seed: int = 0
    max_rows: int = _MAX_ROWS
    _models: dict[int, Any] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def fit(
        cls,
        codec: Codec,
        rows: Array,
        predicted: Array,
        n_classes: int,
        *,
        seed: int = 0,
        max_rows: int = _MAX_ROWS,
    ) -> "Neighbourhood":
        """Return the neighbourhood of training rows.

        Parameters
        ----------
        codec
            The codec of the rows.
        rows, predicted
            The training rows ``(n, f)``, and the class that the model puts each in ``(n,)``.
        n_classes
            How many classes the model has.
        seed, max_rows
            Densities are computed from at most ``max_rows`` rows of a class, drawn by ``seed``.
        """
        classes = (rows[predicted == label] for label in range(n_classes))
        return cls(codec, tuple(own[distinct(own)] for own in classes), seed, max_rows)

    def nearest(self, rows: Array, target: Array) -> Array:
        """Return the distance of each row to the nearest training row of its target, ``(i,)``.

        ``target`` holds classes as positions. NaN for a class without training rows.
        """
        return self._by_class(rows, target, self._nearest_distances)

    def outlier_factor(self, rows: Array, target: Array) -> Array:
        """Return the local outlier factor (Breunig et al., 2000) of each row, ``(i,)``.

        The factor says how much less dense the training rows of the target lie around a row than
        around its 20 nearest neighbours: it is about 1 among them, and more outside. It is NaN for
        a class of fewer than two rows.
        """
        return self._by_class(rows, target, self._outlier_factors)

    def _by_class(self, rows: Array, target: Array, measure: _ClassMeasure) -> Array:
        """Return a measure of each row, taken with the members of its target."""
        values = np.full(len(rows), np.nan)
        for label in sorted(set(target.tolist())):
            values[target == label] = measure(rows[target == label], label)
        return values

    def _nearest_distances(self, rows: Array, target: int) -> Array | float:
        others, gower = self.members[target], MixedDistance.gower(self.codec)
        return gower.mean(rows, others[gower.nearest(rows, others)]) if len(others) else np.nan

    def _outlier_factors(self, rows: Array, target: int) -> Array | float:
        others = self.members[target]
        if len(others) < 2:
            return np.nan
        if target not in self._models:
            if len(others) > self.max_rows:
                draw = np.random.default_rng(self.seed)
                others = others[draw.choice(len(others), self.max_rows, replace=False)]
            model = LocalOutlierFactor(
                min(_N_NEIGHBOURS, len(others) - 1),
                algorithm="kd_tree",
                metric="manhattan",
                novelty=True,
            )
            self._models[target] = model.fit(gower_points(self.codec, others))
        return -self._models[target].score_samples(gower_points(self.codec, rows))
