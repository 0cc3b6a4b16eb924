"""Random rules agree with a slow reference; random text is read or refused, never worse."""

import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from proce.errors import RuleError
from proce.schema import Rule

from . import rule_reference as reference
from .rule_reference import CODEC, Person, Tree

WORDS = """cf x . [ ] ( ) , < <= > >= == != => ~> + - * / and or not true false = ! & 1 0 2.5
1e9 1e400 age cf.age x.offset x["size"] cf.size "small" 'b' "c" cf.owner " ' \\ size,age """
SOUP = st.lists(st.sampled_from([*WORDS.split(), " "]), max_size=60).map(" ".join)
RULES = reference.conditions().filter(lambda tree: not reference.divides_by_constant_zero(tree))


@st.composite
def damaged_rules(draw: st.DrawFn) -> str:
    """Return a rule with a few characters replaced, dropped or put in."""
    text = reference.rendered(draw(reference.conditions()))
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(text)))
        text = text[:at] + draw(st.text(max_size=2)) + text[at + draw(st.integers(0, 2)) :]
    return text


ANY_TEXT = (
    SOUP
    | damaged_rules()
    | st.text(max_size=200)
    | st.binary(max_size=200).map(lambda raw: raw.decode("latin-1"))
    | st.binary(max_size=200).map(lambda raw: raw.decode("utf-8", "surrogateescape"))
)


def check_against_reference(tree: Tree, factual: Person, candidates: list[Person]) -> None:
    rule = Rule.parse(reference.rendered(tree), CODEC)
    before = reference.encoded([factual])  # (1, f)
    rows = reference.encoded(candidates)[None]  # (1, c, f)
    violation, holds = rule.violation(before, rows)[0], rule.holds(before, rows)[0]
    pairs = [{"x": factual, "cf": candidate} for candidate in candidates]
    expected = [reference.lacking(tree, pair) for pair in pairs]
    assert violation.tolist() == pytest.approx(expected, rel=1e-6, abs=1e-12)
    assert holds.tolist() == [reference.truth(tree, pair) is not False for pair in pairs]
    assert holds.tolist() == [lack == 0 for lack in expected]
    assert np.array_equal(holds, violation == 0)


def check_read_or_refused(text: str) -> None:
    refused = ""
    try:
        rule = Rule.parse(text, CODEC)
    except RuleError as error:
        refused = str(error)
    if refused:
        assert refused.isprintable()
        return
    assert Rule.parse(str(rule), CODEC).tree == rule.tree
    rows = reference.encoded([dict.fromkeys(reference.SCHEMA.names)])
    mechanisms = {name: lambda rows: rows[..., 0] for name in reference.SCHEMA.names}
    assert rule.violation(rows, rows, mechanisms).item() == 0


MANY_PEOPLE = st.lists(reference.people(), min_size=1, max_size=4)


@settings(max_examples=300)
@given(RULES, reference.people(), MANY_PEOPLE)
def test_a_rule_means_what_the_reference_says(
    tree: Tree, factual: Person, candidates: list[Person]
) -> None:
    check_against_reference(tree, factual, candidates)


@pytest.mark.slow
@settings(max_examples=20_000)
@given(RULES, reference.people(), MANY_PEOPLE)
def test_very_many_rules_mean_what_the_reference_says(
    tree: Tree, factual: Person, candidates: list[Person]
) -> None:
    check_against_reference(tree, factual, candidates)


@settings(max_examples=300)
@given(ANY_TEXT)
@example("cf.age > 1 " + "~>")
@example("\ud800 > cf.age")
@example("cf[''] > 1")
def test_any_text_is_read_or_refused(text: str) -> None:
    check_read_or_refused(text)


@pytest.mark.slow
@settings(max_examples=15_000)
@given(ANY_TEXT)
def test_very_much_text_is_read_or_refused(text: str) -> None:
    check_read_or_refused(text)


def calls_made(function: Callable[[], Any]) -> int:
    """Return how many calls something makes, which no other load on the machine changes."""
    count = 0

    def counted(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(counted)
    try:
        function()
    except RuleError:
        pass
    finally:
        sys.setprofile(None)
    return count


@given(st.text(min_size=1, max_size=12) | SOUP.filter(bool))
@example("(")
@example("not ")
@example("-")
@example("cf.age>1=>")
@example("cf.age>1 and ")
@example("(cf.age>1)or ")
@example("+1")
@example("'")
@example("\\'")
@example("1")
@example("a,")
def test_the_longest_rules_are_read_in_bounded_work(piece: str) -> None:
    """Whatever is repeated, in front of a sound rule or after it."""
    repeated = (piece * 2000)[:1980]
    for text in (repeated, repeated + "cf.age > 1", "cf.age > 1" + repeated):
        assert calls_made(lambda text=text: Rule.parse(text, CODEC)) < 100_000


@given(RULES, MANY_PEOPLE, MANY_PEOPLE)
def test_a_candidate_is_judged_alone(
    tree: Tree, factual: list[Person], candidates: list[Person]
) -> None:
    rule = Rule.parse(reference.rendered(tree), CODEC)
    before = reference.encoded(factual)  # (i, f)
    rows = np.stack([reference.encoded(candidates)] * len(factual))  # (i, c, f)
    together = rule.violation(before, rows)
    alone = [
        [rule.violation(before[[i]], rows[[i]][:, [c]]).item() for c in range(len(candidates))]
        for i in range(len(factual))
    ]
    assert together.tolist() == alone


@given(st.floats(-5, 5), st.floats(-5, 5), st.sampled_from([">=", ">", "=="]))
def test_the_further_from_holding_the_larger_the_violation(
    one: float, other: float, operator: str
) -> None:
    near, far = sorted((abs(one), abs(other)))
    rule = Rule.parse(f"cf.offset {operator} x.offset", CODEC)
    row = reference.encoded([dict.fromkeys(reference.SCHEMA.names, None) | {"offset": 0.0}])
    rows = np.tile(row, (2, 1))
    rows[:, 1] -= np.array([near, far], dtype=np.float64)
    closer, further = rule.violation(np.tile(row, (2, 1)), rows).tolist()
    assert closer <= further
    assert closer == pytest.approx(near, abs=2e-6)
    assert math.isfinite(further)
