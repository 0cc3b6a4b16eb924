"""How far apart rows are, feature by feature, without a model of the data."""

from dataclasses import dataclass

import numpy as np

from proce.arrays import Array, Flags, Floats, Ints, lower_median
from proce.compiled.cells import cell_gap, is_missing
from proce.compiled.kernel import kernel, part
from proce.schema.codec import Codec


@dataclass(frozen=True, eq=False)
class MixedDistance:
    """Numbers are compared by their difference over a scale, levels by whether they differ."""

    codec: Codec  # the codec of the rows, which knows what is missing
    is_level: Array  # (f,), which features are compared as levels
    scale: Array  # (f,), what a difference of the other features is divided by

    @classmethod
    def gower(cls, codec: Codec) -> "MixedDistance":
        """Return the distance of Gower: numbers and ranks over their range, levels 0 or 1."""
        return cls(codec, codec.is_categorical, codec.reach)

    @classmethod
    def by_deviation(cls, codec: Codec, rows: Array) -> "MixedDistance":
        """Return L1 over the median absolute deviation of training rows ``(n, f)``.

        Ordinal features count as levels. Where the median deviation is zero, because more than
        half of the rows share a value, the mean absolute deviation from that value stands in for
        it, and 1 where the feature is constant.
        """
        deviation = np.abs(rows - lower_median(rows))
        known = np.maximum((~np.isnan(deviation)).sum(0), 1)
        scale, mean = lower_median(deviation), np.nansum(deviation, axis=0) / known
        scale = np.where(scale > 0, scale, mean)
        scale = np.where(scale > 0, scale, 1.0)  # NaN where all are missing, too
        return cls(codec, ~codec.is_number, scale)

    def __call__(self, rows: Array, other: Array) -> Array:
        """Return the distance of each feature ``(…, f)``; 1 where one is missing, 0 for both."""
        gaps = np.empty(np.broadcast_shapes(rows.shape, other.shape))
        first, second = (_as_lines(np.broadcast_to(each, gaps.shape)) for each in (rows, other))
        write_gaps(first, second, *self._features, _as_lines(gaps))
        return gaps

    def mean(self, rows: Array, other: Array) -> Array:
        """Return the mean of the distances of all features ``(…,)``."""
        return self(rows, other).mean(-1)

    def neighbours(self, rows: Array, others: Array, count: int) -> tuple[Ints, Floats]:
        """Return which of others ``(n, f)`` rows are nearest to, and how far these are ``(q, k)``.

        The mean over the features counts. The nearest come first, and of equally near ones the
        first; ``count`` of them, of which there must be as many.
        """
        neighbours, totals = np.empty((len(rows), count), np.int64), np.empty((len(rows), count))
        lines = _as_lines(rows), _as_lines(others)
        write_neighbours(*lines, *self._features, neighbours, totals)
        return neighbours, totals / rows.shape[1]

    @property
    def _features(self) -> tuple[Array, Array, Array]:
        """What a kernel reads of the features, ``(f,)`` each."""
        return self.codec.is_number, self.is_level, self.scale


def _as_lines(rows: Array) -> Floats:
    """Return rows ``(…, f)`` as lines ``(n, f)``; of others there would be another version."""
    return np.require(rows, np.float64, ("C", "W")).reshape(-1, rows.shape[-1])


@kernel
def write_gaps(
    rows: Floats, others: Floats, is_number: Flags, is_level: Flags, scale: Floats, gaps: Floats
) -> None:
    """Write how far the cells of rows ``(n, f)`` are from those of others ``(n, f)``, ``(n, f)``.

    Flags and scales are ``(f,)``; features with ``is_level`` are compared as levels.
    """
    for n in range(len(rows)):
        for f in range(rows.shape[1]):
            gaps[n, f] = _gap(rows[n, f], others[n, f], is_number[f], is_level[f], scale[f])


@kernel
def write_neighbours(
    rows: Floats,
    others: Floats,
    is_number: Flags,
    is_level: Flags,
    scale: Floats,
    neighbours: Ints,
    totals: Floats,
) -> None:
    """Write which of others ``(n, f)`` each row ``(q, f)`` is nearest to, ``(q, k)``, and how far.

    That is in all features. The nearest come first, and of equally near ones the first. Flags and
    scales are those of `write_gaps`.
    """
    for q in range(len(rows)):
        near, least = neighbours[q], totals[q]
        least[:] = np.inf
        for n in range(len(others)):
            total = 0.0
            for f in range(rows.shape[1]):
                total += _gap(rows[q, f], others[n, f], is_number[f], is_level[f], scale[f])
                if total >= least[-1]:
                    break
            if total < least[-1]:
                place = len(least) - 1
                while place > 0 and total < least[place - 1]:
                    least[place], near[place] = least[place - 1], near[place - 1]
                    place -= 1
                least[place], near[place] = total, n


@part
def _gap(value: float, other: float, is_number: bool, is_level: bool, scale: float) -> float:
    """Return how far apart two cells are; one that is missing is 1 away from any other."""
    missing, other_missing = is_missing(value, is_number), is_missing(other, is_number)
    if missing or other_missing:
        return 0.0 if missing and other_missing else 1.0
    return cell_gap(value, other, scale, is_level)
