"""A rule as a tree that is evaluated on all candidates at once.

A condition gives two distances on the unit range: how far it is from being true, and how far
from being false. One of them is zero; both are where a value that it needs is missing, so
that such a comparison blocks nothing, negated or not.

A quantity is evaluated in raw units. It also knows two things of the training rows: its
``span``, how far it ranges, and its ``size``, how large it gets. They turn a gap in raw units
into a distance on the unit range, whatever arithmetic led to it.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Literal, NamedTuple

import torch
from torch import Tensor

SAME = 1e-9  # gaps up to this are rounding
STRICT = 1e-6  # what a strict comparison between numbers lacks where they are equal
UNDEFINED = 1.0  # how far a comparison that divides by zero is from being true
_LONGEST = 1e100  # distances stay finite, and so do their sums


@dataclass(frozen=True, slots=True)
class Cell:
    """A value that a rule reads: a feature of the counterfactual or of the factual row.

    In raw units, or the code of its level; NaN where it is missing.
    """

    row: Literal["cf", "x"]
    position: int
    span: float = 0.0
    size: float = 0.0

    @property
    def cells(self) -> frozenset["Cell"]:
        """The values that this quantity needs."""
        return frozenset([self])

    def values(self, cells: "Cells") -> Tensor:
        """Return the quantity for all candidates."""
        return cells[self]


Cells = Mapping[Cell, Tensor]  # what a rule reads, each of a shape that broadcasts to (i, c)


@dataclass(frozen=True, slots=True)
class Constant:
    """A number in raw units, or the code of a level."""

    value: float
    span: float = 0.0
    cells: frozenset[Cell] = frozenset()

    @property
    def size(self) -> float:
        """How large the quantity gets."""
        return abs(self.value)

    def values(self, cells: Cells) -> Tensor:
        """Return the quantity, which is the same for all candidates."""
        return torch.tensor(self.value, dtype=torch.float64)


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """Quantities joined from left to right; NaN where a divisor is zero or a result too large."""

    first: "Quantity"
    rest: tuple[tuple[str, "Quantity"], ...]
    span: float
    size: float
    cells: frozenset[Cell]

    @classmethod
    def of(cls, first: "Quantity", rest: Sequence[tuple[str, "Quantity"]]) -> "Arithmetic":
        """Join quantities, and what is known of their span and size."""
        span, size = first.span, first.size
        for operator, each in rest:
            span, size = _extent(operator, (span, size), (each.span, each.size))
        cells = first.cells.union(*(each.cells for _, each in rest))
        return cls(first, tuple(rest), span, size, cells)

    def values(self, cells: Cells) -> Tensor:
        """Return the quantity for all candidates."""
        result = self.first.values(cells)
        for operator, each in self.rest:
            right = each.values(cells)
            match operator:
                case "+":
                    result = result + right
                case "-":
                    result = result - right
                case "*":
                    result = result * right
                case _:
                    nearly_zero = right.abs() <= (SAME * each.span if _usable(each.span) else 0)
                    result = result / right.masked_fill(nearly_zero, math.nan)
            # Not infinite: one over infinity would be a number again.
            result = result.masked_fill(~result.isfinite(), math.nan)
        return result


Quantity = Cell | Constant | Arithmetic


class Distances(NamedTuple):
    """How far a condition is from being true and from being false."""

    to_true: Tensor
    to_false: Tensor


@dataclass(frozen=True, slots=True)
class Comparison:
    """``left operator right``, for numbers or for codes of levels.

    ``unit`` is the gap that counts as 1, ``margin`` what is lacking where ``<``, ``>`` or
    ``!=`` meets equal values, ``longest`` the most that a gap counts.
    """

    operator: str
    left: Quantity
    right: Quantity
    unit: float
    margin: float
    longest: float = _LONGEST

    @classmethod
    def of_numbers(cls, operator: str, left: Quantity, right: Quantity) -> "Comparison":
        """Compare numbers; 1 is the larger of the two spans."""
        span = max(left.span, right.span)
        return cls(operator, left, right, span if _usable(span) else 1.0, STRICT)

    @classmethod
    def of_ranks(cls, operator: str, left: Quantity, right: Quantity, reach: float) -> "Comparison":
        """Compare ordinal levels; 1 is the distance from the first to the last."""
        return cls(operator, left, right, reach, 1 / reach)

    @classmethod
    def of_codes(cls, operator: str, left: Quantity, right: Quantity) -> "Comparison":
        """Compare categorical levels, which are the same or 1 apart."""
        return cls(operator, left, right, 1.0, 1.0, longest=1.0)

    @property
    def cells(self) -> frozenset[Cell]:
        """The values that this condition needs."""
        return self.left.cells | self.right.cells

    def distances(self, cells: Cells) -> Distances:
        """Return both distances for all candidates."""
        raw = self.left.values(cells) - self.right.values(cells)
        gap = (raw / self.unit).clamp(-self.longest, self.longest)
        gap = gap.masked_fill(gap.abs() <= SAME, 0.0)
        to_true, to_false = _compared(self.operator, gap, self.margin)
        needed = [each.values(cells).isnan() for each in self.cells]
        missing = reduce(torch.logical_or, needed)
        undefined = ~raw.isfinite()
        return Distances(
            to_true.masked_fill(undefined, UNDEFINED).masked_fill(missing, 0.0),
            to_false.masked_fill(undefined | missing, 0.0),
        )


@dataclass(frozen=True, slots=True)
class Not:
    """The opposite of a condition."""

    operand: "Condition"

    @property
    def cells(self) -> frozenset[Cell]:
        """The values that this condition needs."""
        return self.operand.cells

    def distances(self, cells: Cells) -> Distances:
        """Return both distances for all candidates."""
        to_true, to_false = self.operand.distances(cells)
        return Distances(to_false, to_true)


@dataclass(frozen=True, slots=True)
class Junction:
    """Conditions joined by one operator: ``and``, ``or``, or ``=>`` from right to left."""

    operator: str
    operands: tuple["Condition", ...]

    @property
    def cells(self) -> frozenset[Cell]:
        """The values that this condition needs."""
        return frozenset().union(*(operand.cells for operand in self.operands))

    def distances(self, cells: Cells) -> Distances:
        """Return both distances for all candidates."""
        *others, last = [operand.distances(cells) for operand in self.operands]
        join = _JOINS[self.operator]
        return reduce(lambda joined, each: join(each, joined), reversed(others), last)


Condition = Comparison | Not | Junction


def _usable(span: float) -> bool:
    return math.isfinite(span) and span > 0


def _extent(
    operator: str, left: tuple[float, float], right: tuple[float, float]
) -> tuple[float, float]:
    """Return the span and the size of two quantities joined, to first order."""
    (span, size), (other_span, other_size) = left, right
    if operator in "+-":
        return max(span, other_span), size + other_size
    if operator == "*":
        return max(_times(span, other_size), _times(size, other_span)), _times(size, other_size)
    if other_size == 0 or not math.isfinite(other_size):
        return math.inf, math.inf
    ratio = size / other_size
    return max(span, _times(ratio, other_span)) / other_size, ratio


def _times(one: float, other: float) -> float:
    """Multiply sizes; nothing times something unbounded is nothing, where floats say NaN."""
    return one * other if one and other else 0.0


def _compared(operator: str, gap: Tensor, margin: float) -> tuple[Tensor, Tensor]:
    """Return how far ``gap operator 0`` is from being true and from being false."""
    match operator:
        case "==":
            return gap.abs(), (gap == 0).double() * margin
        case "<=":
            return gap.clamp(min=0), torch.where(gap <= 0, margin - gap, 0.0)
        case ">=":
            return _compared("<=", 0.0 - gap, margin)  # -gap would make minus zeros
        case "<":
            return _compared("<=", 0.0 - gap, margin)[::-1]
        case ">":
            return _compared("<=", gap, margin)[::-1]
        case _:
            return _compared("==", gap, margin)[::-1]


def _both(left: Distances, right: Distances) -> Distances:
    return Distances(left.to_true + right.to_true, torch.minimum(left.to_false, right.to_false))


def _either(left: Distances, right: Distances) -> Distances:
    return Distances(torch.minimum(left.to_true, right.to_true), left.to_false + right.to_false)


def _implied(premise: Distances, conclusion: Distances) -> Distances:
    to_true = torch.where(premise.to_false == 0, 0.0, conclusion.to_true)
    return Distances(to_true, premise.to_true + conclusion.to_false)


_JOINS = {"and": _both, "or": _either, "=>": _implied}
