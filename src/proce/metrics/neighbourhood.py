"""Do counterfactuals lie where people of the target class are?"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from sklearn.neighbors import LocalOutlierFactor
from torch import Tensor

from proce.metrics.gower import gower_points, nearest_distance
from proce.schema import Codec

_Measure = Callable[[Tensor, int], Tensor | float]
_N_NEIGHBOURS = 20
_MOST_ROWS = 20_000  # that outliers are told by: the time grows with their square


@dataclass(frozen=True, eq=False)
class Neighbourhood:
    """The training rows that a model puts in each class, and how dense they lie.

    Distances are Gower's. Densities are of *distinct* rows: people with the same values would
    make a place infinitely dense. Of more than 20,000 in a class, so many are drawn.

    Attributes
    ----------
    codec
        Whose rows they are.
    members
        By class as a position, points ``(n, w)`` of its distinct rows.
    seed
        Of the draw.
    """

    codec: Codec
    members: tuple[Tensor, ...]
    seed: int = 0
    _models: dict[int, Any] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def fit(
        cls, codec: Codec, rows: Tensor, predicted: Tensor, n_classes: int, *, seed: int = 0
    ) -> "Neighbourhood":
        """Take in training rows ``(n, f)`` and their predicted classes ``(n,)``."""
        points = gower_points(codec, rows)
        parts = [np.unique(points[predicted == k].numpy(), axis=0) for k in range(n_classes)]
        return cls(codec, tuple(map(torch.from_numpy, parts)), seed)

    def nearest(self, rows: Tensor, target: Tensor) -> Tensor:
        """Return the distance of each row to the nearest training row of its target, ``(i,)``.

        ``target`` holds classes as positions. NaN for a class without training rows.
        """
        return self._by_class(rows, target, self._nearest)

    def outlier_factor(self, rows: Tensor, target: Tensor) -> Tensor:
        """Return the local outlier factor (Breunig et al., 2000) of each row, ``(i,)``.

        How much less dense the training rows of the target lie around it than around its 20
        nearest: about 1 among them, and more outside. NaN for a class of fewer than two rows.
        """
        return self._by_class(rows, target, self._outliers)

    def _by_class(self, rows: Tensor, target: Tensor, measure: _Measure) -> Tensor:
        values = rows.new_full((len(rows),), torch.nan)
        points = gower_points(self.codec, rows)
        for k in sorted(set(target.tolist())):
            values[target == k] = measure(points[target == k], k)
        return values

    def _nearest(self, points: Tensor, target: int) -> Tensor | float:
        others = self.members[target]
        return nearest_distance(points, others) if len(others) else torch.nan

    def _outliers(self, points: Tensor, target: int) -> Tensor | float:
        others = self.members[target].numpy()
        if len(others) < 2:
            return torch.nan
        if target not in self._models:
            if len(others) > _MOST_ROWS:
                draw = np.random.default_rng(self.seed)
                others = others[draw.choice(len(others), _MOST_ROWS, replace=False)]
            model = LocalOutlierFactor(
                min(_N_NEIGHBOURS, len(others) - 1),
                algorithm="kd_tree",
                metric="manhattan",
                novelty=True,
            )
            self._models[target] = model.fit(others)
        return -torch.from_numpy(self._models[target].score_samples(points.numpy()))
