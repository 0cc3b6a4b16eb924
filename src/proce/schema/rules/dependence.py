"""``LSAT, UGPA ~> ZFYA``: an effect moves the way its mechanism says."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import chain

import numpy as np

from proce.arrays import MIN_DIFFERENCE, Array
from proce.errors import RuleError
from proce.schema.rules.tree import FeatureReference

Mechanism = Callable[[Array], Array]  # rows (…, f) -> the effect (…), on the unit range

ReferencedValues = Mapping[FeatureReference, Array]  # shapes that broadcast to (i, c)

MIN_MOVE = 2e-3  # of the unit range: less than this is not following


@dataclass(frozen=True, slots=True)
class Dependence:
    """The causes and the effect of a rule with ``~>``."""

    causes: tuple[str, ...]  # their names
    effect: str
    # of each cause, then of the effect: where it stands in the factual row and in the candidate
    cells: tuple[tuple[FeatureReference, FeatureReference], ...]
    units: tuple[float, ...]  # the changes that count as 1, in the same order

    @property
    def references(self) -> frozenset[FeatureReference]:
        """The references whose values the rule needs."""
        return frozenset(chain(*self.cells))

    def violation(
        self,
        values: ReferencedValues,
        factual: Array,
        rows: Array,
        mechanisms: Mapping[str, Mechanism],
    ) -> Array:
        """Return how far each candidate is from following its mechanism.

        With *s* the sign of the change of the prediction and *d* the change of the effect, on
        the unit range: ``max(0, 2e-3 - s * d)`` where *s* is not zero, else ``|d|``. Zero where
        the effect, a cause or the prediction is missing.
        """
        sign, moved, unknown = self.moves(values, factual, rows, mechanisms)
        with np.errstate(invalid="ignore"):  # what is not finite is unknown
            lacking = np.where(sign == 0, np.abs(moved), MIN_MOVE - sign * moved)
        return np.where(unknown | (lacking <= MIN_DIFFERENCE), 0.0, lacking)

    def moves(
        self,
        values: ReferencedValues,
        factual: Array,
        rows: Array,
        mechanisms: Mapping[str, Mechanism],
    ) -> tuple[Array, Array, Array]:
        """Return where the prediction moves, how far the effect does, and where that is unknown.

        Where: -1, 0 or 1. How far: on the unit range.
        """
        after, before = self._predict(mechanisms, rows), self._predict(mechanisms, factual)
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is unknown below
            push = after - before
        moved = self.changes(values)
        missing = np.isnan(moved).any(0)
        return direction(push), moved[-1], missing | ~(np.isfinite(push) & np.isfinite(moved[-1]))

    def changes(self, values: ReferencedValues) -> Array:
        """Return how far each cause and, last, the effect moves, on the unit range; NaN: missing.

        The shape is that of the candidates, with an axis for the features before it.
        """
        cells = zip(self.cells, self.units, strict=True)
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is unknown
            return np.stack([(values[cf] - values[x]) / unit for (x, cf), unit in cells])

    def _predict(self, mechanisms: Mapping[str, Mechanism], rows: Array) -> Array:
        if self.effect not in mechanisms:
            raise RuleError(
                f"rule '{', '.join(self.causes)} ~> {self.effect}' needs the mechanism of"
                f" {self.effect!r}, which was not given. Give a causal graph in which it has"
                f" causes, or mechanisms={{{self.effect!r}: ...}}."
            )
        predicted = mechanisms[self.effect](rows)
        if predicted.shape != rows.shape[:-1]:
            raise RuleError(
                f"the mechanism of {self.effect!r} gave the shape {tuple(predicted.shape)} for"
                f" rows {tuple(rows.shape)}; expected {tuple(rows.shape[:-1])}."
            )
        return predicted.astype(np.float64)


def direction(change: Array) -> Array:
    """Return -1, 0 or 1 for changes on the unit range; what may be rounding has no direction."""
    return np.where(np.abs(change) <= MIN_DIFFERENCE, 0.0, np.sign(change))
