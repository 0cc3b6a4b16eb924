"""A rule as a tree, before it becomes a program that is run on all candidates.

A condition has two distances on the unit range: how far it is from being true, and how far it is
from being false. One of them is zero. Both are zero where a value that the condition needs is
missing, so that such a comparison blocks nothing, negated or not.

A quantity is in raw units. It also knows two things of the training rows: its ``span``, how far it
ranges, and its ``size``, how large it gets. They turn a gap in raw units into a distance on the
unit range, whatever arithmetic led to it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from proce.arrays import MIN_DIFFERENCE

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
