"""Rules as flat programs: the trees of ``tree.py`` in the order in which a kernel runs them.

A program is a list of steps for a machine with two stacks, one of quantities and one of
conditions. An operand comes before what joins it, so that no step looks ahead.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from proce.arrays import Array
from proce.schema.codec import Codec
from proce.schema.features.feature import Continuous
from proce.schema.rules.dependence import Dependence
from proce.schema.rules.rule import Rule
from proce.schema.rules.tree import (
    Comparison,
    Condition,
    Constant,
    FeatureReference,
    Junction,
    Not,
    Quantity,
    largest_zero,
)

Floats = NDArray[np.float64]


class Step(IntEnum):
    """What a step does."""

    CELL = 0  # push a cell
    NUMBER = 1  # push a number
    ADD = 2
    SUBTRACT = 3
    MULTIPLY = 4
    DIVIDE = 5
    AT_MOST = 6  # compare the two topmost quantities; push how far that is from true and false
    ABOVE = 7  # the opposite
    EQUAL = 8
    UNEQUAL = 9
    NOT = 10  # swap how far the topmost condition is from true and from false
    AND = 11
    OR = 12
    IMPLIES = 13
    RULE = 14  # add how far the topmost condition is from true


_ARITHMETIC = {"+": Step.ADD, "-": Step.SUBTRACT, "*": Step.MULTIPLY, "/": Step.DIVIDE}
_COMPARISONS = {
    "<=": (Step.AT_MOST, False),
    ">": (Step.ABOVE, False),
    ">=": (Step.AT_MOST, True),  # a >= b: b <= a
    "<": (Step.ABOVE, True),
    "==": (Step.EQUAL, False),
    "!=": (Step.UNEQUAL, False),
}
_JOINS = {"and": Step.AND, "or": Step.OR, "=>": Step.IMPLIES}
_NO_NUMBERS = (0.0, 0.0, 0.0)
_Line = tuple[int, int, tuple[float, float, float]]  # a step, the cell that it reads, its numbers


@dataclass(frozen=True, eq=False)
class RuleProgram:
    """Rules that a kernel runs over candidates.

    Attributes
    ----------
    cells
        ``(r, 3)``, what the rules read: 1 for the candidate or 0 for the factual row, the
        position of the feature, and 1 for a number or 0 for a level.
    units
        ``(r, 5)``, what turns the entries into raw units; see :attr:`Codec.raw_units`.
    steps
        ``(s, 2)``, a :class:`Step` and the cell that it reads.
    numbers
        ``(s, 3)``: the number that is pushed; the largest divisor that is zero; the gap that
        counts as 1, the margin and the largest gap of a comparison.
    """

    cells: NDArray[np.int64]
    units: Floats
    steps: NDArray[np.int64]
    numbers: Floats

    @classmethod
    @lru_cache(maxsize=32)
    def of(cls, rules: tuple[Rule, ...]) -> "RuleProgram":
        """Return the program of rules of one codec, none of them with ``~>``."""
        references = sorted(
            {reference for rule in rules for reference in rule.tree.references},
            key=lambda reference: (reference.row, reference.position),
        )
        places = {reference: place for place, reference in enumerate(references)}
        lines = [line for rule in rules for line in _rule_lines(rule, places)]
        cells = [_cell(reference, rules[0].codec) for reference in references]
        positions = [reference.position for reference in references]
        units = rules[0].codec.raw_units[positions] if rules else np.empty((0, 5))
        return cls(
            np.array(cells, np.int64).reshape(-1, 3),
            np.ascontiguousarray(units),
            np.array([line[:2] for line in lines], np.int64).reshape(-1, 2),
            np.array([line[2] for line in lines]).reshape(-1, 3),
        )

    def violation(self, factual: Array, rows: Array) -> Array:
        """Return the sum ``(i, c)`` of what candidates ``(i, c, f)`` lack to obey each rule.

        It is the sum of :meth:`Rule.violation` over the rules, to the last bit; on the CPU only.
        """
        total = np.zeros(rows.shape[:2])
        self.add_violation(np.ascontiguousarray(factual), np.ascontiguousarray(rows), total)
        return total

    def add_violation(self, factual: Floats, rows: Floats, total: Floats) -> None:
        """Add what candidates lack to a total ``(i, c)``; all arrays are contiguous."""
        from proce.schema.rules.kernel import add_violations

        if len(self.steps):
            arrays = (self.cells, self.units, self.steps, self.numbers)
            add_violations(factual, rows, *arrays, total)


def obeyed(rules: Sequence[Rule], factual: Array, rows: Array) -> Array:
    """Return which rows ``(n, f)`` obey rules without ``~>``, ``(n,)``.

    ``factual (n, f)`` is what each of them was before.
    """
    lacking = RuleProgram.of(tuple(rules)).violation(factual, rows[:, None])[:, 0]
    return lacking == 0


def _cell(reference: FeatureReference, codec: Codec) -> tuple[int, int, int]:
    is_number = isinstance(codec.schema.features[reference.position], Continuous)
    return int(reference.row == "cf"), reference.position, int(is_number)


def _rule_lines(rule: Rule, places: dict[FeatureReference, int]) -> Iterable[_Line]:
    assert not isinstance(rule.tree, Dependence), "a rule with ~> needs its equation"
    yield from _condition_lines(rule.tree, places)
    yield Step.RULE, 0, _NO_NUMBERS


def _condition_lines(tree: Condition, places: dict[FeatureReference, int]) -> Iterable[_Line]:
    match tree:
        case Comparison(operator, left, right, unit, margin, max_gap):
            step, swapped = _COMPARISONS[operator]
            for side in (right, left) if swapped else (left, right):
                yield from _quantity_lines(side, places)
            yield step, 0, (unit, margin, max_gap)
        case Not(operand):
            yield from _condition_lines(operand, places)
            yield Step.NOT, 0, _NO_NUMBERS
        case Junction(operator, operands):
            for operand in operands:
                yield from _condition_lines(operand, places)
            for _ in operands[1:]:  # from right to left
                yield _JOINS[operator], 0, _NO_NUMBERS


def _quantity_lines(tree: Quantity, places: dict[FeatureReference, int]) -> Iterable[_Line]:
    if isinstance(tree, FeatureReference):
        yield Step.CELL, places[tree], _NO_NUMBERS
    elif isinstance(tree, Constant):
        yield Step.NUMBER, 0, (tree.value, 0.0, 0.0)
    else:
        yield from _quantity_lines(tree.first, places)
        for operator, operand in tree.rest:
            yield from _quantity_lines(operand, places)
            yield _ARITHMETIC[operator], 0, (largest_zero(operand), 0.0, 0.0)
