"""What a counterfactual must obey, written by a person: ``cf.age >= x.age``.

Rules that no counterfactual can obey together are found by linear programming. A conflict that is
reported is proved. Not every conflict is found: a condition that is not linear counts as obeyed,
and so do all rules once too many cases would have to be told apart.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

import numpy as np

from proce.arguments import brief, checked
from proce.arrays import MIN_DIFFERENCE, Array
from proce.errors import RuleError
from proce.schema.codec import Codec
from proce.schema.features.feature import Continuous
from proce.schema.matching import check_array, takes_rows
from proce.schema.rules.program import NO_RULES, RuleProgram, read_cells
from proce.schema.rules.resolver import Resolver
from proce.schema.rules.syntax import parse_syntax
from proce.schema.rules.tree import (
    Comparison,
    Condition,
    Constant,
    Dependence,
    FeatureReference,
    Mechanism,
    Not,
    Quantity,
)

_NO_MECHANISMS: Mapping[str, Mechanism] = MappingProxyType({})


@dataclass(frozen=True)
class Rule:
    """A condition on a counterfactual ``cf`` and its factual row ``x``.

    Numbers are compared in raw units, ordinal levels by their order, categorical levels for
    being the same. A comparison that needs a missing value is satisfied, and so is its
    negation: a rule never blocks because of a cell that nobody knows. A comparison that divides
    by zero is false.

    Examples
    --------
    >>> import pandas as pd
    >>> from proce.schema import Codec, Schema
    >>> people = pd.DataFrame({"age": [20, 40, 60]})
    >>> codec = Codec.fit(Schema.infer(people), people)
    >>> factual = codec.encode(people)
    >>> rule = Rule.parse("cf.age >= 50 or cf.age > x.age", codec)
    >>> rule.violation(factual, factual + 0.1).tolist()  # four years on
    [0.0, 0.0, 0.0]
    >>> Rule.parse("cf.age >= 50", codec).violation(factual, factual).tolist()
    [0.75, 0.25, 0.0]
    """

    text: str
    codec: Codec = field(repr=False)
    tree: Condition | Dependence = field(repr=False, compare=False)

    @classmethod
    def parse(cls, text: str, codec: Codec) -> "Rule":
        """Read a rule about the features of a codec.

        Parameters
        ----------
        text
            The rule, such as ``cf.job != "Unemployed"`` or ``LSAT, UGPA ~> ZFYA``.
        codec
            Gives the features, their levels and the range that violations are measured on.

        Raises
        ------
        RuleError
            With the position of what cannot be read, is unknown or is of the wrong type.
        """
        if not isinstance(text, str):
            raise RuleError(f"a rule is text such as 'cf.age >= x.age'; got {brief(text)}.")
        tree = parse_syntax(text)
        if not isinstance(codec, Codec):
            raise RuleError(f"codec is {brief(codec)}; expected a Codec.")
        return cls(text.strip(), codec, Resolver(text, codec).resolve(tree))

    def __str__(self) -> str:
        return self.text

    @property
    def features(self) -> tuple[str, ...]:
        """The names of the features that the rule reads, in the order of the schema."""
        positions = {reference.position for reference in self.tree.references}
        return tuple(self.codec.schema.names[position] for position in sorted(positions))

    @property
    def dependence(self) -> tuple[tuple[str, ...], str] | None:
        """The causes and the effect of a rule with ``~>``; ``None`` for any other rule."""
        tree = self.tree
        return (tree.causes, tree.effect) if isinstance(tree, Dependence) else None

    @checked(RuleError)
    def holds(
        self, factual: Array, rows: Array, mechanisms: Mapping[str, Mechanism] = _NO_MECHANISMS
    ) -> Array:
        """Return whether each candidate obeys the rule; see ``violation``."""
        return self.violation(factual, rows, mechanisms) == 0

    @takes_rows(RuleError, "rows")
    @checked(RuleError)
    def surely_holds(self, rows: Array) -> Array:
        """Return which rows ``(i, f)`` obey a rule over ``x`` alone, whatever is missing in them.

        Where :meth:`holds` passes over a comparison that needs a missing value, this does not: such
        a row is known neither to obey nor to break the rule.
        """
        if self.dependence is not None or any(ref.row == "cf" for ref in self.tree.references):
            raise RuleError(
                f"rule {self.text!r} speaks of a counterfactual; expected one over x alone, such as"
                " 'x.age >= 40'."
            )
        assert not isinstance(self.tree, Dependence), "it is refused above"
        opposite = RuleProgram.of((Not(self.tree),), self.codec)
        return opposite.violation(rows, rows[:, None])[:, 0] > 0

    @checked(RuleError)
    def violation(
        self, factual: Array, rows: Array, mechanisms: Mapping[str, Mechanism] = _NO_MECHANISMS
    ) -> Array:
        """Return how far each candidate is from obeying the rule.

        Parameters
        ----------
        factual
            Encoded rows ``(i, f)``.
        rows
            Their candidates ``(i, c, f)``, or one for each ``(i, f)``.
        mechanisms
            For a rule with ``~>``: by the effect's name, what predicts it from rows ``(…, f)``,
            on the unit range.

        Returns
        -------
        ndarray
            ``(i, c)`` or ``(i,)``: zero exactly where the rule holds, growing with the distance
            to holding, on the unit range of the training rows; always finite.
        """
        before = self._aligned(factual, rows)
        if not isinstance(self.tree, Dependence):
            alone = rows.ndim == 2
            lacking = self.program.violation(factual, rows[:, None] if alone else rows)
            return lacking[:, 0] if alone else lacking
        return self.tree.violation(self._referenced(before, rows), before, rows, mechanisms)

    @cached_property
    def program(self) -> RuleProgram:
        """A rule without ``~>`` as a kernel runs it."""
        assert not isinstance(self.tree, Dependence), "a rule with ~> needs its equation"
        return RuleProgram.of((self.tree,), self.codec)

    def _aligned(self, factual: Array, rows: Array) -> Array:
        """Return the factual rows in a shape that broadcasts to the candidates'."""
        check_array("factual", factual, RuleError)
        check_array("rows", rows, RuleError)
        n_rows, n_features = len(rows) if rows.ndim else 0, len(self.codec.schema)
        sound = rows.ndim in (2, 3) and rows.shape[-1] == n_features
        if not sound or factual.shape != (n_rows, n_features):
            raise RuleError(
                f"rule {self.text!r} was given factual rows {tuple(factual.shape)} and candidates"
                f" {tuple(rows.shape)}; expected (i, {n_features}) and (i, c, {n_features})."
            )
        return factual[:, None, :] if rows.ndim == 3 else factual

    def _referenced(self, before: Array, rows: Array) -> dict[FeatureReference, Array]:
        """Return what the rule reads of the two rows, in raw units."""
        return {
            reference: self._values(reference, before if reference.row == "x" else rows)
            for reference in self.tree.references
        }

    def _values(self, reference: FeatureReference, rows: Array) -> Array:
        position, codec = reference.position, self.codec
        values = rows[..., position].astype(np.float64)
        read_cells(values.reshape(-1), bool(codec.is_number[position]), codec.raw_units[position])
        return values


