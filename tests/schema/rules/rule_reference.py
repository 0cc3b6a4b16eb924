"""Random rules as nested tuples, their text, and a slow evaluation of one row at a time.

Numbers: ``("number", 2.5)``, ``("cell", "cf", name)``, ``("-", a)``, ``("+", a, b)`` and so on.
Conditions: ``("<", a, b)`` and so on, where level features stand beside ``("level", value)``;
``("not", a)``, ``("and", a, b)``, ``("or", a, b)``, ``("=>", a, b)``.
"""

import math
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from proce.arrays import Array
from proce.schema import Categorical, Codec, Continuous, Ordinal, Schema

Tree = tuple[Any, ...]
Person = dict[str, Any]

SIZES = ("small", 'medium "M"', "large")
SCHEMA = Schema(
    [
        Continuous("age", step=1),
        Continuous("offset"),
        Continuous("yearly income"),
        Ordinal("size", SIZES),
        Ordinal("old_size", SIZES),
        Ordinal("grade", (-1, 0, 2.5)),
        Categorical("home", ("it's \\", "b", "c")),
        Categorical("work", ("it's \\", "b", "c")),
        Categorical("owner", (False, True)),
    ]
)
LIMITS = {"age": (0, 8), "offset": (-3.0, 1.0), "yearly income": (0.0, 1000.0)}
CODEC = Codec.fit(
    SCHEMA,
    pd.DataFrame({f.name: LIMITS[f.name] if f.name in LIMITS else f.levels[:2] for f in SCHEMA}),
)
VALUES: dict[str, list[Any]] = {
    "age": [0, 1, 2, 3, 8, 9],
    "offset": [-3.0, -2.0, -0.5, 0.0, 0.1, 0.3, 2.0],
    "yearly income": [-10.0, 0.0, 0.1, 333.3, 500.0, 1000.0],
}
KIN = [("size", "old_size"), ("grade",), ("home", "work"), ("owner",)]
BINDING = {"=>": 1, "or": 2, "and": 3, "not": 4, "+": 6, "*": 7, "/": 7}
OPPOSITE = {"<": ">=", ">=": "<", ">": "<=", "<=": ">", "==": "!=", "!=": "=="}

ROWS = st.sampled_from(["cf", "x"])


def numbers() -> st.SearchStrategy[Tree]:
    """Return numeric expressions; each part of a binary one is small."""
    cells = st.tuples(st.just("cell"), ROWS, st.sampled_from(sorted(LIMITS)))
    constants = st.tuples(st.just("number"), st.sampled_from([0.0, 0.1, 0.5, 1.0, 2.0, 3.0, 500.0]))
    return st.recursive(
        cells | constants,
        lambda inner: (
            st.tuples(st.just("-"), inner)
            | st.tuples(st.sampled_from(["+", "-", "*", "/"]), inner, inner)
        ),
        max_leaves=5,
    )


@st.composite
def level_comparisons(draw: st.DrawFn) -> Tree:
    """Return a comparison of a level feature with one of its levels or its kin."""
    kin = draw(st.sampled_from(KIN))
    cells = st.tuples(st.just("cell"), ROWS, st.sampled_from(kin))
    levels = st.tuples(st.just("level"), st.sampled_from(SCHEMA[kin[0]].levels))
    sides = [draw(cells), draw(cells | levels)]
    ordered = isinstance(SCHEMA[kin[0]], Ordinal)
    operators = list(OPPOSITE) if ordered else ["==", "!="]
    return (draw(st.sampled_from(operators)), *draw(st.permutations(sides)))


def conditions() -> st.SearchStrategy[Tree]:
    """Return whole rules."""
    compared = st.tuples(st.sampled_from(list(OPPOSITE)), numbers(), numbers())
    leaves = compared.filter(lambda tree: bool(cells_of(tree))) | level_comparisons()
    return st.recursive(
        leaves,
        lambda inner: (
            st.tuples(st.just("not"), inner)
            | st.tuples(st.sampled_from(["and", "or", "=>"]), inner, inner)
        ),
        max_leaves=6,
    )


def people() -> st.SearchStrategy[Person]:
    """Return rows in raw units, ``None`` where a value is missing."""
    values = {f.name: VALUES.get(f.name) or list(getattr(f, "levels", ())) for f in SCHEMA}
    return st.fixed_dictionaries(
        {name: st.sampled_from([*known, None]) for name, known in values.items()}
    )


def encoded(rows: list[Person]) -> Array:
    """Return people as an array ``(i, f)``."""
    entries = [[_entry(p, row[f.name]) for p, f in enumerate(SCHEMA)] for row in rows]
    return np.array(entries, dtype=np.float64)


def _entry(position: int, value: Any) -> float:
    feature = SCHEMA.features[position]
    if not isinstance(feature, Continuous):
        return -1.0 if value is None else float(feature.levels.index(value))
    low, high = LIMITS[feature.name]
    return math.nan if value is None else (value - low) / (high - low)


def binding(tree: Tree) -> int:
    """Return how tightly the outermost operator binds."""
    if tree[0] in OPPOSITE:
        return 5
    if tree[0] == "-":
        return 8 if len(tree) == 2 else 6
    return BINDING.get(tree[0], 9)


