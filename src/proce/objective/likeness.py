"""How little a candidate looks like its target class, by auto-encoders of the classes.

A row is like a class as far as the auto-encoder of the class rebuilds it. IM1 (Eq. 23) compares
the target with the class of before, IM2 (Eq. 24) the target with all rows; either alone is fooled,
IM1 by rows that no auto-encoder can rebuild and IM2 by rows that all rebuild alike.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from proce.arrays import Array, flatten
from proce.compiled.elementary import exponentials, logarithms
from proce.latent import AutoEncoder, Judges
from proce.schema import Codec

_LEAST = 1e-9  # of IM1 and IM2: what is rebuilt without an error is not infinitely better


@dataclass(frozen=True, eq=False)
class Likeness:
    """Measures candidates by auto-encoders of the classes.

    A search finds what is odd about a single auto-encoder; so there are several of each, and the
    geometric mean of what they say counts.
    """

    codec: Codec  # the codec of the candidates
    # The auto-encoders of the training rows of a predicted class, by its position. They are of rows
    # on the range from the lowest to the highest value, as IM1 and IM2 are.
    by_class: Mapping[int, Sequence[AutoEncoder]]
    of_all: Sequence[AutoEncoder]  # as many auto-encoders of all training rows

    def loss(self, rows: Array, target: Array, own: Array) -> Array:
        """Return IM1 times the root of IM2 of candidates, ``(i, c)``; lower is more typical.

        Shapes: rows ``(i, c, f)``, target, own ``(i,)``.
        """
        on_range = self.codec.on_range(flatten(rows, 0, 1))
        labels = sorted({*target.tolist(), *own.tolist()})
        target, own = (
            np.searchsorted(np.array(labels), label).repeat(rows.shape[1])
            for label in (target, own)
        )
        total = np.zeros(len(on_range))
        for number, of_all in enumerate(self.of_all):
            judges = Judges(tuple(self.by_class[label][number] for label in labels), of_all)
            im1, im2 = (np.maximum(im, _LEAST) for im in judges.im1_and_im2(on_range, target, own))
            total += logarithms(im1) + 0.5 * logarithms(im2)
        return exponentials(total / len(self.of_all)).reshape(rows.shape[:2])