def program_of(rules: Sequence[Rule]) -> RuleProgram:
    """Return rules of one codec as one program; those with ``~>`` are passed over."""
    return RuleProgram.of([rule.tree for rule in rules], rules[0].codec) if rules else NO_RULES


def obeyed(rules: Sequence[Rule], factual: Array, rows: Array) -> Array:
    """Return which rows ``(n, f)`` of people ``factual (n, f)`` obey rules without ``~>``."""
    return program_of(rules).violation(factual, rows[:, None])[:, 0] == 0


def changes_of(rule: Rule, factual: Array, rows: Array) -> Array:
    """Return what :meth:`Dependence.changes` does, of a rule with ``~>``."""
    assert isinstance(rule.tree, Dependence), "no other rule has an effect"
    return rule.tree.changes(rule._referenced(rule._aligned(factual, rows), rows))


def moves_of(
    rule: Rule, factual: Array, rows: Array, mechanisms: Mapping[str, Mechanism]
) -> tuple[Array, Array, Array]:
    """Return what :meth:`Dependence.moves` does, of a rule with ``~>``."""
    assert isinstance(rule.tree, Dependence), "no other rule has an effect"
    before = rule._aligned(factual, rows)
    return rule.tree.moves(rule._referenced(before, rows), before, rows, mechanisms)


MAX_PROGRAMS = 400  # linear programs, after which the question is left open
_MAX_TRIED_ROWS = 1_000  # rows that are tried as they are
_INFEASIBLE = 2  # the status that scipy gives to such a program
_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}

Variable = tuple[str, int]  # the row of a feature, and its position


@dataclass(frozen=True, slots=True)
class Linear:
    """``weights · values + constant``."""

    weights: dict[Variable, float]
    constant: float

    @property
    def is_finite(self) -> bool:
        """Whether no number of this quantity is too large to reckon with."""
        return all(map(math.isfinite, (self.constant, *self.weights.values())))

    def times(self, factor: float) -> "Linear":
        """Return this quantity multiplied by a number."""
        scaled = {variable: weight * factor for variable, weight in self.weights.items()}
        return Linear(scaled, self.constant * factor)

    def plus(self, other: "Linear") -> "Linear":
        """Return the sum of this quantity and another."""
        variables = dict.fromkeys([*self.weights, *other.weights])
        weights = {v: self.weights.get(v, 0.0) + other.weights.get(v, 0.0) for v in variables}
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
    """More cases would have to be told apart than is allowed."""


