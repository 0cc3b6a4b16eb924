"""From the syntax of a rule to a tree that can be evaluated: names looked up, types checked."""

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from proce.errors import did_you_mean
from proce.schema.codec import Codec
from proce.schema.features.feature import Categorical, Continuous, Feature, Ordinal
from proce.schema.features.levels import Level, find_level, level_type, quoted
from proce.schema.rules.syntax import (
    COMPARISONS,
    Arrow,
    BareName,
    Chain,
    FeatureName,
    LevelName,
    Node,
    Number,
    Prefix,
    mistake,
    quoted_name,
)
from proce.schema.rules.tree import (
    Arithmetic,
    Comparison,
    Condition,
    Constant,
    Dependence,
    FeatureReference,
    Junction,
    Not,
    Quantity,
)

_ARITHMETIC = ("+", "-", "*", "/")


@dataclass(frozen=True, slots=True)
class Resolver:
    """Turns the syntax of one rule into something that can be evaluated."""

    text: str
    codec: Codec

    def resolve(self, tree: Node | Arrow) -> Condition | Dependence:
        """Return what the tree means; raise `RuleError` where a name or a type is wrong."""
        return self._dependence(tree) if isinstance(tree, Arrow) else self._condition(tree)

    def _condition(self, node: Node, advice: str = "") -> Condition:
        match node:
            case Prefix("not", operand):
                return Not(self._condition(operand))
            case Chain((operator, *_)) if operator in COMPARISONS:
                return self._comparisons(node)
            case Chain((operator, *_), operands) if operator not in _ARITHMETIC:
                advice = "For 'at least' write '>='." if operator == "=>" else ""
                parts = [self._condition(operand, advice) for operand in operands]
                return Junction(operator, tuple(parts))
        feature = self._feature_with_levels(node)
        if isinstance(node, FeatureName) and feature and isinstance(feature.levels[0], bool):
            advice = f"Write {_source_text(node)} == true."
        what = f"expected a comparison, got {self._describe(node)}."
        raise mistake(self.text, node.offset, f"{what} {advice}".rstrip())

    def _comparisons(self, chain: Chain) -> Condition:
        """Return what a comparison means; of ``a < b < c`` every two neighbours are compared."""
        parts = [
            self._comparison(operator, left, right, offset)
            for operator, (left, right), offset in zip(
                chain.operators, pairwise(chain.operands), chain.offsets, strict=True
            )
        ]
        return parts[0] if len(parts) == 1 else Junction("and", tuple(parts))

    def _comparison(self, operator: str, left: Node, right: Node, offset: int) -> Comparison:
        if not (_names_feature(left) or _names_feature(right)):
            what = "this comparison names no feature, so it says nothing about a counterfactual."
            raise mistake(self.text, offset, what)
        feature = self._feature_with_levels(left) or self._feature_with_levels(right)
        if feature is None:
            return Comparison.of_numbers(operator, self._number(left), self._number(right))
        if isinstance(feature, Categorical) and operator not in ("==", "!="):
            what = f"{feature.name!r} has no order, so {operator!r} says nothing; write == or !=."
            raise mistake(self.text, offset, what)
        sides = (self._code(left, feature), self._code(right, feature))
        if isinstance(feature, Categorical):
            return Comparison.of_codes(operator, *sides)
        return Comparison.of_ranks(operator, *sides, self._reach(feature))

    def _code(self, node: Node, feature: Ordinal | Categorical) -> Quantity:
        """Return a side of a comparison between levels of this feature."""
        levels = f"its levels are {quoted(feature.levels)}."
        if isinstance(node, FeatureName) and (other := self._feature_with_levels(node)):
            if _same_levels(feature, other):
                return self._reference(node.name, node.row)
            what = (
                f"{node.name!r} is {other.kind} with other levels than {feature.name!r}, which is"
            )
            raise mistake(self.text, node.offset, f"{what} {feature.kind}; {levels}")
        value = self._literal(node)
        if value is None:
            what = f"expected a level of {feature.name!r}, got {self._describe(node)}"
            raise mistake(self.text, node.offset, f"{what}; {levels}")
        code = find_level(feature.levels, value)
        if code is not None:
            return Constant(float(code))
        written = quoted_name(value) if isinstance(value, str) else str(value).lower()
        what = f"{feature.name!r} has no level {written}; {levels}"
        raise mistake(self.text, node.offset, what + did_you_mean(value, feature.levels))

    def _literal(self, node: Node) -> Level | None:
        """Return the level that a node writes out, if it does."""
        if isinstance(node, LevelName):
            return node.value
        number = self._number(node) if _is_number(node) and not _names_feature(node) else None
        if not isinstance(number, Constant):
            return None
        return int(number.value) if number.value.is_integer() else number.value

    def _number(self, node: Node) -> Quantity:
        match node:
            case Number(value):
                return Constant(value)
            case FeatureName() if self._feature_with_levels(node) is None:
                return self._reference(node.name, node.row)
            case Prefix("-", operand):
                return self._join(Constant(-1.0), [("*", self._number(operand), node.offset)])
            case Chain((operator, *_), (first, *others)) if operator in _ARITHMETIC:
                rest = [
                    (sign, self._number(other), other.offset)
                    for sign, other in zip(node.operators, others, strict=True)
                ]
                return self._join(self._number(first), rest)
        raise mistake(self.text, node.offset, f"expected a number, got {self._describe(node)}.")

    def _join(self, first: Quantity, rest: list[tuple[str, Quantity, int]]) -> Quantity:
        """Join quantities from left to right; constants at once, so that they are checked."""
        kept: list[tuple[str, Quantity]] = []
        for operator, operand, offset in rest:
            if isinstance(operand, Constant) and operator == "/" and operand.value == 0:
                raise mistake(self.text, offset, "this divides by zero.")
            if isinstance(first, Constant) and isinstance(operand, Constant) and not kept:
                first = Constant(self._finite(operator, first.value, operand.value, offset))
            else:
                kept.append((operator, operand))
        return Arithmetic.of(first, kept) if kept else first

    def _finite(self, operator: str, left: float, right: float, offset: int) -> float:
        match operator:
            case "+":
                value = left + right
            case "-":
                value = left - right
            case "*":
                value = left * right
            case _:
                value = left / right
        if not math.isfinite(value):
            raise mistake(self.text, offset, "the result is too large; expected less than 1.8e308.")
        return value

    def _dependence(self, tree: Arrow) -> Dependence:
        effect = self._feature(tree.effect)
        if isinstance(effect, Categorical):
            what = f"{effect.name!r} has no order, so it has no direction; the effect of '~>' is a"
            raise mistake(self.text, tree.effect.offset, f"{what} continuous or ordinal feature.")
        named: list[str] = []
        for cause in tree.causes:
            self._feature(cause)
            if cause.name == effect.name:
                raise mistake(self.text, cause.offset, f"{cause.name!r} is its own cause; drop it.")
            if cause.name in named:
                raise mistake(self.text, cause.offset, f"{cause.name!r} is named twice; drop one.")
            named.append(cause.name)
        features = [self.codec.schema[name] for name in (*named, effect.name)]
        cells = [(self._reference(f.name, "x"), self._reference(f.name, "cf")) for f in features]
        units = [
            after.span if isinstance(feature, Continuous) else self._reach(feature)
            for feature, (_, after) in zip(features, cells, strict=True)
        ]
        return Dependence(tuple(named), effect.name, tuple(cells), tuple(units))

    def _feature(self, node: FeatureName | BareName) -> Feature:
        schema = self.codec.schema
        if node.name in schema:
            return schema[node.name]
        what = f"unknown feature {quoted_name(node.name)}; the features are {quoted(schema.names)}."
        raise mistake(self.text, node.offset, what + did_you_mean(node.name, schema.names))

    def _feature_with_levels(self, node: Node) -> Ordinal | Categorical | None:
        """Return the feature that a node names, if it is one with levels."""
        feature = self._feature(node) if isinstance(node, FeatureName) else None
        return None if isinstance(feature, Continuous) else feature

    def _reference(self, name: str, row: Literal["cf", "x"]) -> FeatureReference:
        position = self.codec.schema.position(name)
        low, span = self.codec.low[position].item(), self.codec.span[position].item()
        return FeatureReference(row, position, span, max(abs(low), abs(low + span)))

    def _reach(self, feature: Feature) -> float:
        return self.codec.reach[self.codec.schema.position(feature.name)].item()

    def _describe(self, node: Node) -> str:
        match node:
            case FeatureName():
                return f"{_source_text(node)}, which is {self._feature(node).kind}"
            case LevelName(value):
                level = quoted_name(value) if isinstance(value, str) else str(value).lower()
                return f"the level {level}"
            case _:
                return "a number" if _is_number(node) else "a condition"


def _is_number(node: Node) -> bool:
    match node:
        case Prefix(operator):
            return operator == "-"
        case Chain((operator, *_)):
            return operator in _ARITHMETIC
        case _:
            return isinstance(node, Number)


def _names_feature(node: Node) -> bool:
    match node:
        case Prefix(_, operand):
            return _names_feature(operand)
        case Chain(_, operands):
            return any(_names_feature(operand) for operand in operands)
        case _:
            return isinstance(node, FeatureName)


def _source_text(node: FeatureName) -> str:
    plain = node.name.isidentifier()
    return f"{node.row}.{node.name}" if plain else f"{node.row}[{quoted_name(node.name)}]"


def _same_levels(left: Ordinal | Categorical, right: Ordinal | Categorical) -> bool:
    """Whether codes of the two can be compared; 1 and true are not the same level."""
    same_type = level_type(left.levels[0]) == level_type(right.levels[0])
    return left.kind == right.kind and same_type and left.levels == right.levels
