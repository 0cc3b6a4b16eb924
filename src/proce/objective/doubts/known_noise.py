"""The noise of rows in refits of the equations, which is worked out once for a row."""

from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import numpy as np

from proce.arrays import Array
from proce.causal import Ensemble
from proce.objective.query import Query

_MAX_ROWS_KNOWN = 2000  # whose noise is kept


@dataclass(eq=False)
class KnownNoise:
    """The noise of rows in each of some refits, worked out once for a row.

    Attributes
    ----------
    refits
        Causal models of one graph.
    """

    refits: Ensemble
    _places: dict[int, int] = field(default_factory=dict, init=False, repr=False)  # by key
    # (m, k, w), the rows by their places
    _noise: list[Array] = field(default_factory=list, init=False, repr=False)
    _lock: Any = field(default_factory=Lock, init=False, repr=False)

    def of(self, query: Query) -> Array:
        """Return the noise of the rows in each refit, ``(m, i, w)``."""
        with self._lock:
            return self._noise_of(query)

    def _noise_of(self, query: Query) -> Array:
        keys = query.keys.tolist()
        if len(self._places) > _MAX_ROWS_KNOWN:
            self._places, self._noise = {}, []
        new = {key: row for row, key in enumerate(keys) if key not in self._places}
        if new or not self._noise:
            rows = np.array(list(new.values()), dtype=np.int64)
            found = self.refits.abduct(query.factual[rows], seed=query.seed, keys=query.keys[rows])
            self._noise = [np.concatenate([*self._noise, np.stack(found)], axis=1)]
            self._places |= {key: len(self._places) + place for place, key in enumerate(new)}
        return self._noise[0][:, [self._places[key] for key in keys]]