def conflict(
    rules: Sequence[Rule],  # rules of one codec; those with `~>` are passed over
    # encoded rows (i, f). A rule never blocks a row that lacks a value it needs, so nothing is
    # said of features that are missing in some of them.
    factual: Array,
    # how many linear programs may be solved for a set of rules before it is left open
    max_programs: int = MAX_PROGRAMS,
) -> tuple[Rule, ...]:
    """Return rules that contradict each other, none of which can be left out.

    No counterfactual can obey these rules, whatever the limits and the model, for any factual row
    within the range of the training rows and of those given. The result is empty where no
    contradiction was proved.
    """
    kept = [rule for rule in rules if rule.dependence is None]
    tried = factual[:_MAX_TRIED_ROWS]
    if not kept or bool(obeyed(kept, tried, tried).any()):
        return ()
    prover = _Prover(kept[0].codec, factual, max_programs)
    if prover.possible(kept):
        return ()
    for rule in tuple(kept):
        others = [other for other in kept if other is not rule]
        if others and not prover.possible(others):
            kept = others
    codec = prover.codec
    needed = sorted({codec.schema.position(name) for rule in kept for name in rule.features})
    return () if bool(codec.missing(factual)[:, needed].any()) else tuple(kept)


class _Prover:
    """Looks for a factual row and a counterfactual that obey some rules."""

    def __init__(self, codec: Codec, factual: Array, max_programs: int) -> None:
        self.codec = codec
        self._max_programs = max_programs
        middle = np.full((1, factual.shape[1]), 0.5, dtype=factual.dtype)  # there may be no rows
        present = np.concatenate([np.clip(np.nan_to_num(factual, nan=0.5), -1e9, 1e9), middle])
        self._lowest = np.minimum(present.min(0), 0.0).tolist()
        self._highest = np.maximum(present.max(0), 1.0).tolist()
        self._n_programs = 0

    def possible(self, rules: Sequence[Rule]) -> bool:
        """Return whether the rules can be obeyed together, as far as that was decided."""
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
            return self._comparison_parts(condition, operator)
        signs = [condition.operator != "=>"] * (len(condition.operands) - 1) + [True]
        operands = [
            self._parts(operand, sign is wanted)
            for operand, sign in zip(condition.operands, signs, strict=True)
        ]
        if (condition.operator == "and") is wanted:
            return [part for parts in operands for part in parts]
        return [OneOf(tuple(map(tuple, operands)))]

    def _comparison_parts(self, comparison: Comparison, operator: str) -> list[Part]:
        left, right = _linear(comparison.left), _linear(comparison.right)
        if left is None or right is None:
            return []
        gap = left.plus(right.times(-1.0)).times(1 / comparison.unit)
        if not gap.is_finite:
            return []
        min_gap = 0.0
        if any(self._is_level(reference.position) for reference in comparison.references):
            min_gap = 1 / comparison.unit  # two levels that differ do so by one, at least
        below = Bound(Linear(gap.weights, gap.constant + min_gap), strict=not min_gap)
        mirror = gap.times(-1.0)
        above = Bound(Linear(mirror.weights, mirror.constant + min_gap), strict=not min_gap)
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
        variables = list(dict.fromkeys(v for bound in bounds for v in bound.quantity.weights))
        table = np.zeros((len(bounds), len(variables) + 1))
        for row, bound in zip(table, bounds, strict=True):
            for variable, weight in bound.quantity.weights.items():
                row[variables.index(variable)] = weight
            row[-1] = bound.strict
        answer = linprog(
            np.append(np.zeros(len(variables)), -1.0),
            table,
            [-bound.quantity.constant for bound in bounds],
            bounds=[*map(self._range, variables), (0, 1)],
        )
        if answer.status == _INFEASIBLE:
            return False
        tight = answer.status == 0 and answer.x[-1] <= MIN_DIFFERENCE  # of the unit range
        return not (tight and any(bound.strict for bound in bounds))

    def _range(self, variable: Variable) -> tuple[float | None, float | None]:
        """Return the limits of a variable, of numbers in spans of the training rows."""
        row, position = variable
        feature = self.codec.schema.features[position]
        if not isinstance(feature, Continuous):
            return 0, len(feature.levels) - 1
        if row == "cf":
            return None, None
        start = -self.codec.grid[0][position].item()
        return start + self._lowest[position], start + self._highest[position]

    def _is_level(self, position: int) -> bool:
        return not isinstance(self.codec.schema.features[position], Continuous)


def _linear(quantity: Quantity) -> Linear | None:
    """Return a quantity as a weighted sum of variables in spans, or ``None`` where it is none."""
    match quantity:
        case Constant(value):
            return Linear({}, value)
        case FeatureReference(row, position, span):
            return Linear({(row, position): span}, 0.0)
    result = _linear(quantity.first)
    for operator, operand in quantity.rest:
        right = _linear(operand)
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
