"""Rules as flat programs: the trees of ``tree.py`` in the order in which a kernel runs them.

A program is a list of steps for a machine with two stacks, one of quantities and one of
conditions. An operand comes before what joins it, so that no step looks ahead.
"""

from collections.abc import Iterable, Sequence
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from proce.arrays import MIN_DIFFERENCE, Array, Flags, Floats, Ints
from proce.compiled.cells import is_missing
from proce.compiled.kernel import kernel, part
from proce.schema.codec import Codec, put_column_in_raw_units
from proce.schema.rules.tree import (
    UNDEFINED_DISTANCE,
    Comparison,
    Condition,
    Constant,
    Dependence,
    FeatureReference,
    Junction,
    Not,
    Quantity,
    largest_zero,
)


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


class RuleProgram(NamedTuple):
    """Rules that a kernel runs over candidates."""

    # (r, 3), what the rules read: 1 for the candidate or 0 for the factual row, the position of
    # the feature, and 1 for a number or 0 for a level
    cells: Ints
    units: Floats  # (r, 5), what turns the entries into raw units; see `raw_units`
    steps: Ints  # (s, 2), a `Step`, and the cell that it reads or the number of its rule
    # (s, 3): the number that is pushed; the largest divisor that is zero; the gap that counts as
    # 1, the margin and the largest gap of a comparison
    numbers: Floats

    @classmethod
    def of(cls, trees: Sequence[Condition | Dependence], codec: Codec) -> "RuleProgram":
        """Return the program of conditions on the features of a codec; ``~>`` is passed over."""
        conditions = {n: tree for n, tree in enumerate(trees) if not isinstance(tree, Dependence)}
        references = sorted(
            {ref for condition in conditions.values() for ref in condition.references},
            key=lambda reference: (reference.row, reference.position),
        )
        places = {reference: place for place, reference in enumerate(references)}
        lines: list[_Line] = []
        for number, condition in conditions.items():
            lines += [*_condition_lines(condition, places), (Step.RULE, number, _NO_NUMBERS)]
        positions = [reference.position for reference in references]
        cells = [
            (reference.row == "cf", reference.position, codec.is_number[reference.position])
            for reference in references
        ]
        return cls(
            np.array(cells, np.int64).reshape(-1, 3),
            codec.raw_units[positions],
            np.array([line[:2] for line in lines], np.int64).reshape(-1, 2),
            np.array([line[2] for line in lines], np.float64).reshape(-1, 3),
        )

    def violation(self, factual: Array, rows: Array) -> Floats:
        """Return the sum ``(i, c)`` of what candidates ``(i, c, f)`` lack to obey each rule."""
        total = np.zeros(rows.shape[:2])
        self.add_violation(factual, rows, total)
        return total

    def add_violation(
        self, factual: Array, rows: Array, total: Floats, bound: Flags | None = None
    ) -> None:
        """Add what candidates lack to a total ``(i, c)``.

        ``bound (i, rules)`` says which rules an instance must obey, ``None`` that it is all.
        """
        if len(self.steps):
            before = np.ascontiguousarray(factual, np.float64)
            if bound is None:
                bound = np.ones((len(before), int(self.steps[:, 1].max()) + 1), np.bool_)
            add_violations(before, np.ascontiguousarray(rows, np.float64), self, bound, total)


NO_RULES = RuleProgram(
    np.empty((0, 3), np.int64), np.empty((0, 5)), np.empty((0, 2), np.int64), np.empty((0, 3))
)


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


# As Step.
_CELL, _NUMBER, _ADD, _SUBTRACT, _MULTIPLY, _DIVIDE = range(6)
_AT_MOST, _ABOVE, _EQUAL, _UNEQUAL, _NOT, _AND, _OR, _IMPLIES, _RULE = range(6, 15)


class _Stacks(NamedTuple):
    """The stacks of a program, for all candidates of an instance side by side."""

    # (steps, c), the quantities, and whether a cell that they are computed from is missing
    quantity: Floats
    missing: Flags
    to_true: Floats  # (steps, c), how far the conditions are from being true and from being false
    to_false: Floats


