"""A rule as a tree, before it becomes a program that is run on all candidates.

A condition has two distances on the unit range: how far it is from being true, and how far it is
from being false. One of them is zero. Both are zero where a value that the condition needs is
missing, so that such a comparison blocks nothing, negated or not.

A quantity is in raw units. It also knows two things of the training rows: its ``span``, how far it
ranges, and its ``size``, how large it gets. They turn a gap in raw units into a distance on the
unit range, whatever arithmetic led to it.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal

import numpy as np

from proce.arrays import MIN_DIFFERENCE, Array
from proce.errors import RuleError

STRICT_MARGIN = 1e-6  # what a strict comparison between numbers lacks where they are equal
UNDEFINED_DISTANCE = 1.0  # how far a comparison that divides by zero is from being true
_MAX_DISTANCE = 1e100  # distances stay finite, and so do their sums


@dataclass(frozen=True, slots=True)
class FeatureReference:
    """A reference to a feature of one of the two rows, such as ``cf.age``.

    It stands for a value in raw units or for the code of a level; NaN where that is missing.
    """

    row: Literal["cf", "x"]  # `cf` for the counterfactual, `x` for the factual row
    position: int  # of the feature in the schema
    span: float = 0.0  # how far the feature ranges, and how large it gets
    size: float = 0.0

    @property
    def references(self) -> frozenset["FeatureReference"]:
        """The references whose values this quantity needs."""
        return frozenset([self])


@dataclass(frozen=True, slots=True)
class Constant:
    """A number in raw units, or the code of a level."""

    value: float
    span: float = 0.0
    references: frozenset[FeatureReference] = frozenset()

    @property
    def size(self) -> float:
        """How large the quantity gets."""
        return abs(self.value)


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """Quantities joined from left to right; NaN where a divisor is zero or a result too large."""

    first: "Quantity"
    rest: tuple[tuple[str, "Quantity"], ...]
    span: float
    size: float
    references: frozenset[FeatureReference]

    @classmethod
    def of(cls, first: "Quantity", rest: Sequence[tuple[str, "Quantity"]]) -> "Arithmetic":
        """Join quantities, and what is known of their span and size."""
        span, size = first.span, first.size
        for operator, operand in rest:
            span, size = _joined_extent(operator, (span, size), (operand.span, operand.size))
        references = first.references.union(*(operand.references for _, operand in rest))
        return cls(first, tuple(rest), span, size, references)


Quantity = FeatureReference | Constant | Arithmetic


@dataclass(frozen=True, slots=True)
class Comparison:
    """``left operator right``, for numbers or for codes of levels.

    ``unit`` is the gap that counts as 1, ``margin`` what is lacking where ``<``, ``>`` or
    ``!=`` meets equal values, ``max_gap`` the most that a gap counts.
    """

    operator: str
    left: Quantity
    right: Quantity
    unit: float
    margin: float
    max_gap: float = _MAX_DISTANCE

    @classmethod
    def of_numbers(cls, operator: str, left: Quantity, right: Quantity) -> "Comparison":
        """Compare numbers; 1 is the larger of the two spans."""
        span = max(left.span, right.span)
        return cls(operator, left, right, span if _is_positive(span) else 1.0, STRICT_MARGIN)

    @classmethod
    def of_ranks(cls, operator: str, left: Quantity, right: Quantity, reach: float) -> "Comparison":
        """Compare ordinal levels; 1 is the distance from the first to the last."""
        return cls(operator, left, right, reach, 1 / reach)

    @classmethod
    def of_codes(cls, operator: str, left: Quantity, right: Quantity) -> "Comparison":
        """Compare categorical levels, which are the same or 1 apart."""
        return cls(operator, left, right, 1.0, 1.0, max_gap=1.0)

    @property
    def references(self) -> frozenset[FeatureReference]:
        """The references whose values this condition needs."""
        return self.left.references | self.right.references


@dataclass(frozen=True, slots=True)
class Not:
    """The opposite of a condition."""

    operand: "Condition"

    @property
    def references(self) -> frozenset[FeatureReference]:
        """The references whose values this condition needs."""
        return self.operand.references


@dataclass(frozen=True, slots=True)
class Junction:
    """Conditions joined by one operator: ``and``, ``or``, or ``=>`` from right to left."""

    operator: str
    operands: tuple["Condition", ...]

    @property
    def references(self) -> frozenset[FeatureReference]:
        """The references whose values this condition needs."""
        return frozenset().union(*(operand.references for operand in self.operands))


Condition = Comparison | Not | Junction


def largest_zero(divisor: Quantity) -> float:
    """Return the size up to which a divisor counts as zero."""
    return MIN_DIFFERENCE * divisor.span if _is_positive(divisor.span) else 0.0


def _is_positive(span: float) -> bool:
    return math.isfinite(span) and span > 0


def _joined_extent(
    operator: str, left: tuple[float, float], right: tuple[float, float]
) -> tuple[float, float]:
    """Return the span and the size of two quantities joined, to first order."""
    (span, size), (other_span, other_size) = left, right
    if operator in "+-":
        return max(span, other_span), size + other_size
    if operator == "*":
        return max(
            _multiply_sizes(span, other_size), _multiply_sizes(size, other_span)
        ), _multiply_sizes(size, other_size)
    if other_size == 0 or not math.isfinite(other_size):
        return math.inf, math.inf
    ratio = size / other_size
    return max(span, _multiply_sizes(ratio, other_span)) / other_size, ratio


def _multiply_sizes(one: float, other: float) -> float:
    """Multiply two sizes; zero times infinity is zero here, where floats give NaN."""
    return one * other if one and other else 0.0


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
