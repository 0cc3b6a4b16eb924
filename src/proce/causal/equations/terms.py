"""The terms of a regression: what is weighed.

Parents arrive by name: numbers on the unit range, levels as codes. A categorical parent
enters as one column per level, an ordinal one by its rank on the unit range.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np

from proce.arrays import Floats
from proce.schema import Categorical, Continuous, Feature

KNOT_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)  # of the training values
FINE_KNOT_QUANTILES = (
    *(0.002, 0.02, 0.07, 0.15, 0.27, 0.42),
    *(0.58, 0.73, 0.85, 0.93, 0.98, 0.998),
)
NONE = 1e-9  # above the origin of an amount, on the unit range: less counts as zero


@dataclass(frozen=True)
class Terms:
    """The columns of a regression on some parents: a constant, then one column per term.

    Parameters
    ----------
    parents
        The features, in the order of the columns.
    degree
        2 adds squares of numbers and products of all pairs of columns, but for pairs of
        levels of one feature, which never occur together.
    knots
        For some continuous parents, the knots of a natural cubic spline: bent between the
        first and the last, straight beyond.
    ends
        For some continuous parents, values beyond which they count as if they lay there: curves
        that were learned from the bulk of the rows mean nothing for outliers.
    maps
        For some continuous parents, the factor and the shift that bring them to the unit range
        on which the equation was learned.
    """

    parents: tuple[Feature, ...]
    degree: int = 1
    knots: tuple[tuple[str, tuple[float, ...]], ...] = ()
    ends: tuple[tuple[str, float, float], ...] = ()
    maps: tuple[tuple[str, float, float], ...] = ()

    def with_knots(self, numbers: Floats, quantiles: tuple[float, ...]) -> "Terms":
        """Return the terms with a spline in every number, bent at quantiles of its values.

        ``numbers (i, n)`` are those of the continuous parents, as the equation reads them.
        """
        names = [feature.name for feature in self.parents if isinstance(feature, Continuous)]
        knots = []
        for name, values in zip(names, numbers.T, strict=True):
            places = np.unique(np.quantile(values, np.array(quantiles)))
            if len(places) > 2:
                knots.append((name, tuple(places.tolist())))
        return replace(self, knots=tuple(knots))

    def from_zeros(self, zeros: Mapping[str, float]) -> "Terms":
        """Return the terms with numbers that count from their zeros, given by name.

        An area is the product of two lengths from zero on, not from the shortest that was seen.
        """
        maps = tuple((name, 1.0, -zero) for name, zero in zeros.items())
        ends = tuple((name, low - zeros[name], high - zeros[name]) for name, low, high in self.ends)
        return replace(self, maps=maps, ends=ends)

    def mapped_by(self, maps: Mapping[str, tuple[float, float]]) -> "Terms":
        """Return the terms for parents on other unit ranges, by their factors and shifts."""
        own = {name: (factor, shift) for name, factor, shift in self.maps}
        both = []
        for feature in self.parents:
            factor, shift = maps.get(feature.name, (1.0, 0.0))
            rate, start = own.get(feature.name, (1.0, 0.0))
            if (rate * factor, rate * shift + start) != (1.0, 0.0):
                both.append((feature.name, rate * factor, rate * shift + start))
        return replace(self, maps=tuple(both))

    @cached_property
    def places(self) -> dict[str, int]:
        """Where each parent stands among them, by name."""
        return {parent.name: place for place, parent in enumerate(self.parents)}

    @property
    def size(self) -> int:
        """How many columns there are, the constant included."""
        bends = sum(len(places) - 2 for _, places in self.knots)
        return 1 + self.n_plain + len(self.products[0]) + bends

    @property
    def n_plain(self) -> int:
        """How many columns are a number, a rank or a level by itself."""
        return len(self._names)

    @property
    def _names(self) -> list[tuple[str, bool]]:
        """The feature of each plain column, and whether the column is a level of it."""
        names: list[tuple[str, bool]] = []
        for feature in self.parents:
            if isinstance(feature, Categorical):
                names += [(feature.name, True)] * len(feature.levels)
            else:
                names.append((feature.name, False))
        return names

    @cached_property
    def products(self) -> tuple[list[int], list[int]]:
        """The positions of the factors of each product among the plain columns."""
        if self.degree == 1:
            return [], []
        names = self._names
        factors = [(column, column) for column, (_, is_level) in enumerate(names) if not is_level]
        pairs = combinations(range(len(names)), 2)
        factors += [(a, b) for a, b in pairs if names[a][0] != names[b][0]]
        return [first for first, _ in factors], [second for _, second in factors]
