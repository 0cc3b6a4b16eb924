"""Rules that no counterfactual can obey together, proved by linear programming.

A conflict that is named is one; not every conflict is found: what is not linear counts as
obeyed, and so does everything once too many cases would have to be told apart.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from proce.schema.codec import Codec
from proce.schema.feature import Continuous
from proce.schema.rules.dependence import Dependence
from proce.schema.rules.rule import Rule
from proce.schema.rules.tree import Cell, Comparison, Condition, Constant, Not, Quantity

MAX_PROGRAMS = 400  # linear programs, after which the question is left open
_LOOKED_AT = 1_000  # rows that are tried as they are
_ROOM = 1e-9  # of the unit range: the least that a strict comparison must leave
_INFEASIBLE = 2  # scipy's word for it
_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}

Place = tuple[str, int]  # the row and the position of a cell


@dataclass(frozen=True, slots=True)
class Linear:
    """``weights · values + constant``."""

    weights: dict[Place, float]
    constant: float

    def times(self, factor: float) -> "Linear":
        """Return it multiplied."""
        scaled = {place: weight * factor for place, weight in self.weights.items()}
        return Linear(scaled, self.constant * factor)

    def plus(self, other: "Linear") -> "Linear":
        """Return the sum."""
        places = dict.fromkeys([*self.weights, *other.weights])
        weights = {p: self.weights.get(p, 0.0) + other.weights.get(p, 0.0) for p in places}
        return Linear(weights, self.constant + other.constant)


@dataclass(frozen=True, slots=True)
class Bound:
    """A linear quantity that must be at most 0, or below it."""

    quantity: Linear
    strict: bool = False


@dataclass(frozen=True, slots=True)
class OneOf:
    """Options, of which one must hold; all parts of an option hold together."""

    options: tuple["tuple[Bound | OneOf, ...]", ...]


Part = Bound | OneOf


class _LeftOpenError(Exception):
    """Too many cases."""


def conflict(
    rules: Sequence[Rule], factual: Tensor, max_programs: int = MAX_PROGRAMS
) -> tuple[Rule, ...]:
    """Return rules that contradict each other, none of which can be left out.

    No row can obey them, whatever the limits and the model, for any factual row within the
    range of the training rows and of those given. Empty where that was not proved.

    Parameters
    ----------
    rules
        Of one codec; those with ``~>`` are passed over.
    factual
        Encoded rows ``(i, f)``. A rule never blocks a row that lacks a value it needs, so
        nothing is said of features that are missing in some of them.
    max_programs
        How many linear programs may be solved for a set of rules before it is left open.
    """
    kept = [rule for rule in rules if rule.dependence is None]
    if not kept or _obeyed_unchanged(kept, factual[:_LOOKED_AT]):
        return ()
    prover = _Prover(kept[0].codec, factual, max_programs)
    if prover.possible(kept):
        return ()
    for rule in tuple(kept):
        others = [each for each in kept if each is not rule]
        if others and not prover.possible(others):
            kept = others
    codec = prover.codec
    needed = sorted({codec.schema.position(name) for rule in kept for name in rule.features})
    return () if bool(codec.missing(factual)[:, needed].any()) else tuple(kept)


def _obeyed_unchanged(rules: Sequence[Rule], rows: Tensor) -> bool:
    held = torch.ones(len(rows), dtype=torch.bool, device=rows.device)
    for rule in rules:
        held &= rule.holds(rows, rows)
    return bool(held.any())


class _Prover:
    """Looks for a factual row and a counterfactual that obey some rules."""

    def __init__(self, codec: Codec, factual: Tensor, max_programs: int) -> None:
        self.codec = codec
        self._max_programs = max_programs
        present = factual.cpu().nan_to_num(nan=0.5).clamp(min=-1e9, max=1e9)
        self._least = present.amin(0).clamp(max=0.0).tolist()
        self._most = present.amax(0).clamp(min=1.0).tolist()
        self._n_programs = 0

    def possible(self, rules: Sequence[Rule]) -> bool:
        """Return whether the rules can be obeyed, for all that is known."""
        self._n_programs = 0
        parts: list[Part] = []
        for rule in rules:
            if not isinstance(rule.tree, Dependence):
                parts += self._parts(rule.tree, True)
        try:
            return self._satisfiable([], parts)
        except _LeftOpenError:
            return True

    def _satisfiable(self, bounds: list[Bound], parts: Sequence[Part]) -> bool:
        bounds = bounds + [part for part in parts if isinstance(part, Bound)]
        undecided = [part for part in parts if isinstance(part, OneOf)]
        if not self._feasible(bounds):
            return False
        if not undecided:
            return True
        first, *rest = undecided
        return any(self._satisfiable(bounds, [*option, *rest]) for option in first.options)

    def _parts(self, condition: Condition, wanted: bool) -> list[Part]:
        """Return what must hold for a condition to be true, or to be false."""
        if isinstance(condition, Not):
            return self._parts(condition.operand, not wanted)
        if isinstance(condition, Comparison):
            operator = condition.operator if wanted else _OPPOSITE[condition.operator]
            return self._compared(condition, operator)
        signs = [condition.operator != "=>"] * (len(condition.operands) - 1) + [True]
        operands = [
            self._parts(operand, sign is wanted)
            for operand, sign in zip(condition.operands, signs, strict=True)
        ]
        if (condition.operator == "and") is wanted:
            return [part for parts in operands for part in parts]
        return [OneOf(tuple(map(tuple, operands)))]

    def _compared(self, comparison: Comparison, operator: str) -> list[Part]:
        left, right = _linear(comparison.left), _linear(comparison.right)
        if left is None or right is None:
            return []
        gap = left.plus(right.times(-1.0)).times(1 / comparison.unit)
        least = 0.0
        if any(self._is_level(cell.position) for cell in comparison.cells):
            least = 1 / comparison.unit  # two levels that differ do so by one, at least
        below = Bound(Linear(gap.weights, gap.constant + least), strict=not least)
        mirror = gap.times(-1.0)
        above = Bound(Linear(mirror.weights, mirror.constant + least), strict=not least)
        match operator:
            case "<=":
                return [Bound(gap)]
            case ">=":
                return [Bound(mirror)]
            case "==":
                return [Bound(gap), Bound(mirror)]
            case "<":
                return [below]
            case ">":
                return [above]
            case _:
                return [OneOf(((below,), (above,)))]

    def _feasible(self, bounds: Sequence[Bound]) -> bool:
        """Solve for the most room that the strict bounds can be left, at most 1."""
        from scipy.optimize import linprog

        if not bounds:
            return True
        self._n_programs += 1
        if self._n_programs > self._max_programs:
            raise _LeftOpenError
        places = list(dict.fromkeys(p for bound in bounds for p in bound.quantity.weights))
        table = np.zeros((len(bounds), len(places) + 1))
        for row, bound in zip(table, bounds, strict=True):
            for place, weight in bound.quantity.weights.items():
                row[places.index(place)] = weight
            row[-1] = bound.strict
        answer = linprog(
            np.append(np.zeros(len(places)), -1.0),
            table,
            [-bound.quantity.constant for bound in bounds],
            bounds=[*map(self._range, places), (0, 1)],
        )
        if answer.status == _INFEASIBLE:
            return False
        tight = answer.status == 0 and answer.x[-1] <= _ROOM
        return not (tight and any(bound.strict for bound in bounds))

    def _range(self, place: Place) -> tuple[float | None, float | None]:
        """Return where a cell may lie, numbers in spans of the training rows."""
        row, at = place
        feature = self.codec.schema.features[at]
        if not isinstance(feature, Continuous):
            return 0, len(feature.levels) - 1
        if row == "cf":
            return None, None
        start = (self.codec.low[at] / self.codec.span[at]).item()
        return start + self._least[at], start + self._most[at]

    def _is_level(self, position: int) -> bool:
        return not isinstance(self.codec.schema.features[position], Continuous)


def _linear(quantity: Quantity) -> Linear | None:
    """Return a quantity as a weighted sum of cells in spans, if it is one."""
    match quantity:
        case Constant(value):
            return Linear({}, value)
        case Cell(row, position, span):
            return Linear({(row, position): span}, 0.0)
    result = _linear(quantity.first)
    for operator, each in quantity.rest:
        right = _linear(each)
        if result is None or right is None:
            return None
        if operator in "+-":
            result = result.plus(right if operator == "+" else right.times(-1.0))
        elif not right.weights:
            result = result.times(right.constant if operator == "*" else 1 / right.constant)
        elif operator == "*" and not result.weights:
            result = right.times(result.constant)
        else:
            return None
    return result