def rendered(tree: Tree, loosest: int = 0) -> str:
    """Return a tree as text, with brackets only where they are needed."""
    if binding(tree) < loosest:
        return f"({rendered(tree)})"
    own = binding(tree)
    match tree:
        case ("number", value):
            return f"{value:g}"
        case ("level", bool() as value):
            return str(value).lower()
        case ("level", str() as value):
            return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
        case ("level", value):
            return f"{value:g}"
        case ("cell", row, name):
            return f"{row}.{name}" if name.isidentifier() else f"{row}['{name}']"
        case (operator, operand):
            return f"{operator} {rendered(operand, own)}"
        case (operator, left, right):
            from_right = operator == "=>" or own == 5
            left_text = rendered(left, own + from_right)
            return f"{left_text} {operator} {rendered(right, own + (operator != '=>'))}"
    raise AssertionError(tree)


def cells_of(tree: Tree) -> set[tuple[str, str]]:
    """Return the cells that a tree reads."""
    if tree[0] == "cell":
        return {(tree[1], tree[2])}
    return set().union(*(cells_of(part) for part in tree[1:] if isinstance(part, tuple)))


def divides_by_constant_zero(tree: Tree) -> bool:
    """Whether the rule is refused for it."""
    if tree[0] == "/" and not cells_of(tree[2]):
        try:
            if value(tree[2], {}) == 0:
                return True
        except ZeroDivisionError:
            return True
    return any(divides_by_constant_zero(part) for part in tree[1:] if isinstance(part, tuple))


def extent(tree: Tree) -> tuple[float, float]:
    """Return the span and the size of a number over the training rows."""
    match tree:
        case ("number", constant):
            return 0.0, abs(constant)
        case ("cell", _, name):
            low, high = LIMITS[name]
            return high - low, max(abs(low), abs(high))
        case _ if not cells_of(tree):
            return 0.0, abs(value(tree, {}))
        case ("-", operand):
            return extent(operand)
    (span, size), (other_span, other_size) = extent(tree[1]), extent(tree[2])
    match tree[0]:
        case "+" | "-":
            return max(span, other_span), size + other_size
        case "*":
            return max(span * other_size, size * other_span), size * other_size
    if other_size == 0:
        return math.inf, math.inf
    return max(span / other_size, size * other_span / other_size**2), size / other_size


def value(tree: Tree, pair: dict[str, Person]) -> float:
    """Return a number in raw units; raise `ZeroDivisionError` where it has none."""
    match tree:
        case ("number", constant):
            return float(constant)
        case ("cell", row, name):
            return float(pair[row][name])
        case ("-", operand):
            return -value(operand, pair)
    left, right = value(tree[1], pair), value(tree[2], pair)
    match tree[0]:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
    if abs(right) <= 1e-9 * extent(tree[2])[0]:
        raise ZeroDivisionError
    return left / right


def gap_of(tree: Tree, pair: dict[str, Person]) -> tuple[float, float]:
    """Return left minus right on the unit range, and what equality lacks of a strict order."""
    named = next((SCHEMA[name] for _, name in cells_of(tree)), None)
    if isinstance(named, Continuous):
        span = max(extent(tree[1])[0], extent(tree[2])[0])
        unit = span if 0 < span < math.inf else 1.0
        gap = (value(tree[1], pair) - value(tree[2], pair)) / unit
        return (0.0 if abs(gap) <= 1e-9 else gap), 1e-6
    assert named is not None
    left, right = (
        named.levels.index(pair[side[1]][side[2]] if side[0] == "cell" else side[1])
        for side in tree[1:]
    )
    if isinstance(named, Categorical):
        return float(left != right), 1.0
    reach = len(named.levels) - 1
    return (left - right) / reach, 1 / reach


def lacking(tree: Tree, pair: dict[str, Person], wanted: bool = True) -> float:
    """Return how far a condition is from being as wanted; a missing value is never far."""
    match tree:
        case ("not", operand):
            return lacking(operand, pair, not wanted)
        case ("and" | "or" as operator, left, right):
            both = (operator == "and") == wanted
            distances = (lacking(left, pair, wanted), lacking(right, pair, wanted))
            return sum(distances) if both else min(distances)
        case ("=>", premise, conclusion):
            if not wanted:
                return lacking(premise, pair, True) + lacking(conclusion, pair, False)
            known_true = truth(premise, pair) is True
            return lacking(conclusion, pair, True) if known_true else 0.0
    if any(pair[row][name] is None for row, name in cells_of(tree)):
        return 0.0
    try:
        gap, margin = gap_of(tree, pair)
    except ZeroDivisionError:
        return 1.0 if wanted else 0.0
    return _distance(tree[0] if wanted else OPPOSITE[tree[0]], gap, margin)


def _distance(operator: str, gap: float, margin: float) -> float:
    if _compares(operator, gap):
        return 0.0
    return abs(gap) if operator in ("<=", ">=", "==") else abs(gap) + margin


def _compares(operator: str, gap: float) -> bool:
    return {
        "<": gap < 0,
        "<=": gap <= 0,
        ">": gap > 0,
        ">=": gap >= 0,
        "==": gap == 0,
        "!=": gap != 0,
    }[operator]


def truth(tree: Tree, pair: dict[str, Person]) -> bool | None:
    """Return whether a condition is true, in Kleene's logic; ``None`` for unknown."""
    match tree:
        case ("not", operand):
            known = truth(operand, pair)
            return None if known is None else not known
        case ("=>", premise, conclusion):
            return truth(("or", ("not", premise), conclusion), pair)
        case ("and" | "or" as operator, left, right):
            parts = (truth(left, pair), truth(right, pair))
            decisive = operator == "or"
            if decisive in parts:
                return decisive
            return None if None in parts else not decisive
    if any(pair[row][name] is None for row, name in cells_of(tree)):
        return None
    try:
        return _compares(tree[0], gap_of(tree, pair)[0])
    except ZeroDivisionError:
        return False
