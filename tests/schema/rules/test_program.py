"""Rules as flat programs; what a single rule lacks is tested in test_rule_properties."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proce.arrays import Array
from proce.schema import Codec, Continuous, Rule, Schema
from proce.schema.rules.rule import obeyed, program_of

from . import rule_reference as reference
from .rule_reference import CODEC

RULES = reference.conditions().filter(lambda tree: not reference.divides_by_constant_zero(tree))


def one_by_one(rules, factual, rows) -> Array:
    total = np.zeros(rows.shape[:2], dtype=np.float64)
    for rule in rules:
        total = total + rule.violation(factual, rows)
    return total


@settings(max_examples=200, deadline=None)
@given(
    st.lists(RULES, min_size=1, max_size=3),
    st.lists(reference.people(), min_size=2, max_size=2),
    st.lists(reference.people(), min_size=6, max_size=6),
)
def test_a_program_of_random_rules_gives_the_sum_of_what_each_lacks(trees, people, candidates):
    rules = tuple(Rule.parse(reference.rendered(tree), CODEC) for tree in trees)
    factual = reference.encoded(people)
    rows = reference.encoded(candidates).reshape(2, 3, -1)
    expected = one_by_one(rules, factual, rows)
    assert np.array_equal(program_of(rules).violation(factual, rows), expected)


def test_a_program_adds_up_what_its_rules_lack():
    """The unit range of age is 0 to 8, that of the yearly income 0 to 1000."""
    texts = ("cf.age >= 6", 'cf["yearly income"] > 500 or cf.age < x.age')
    rules = tuple(Rule.parse(text, CODEC) for text in texts)
    person = dict.fromkeys(reference.SCHEMA.names) | {"age": 2, "yearly income": 100.0}
    older = person | {"age": 4, "yearly income": 450.0}
    factual, rows = reference.encoded([person]), reference.encoded([person, older])[None]
    lacking = program_of(rules).violation(factual, rows)
    # Age lacks 4 of 8 years; of the two ways of the second rule equal ages lack only a margin.
    assert lacking.tolist() == [[pytest.approx(0.5 + 1e-6), pytest.approx(0.25 + 0.05 + 1e-6)]]


@pytest.mark.parametrize("step", [None, 0.1, 3.0, 1.0, 0.25])
def test_numbers_are_read_off_the_grid_as_the_codec_reads_them(step):
    schema = Schema([Continuous("age", step=step), Continuous("pay")])
    frame = pd.DataFrame({"age": [0.3, 30.3], "pay": [-1e7, 1e7]})
    codec = Codec.fit(schema, frame)
    rules = tuple(Rule.parse(text, codec) for text in ("cf.age == 7 * x.age", "cf.pay == x.pay"))
    draw = np.random.default_rng(0).random((4, 50, 2))
    draw[:, ::2, 0] = (draw[:, ::2, 0] * 300).round() / 300
    factual = draw[:, 0]
    expected = one_by_one(rules, factual, draw)
    assert np.array_equal(program_of(rules).violation(factual, draw), expected)


def test_a_program_without_rules_has_no_steps_and_adds_nothing():
    program = program_of([])
    shapes = [program.cells.shape, program.units.shape, program.steps.shape, program.numbers.shape]
    assert shapes == [(0, 3), (0, 5), (0, 2), (0, 3)]
    rows = np.zeros((2, 3, len(reference.SCHEMA.names)))
    assert program_of([]).violation(rows[:, 0], rows).tolist() == [[0.0] * 3] * 2


def test_which_rows_obey_rules():
    person = dict.fromkeys(reference.SCHEMA.names) | {"age": 2, "yearly income": 100.0}
    rows = reference.encoded([person, person | {"age": 6}, person | {"yearly income": 900.0}])
    rules = [Rule.parse(text, CODEC) for text in ("cf.age >= 6", 'cf["yearly income"] < 500')]
    assert obeyed(rules, rows, rows).tolist() == [False, True, False]
    assert obeyed([], rows, rows).tolist() == [True, True, True]


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("not (8 / cf.age > 1)", lambda age: age in (0, 8)),
        ("not (cf.age > 1 => cf.age > 3)", lambda age: 1 < age <= 3),
        ("not (cf.age > 1 and cf.age > 3)", lambda age: age <= 3),
        ("not (cf.age > 5 or cf.age < 1)", lambda age: 1 <= age <= 5),
        ("1 / (cf.age * 1e200 * 1e150) < 1", lambda age: False),
        ("not (1 / (cf.age * 1e200 * 1e150) < 1)", lambda age: True),
    ],
)
def test_a_program_negates_and_overflows(text, held):
    """A division by zero and a number that overflows are false, and their opposites hold."""
    rule = Rule.parse(text, CODEC)
    people = [dict.fromkeys(reference.SCHEMA.names) | {"age": age} for age in range(9)]
    lacking = rule.program.violation(rows := reference.encoded(people), rows[:, None])[:, 0]
    assert (lacking == 0).tolist() == [held(age) for age in range(9)]
