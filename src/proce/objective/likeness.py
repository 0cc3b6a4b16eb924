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
from proce.latent import AutoEncoder
from proce.latent.judges import EPSILON, rebuild, unit_columns
from proce.schema import Codec

_LEAST = 1e-9  # of IM1 and IM2: what is rebuilt without an error is not infinitely better


@dataclass(frozen=True, eq=False)
class Likeness:
    """Measures candidates by auto-encoders of the classes.

    A search finds what is odd about a single auto-encoder; so there are several of each, and the
    geometric mean of what they say counts.

    Attributes
    ----------
    codec
        The codec of the candidates.
    by_class
        The auto-encoders of the training rows of a predicted class, by its position. They are of
        rows on the range from the lowest to the highest value, as IM1 and IM2 are.
    of_all
        As many auto-encoders of all training rows.
    """

    codec: Codec
    by_class: Mapping[int, Sequence[AutoEncoder]]
    of_all: Sequence[AutoEncoder]

    def loss(self, rows: Array, target: Array, own: Array) -> Array:
        """Return IM1 times the root of IM2 of candidates, ``(i, c)``; lower is more typical.

        Parameters
        ----------
        rows
            ``(i, c, f)``, the candidates.
        target, own
            ``(i,)``, the wanted class of each row, and the one that it has.
        """
        on_range = self.codec.on_range(rows)
        labels = sorted({*target.tolist(), *own.tolist()})
        target, own = (np.searchsorted(np.array(labels), label) for label in (target, own))
        total = np.zeros(rows.shape[:2])
        for number, of_all in enumerate(self.of_all):
            judges = [self.by_class[label][number] for label in labels]
            total = total + _log_unlikeness(on_range, target, own, judges, of_all)
        return exponentials(total / len(self.of_all))


def _log_unlikeness(
    rows: Array, target: Array, own: Array, judges: Sequence[AutoEncoder], of_all: AutoEncoder
) -> Array:
    """Return log IM1 + log IM2 / 2 of candidates ``(i, c, f)``; classes are of the judges."""
    shape, flat = rows.shape[:2], flatten(rows, 0, 1)
    inputs, common = unit_columns(of_all.codec, flat), rebuild(of_all, flat)
    rebuilt = [rebuild(judge, flat) for judge in judges]
    errors = [_squared_norm(each - inputs).reshape(shape) for each in rebuilt]
    gaps = [_squared_norm(each - common).reshape(shape) for each in rebuilt]
    im1 = _of_class(errors, target) / (_of_class(errors, own) + EPSILON)
    im2 = _of_class(gaps, target) / (_squared_norm(inputs).reshape(shape) + EPSILON)
    return logarithms(np.maximum(im1, _LEAST)) + 0.5 * logarithms(np.maximum(im2, _LEAST))


def _squared_norm(points: Array) -> Array:
    return np.square(points).sum(-1)


def _of_class(by_class: Sequence[Array], labels: Array) -> Array:
    """Return for each row of ``(i, c)`` the values of its class, a position in ``by_class``."""
    return np.stack(tuple(by_class))[labels, np.arange(len(labels))]