@kernel
def add_violations(
    factual: Floats,  # (i, f)
    rows: Floats,  # (i, c, f)
    program: RuleProgram,
    bound: Flags,  # (i, rules)
    total: Floats,  # (i, c); added to
) -> None:
    """Add to totals ``(i, c)`` what candidates lack to obey each rule that binds their instance.

    Every step is done for all candidates of an instance before the next one.
    """
    cells, units, steps, numbers = program.cells, program.units, program.steps, program.numbers
    n_candidates, n_cells = rows.shape[1], len(cells)
    values = np.empty((n_cells, n_candidates))  # in raw units
    quantity = np.empty((len(steps), n_candidates))
    missing = np.empty((len(steps), n_candidates), np.bool_)
    to_true, to_false = np.empty(quantity.shape), np.empty(quantity.shape)
    stacks = _Stacks(quantity, missing, to_true, to_false)
    for i in range(len(rows)):
        for r in range(n_cells):
            f, is_own = cells[r, 1], cells[r, 0] != 1
            for c in range(n_candidates):  # numba takes a second to compile values[r] = …
                values[r, c] = factual[i, f] if is_own else rows[i, c, f]
            read_cells(values[r], cells[r, 2] == 1, units[r])
        q, t = -1, -1  # the tops of the stacks
        for s in range(len(steps)):
            step, cell = steps[s, 0], steps[s, 1]
            if step <= _NUMBER:
                q += 1
                for c in range(n_candidates):
                    quantity[q, c] = values[cell, c] if step == _CELL else numbers[s, 0]
                    missing[q, c] = np.isnan(quantity[q, c])
            elif step <= _DIVIDE:
                q -= 1
                _join(stacks, q, step, numbers[s, 0])
            elif step <= _UNEQUAL:
                q -= 2
                t += 1
                _compare(stacks, q + 1, t, step, numbers[s])
            elif step == _NOT:
                for c in range(n_candidates):
                    to_true[t, c], to_false[t, c] = to_false[t, c], to_true[t, c]
            elif step == _RULE:
                if bound[i, cell]:
                    for c in range(n_candidates):
                        total[i, c] += to_true[t, c]
                t -= 1
            else:
                t -= 1
                _join_conditions(stacks, t, step)


@kernel
def read_cells(values: Floats, is_number: bool, units: Floats) -> None:
    """Bring entries ``(c,)`` into raw units ``(5,)``; levels stay codes, missing is NaN."""
    if is_number:
        put_column_in_raw_units(values, units)
        return
    for c in range(len(values)):
        values[c] = np.nan if is_missing(values[c], is_number) else values[c]


@part
def _join(stacks: _Stacks, q: int, step: int, zero: float) -> None:
    """Join quantities ``(s, c)`` at ``q`` and above it, for each candidate, into the one at ``q``.

    It is NaN where the divisor is at most ``zero``, or the result too large.
    """
    quantity, missing = stacks.quantity, stacks.missing
    for c in range(quantity.shape[1]):
        left, right = quantity[q, c], quantity[q + 1, c]
        if step == _ADD:
            result = left + right
        elif step == _SUBTRACT:
            result = left - right
        elif step == _MULTIPLY:
            result = left * right
        else:
            result = np.nan if abs(right) <= zero else left / right
        quantity[q, c] = result if np.isfinite(result) else np.nan
        missing[q, c] |= missing[q + 1, c]


@part
def _compare(stacks: _Stacks, q: int, t: int, step: int, numbers: Floats) -> None:
    """Write at ``t`` how far the quantities at ``q`` and above it are from comparing as asked.

    That is told for each candidate of being true and of being false; ``numbers (3,)`` are the unit,
    the margin of what must differ and the largest gap.
    """
    quantity, missing, to_true, to_false = stacks
    unit, margin, max_gap = numbers[0], numbers[1], numbers[2]
    is_opposite, is_order = step in (_ABOVE, _UNEQUAL), step in (_AT_MOST, _ABOVE)
    for c in range(quantity.shape[1]):
        raw = quantity[q, c] - quantity[q + 1, c]
        if missing[q, c] or missing[q + 1, c]:
            to_true[t, c], to_false[t, c] = 0.0, 0.0
            continue
        if not np.isfinite(raw):
            to_true[t, c], to_false[t, c] = UNDEFINED_DISTANCE, 0.0
            continue
        gap = min(max(raw / unit, -max_gap), max_gap)
        gap = 0.0 if abs(gap) <= MIN_DIFFERENCE else gap
        if is_order:
            near, far = max(gap, 0.0), margin - gap if gap <= 0 else 0.0
        else:
            near, far = abs(gap), margin if gap == 0 else 0.0
        to_true[t, c] = far if is_opposite else near
        to_false[t, c] = near if is_opposite else far


@part
def _join_conditions(stacks: _Stacks, t: int, step: int) -> None:
    """Join conditions ``(s, c)`` at ``t`` and above it by ``and``, ``or`` or ``=>``, for each one.

    What lacks to both adds up, and of two ways the shorter counts.
    """
    to_true, to_false = stacks.to_true, stacks.to_false
    for c in range(to_true.shape[1]):
        true, false = to_true[t, c], to_false[t, c]
        if step == _AND:
            to_true[t, c] = true + to_true[t + 1, c]
            to_false[t, c] = min(false, to_false[t + 1, c])
        elif step == _OR:
            to_true[t, c] = min(true, to_true[t + 1, c])
            to_false[t, c] = false + to_false[t + 1, c]
        else:
            to_true[t, c] = 0.0 if false == 0 else to_true[t + 1, c]
            to_false[t, c] = true + to_false[t + 1, c]
