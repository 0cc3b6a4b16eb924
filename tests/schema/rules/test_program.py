"""Rules as flat programs mean what their trees say, to the last bit."""

import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from proce.schema import Codec, Continuous, Rule, Schema
from proce.schema.rules.program import RuleProgram

from . import rule_reference as reference
from .rule_reference import CODEC

RULES = reference.conditions().filter(lambda tree: not reference.divides_by_constant_zero(tree))


def by_tensors(rules, factual, rows) -> torch.Tensor:
    total = torch.zeros(rows.shape[:2], dtype=torch.float64)
    for rule in rules:
        total = total + rule.violation(factual, rows)
    return total


@settings(max_examples=200, deadline=None)
@given(
    st.lists(RULES, min_size=1, max_size=3),
    st.lists(reference.people(), min_size=2, max_size=2),
    st.lists(reference.people(), min_size=6, max_size=6),
)
def test_a_program_of_random_rules_gives_what_their_trees_give(trees, people, candidates):
    rules = tuple(Rule.parse(reference.rendered(tree), CODEC) for tree in trees)
    factual = reference.encoded(people)
    rows = reference.encoded(candidates).reshape(2, 3, -1)
    expected = by_tensors(rules, factual, rows)
    assert torch.equal(RuleProgram.of(rules).violation(factual, rows), expected)


def test_a_program_adds_up_what_its_rules_lack():
    """The unit range of age is 0 to 8, that of the yearly income 0 to 1000."""
    texts = ("cf.age >= 6", 'cf["yearly income"] > 500 or cf.age < x.age')
    rules = tuple(Rule.parse(text, CODEC) for text in texts)
    person = dict.fromkeys(reference.SCHEMA.names) | {"age": 2, "yearly income": 100.0}
    older = person | {"age": 4, "yearly income": 450.0}
    factual, rows = reference.encoded([person]), reference.encoded([person, older])[None]
    lacking = RuleProgram.of(rules).violation(factual, rows)
    # Age lacks 4 of 8 years; of the two ways of the second rule equal ages lack only a margin.
    assert lacking.tolist() == [[pytest.approx(0.5 + 1e-6), pytest.approx(0.25 + 0.05 + 1e-6)]]


@pytest.mark.parametrize("step", [None, 0.1, 3.0, 1.0, 0.25])
def test_numbers_are_read_off_the_grid_as_the_codec_reads_them(step):
    schema = Schema([Continuous("age", step=step), Continuous("pay")])
    frame = pd.DataFrame({"age": [0.3, 30.3], "pay": [-1e7, 1e7]})
    codec = Codec.fit(schema, frame)
    rules = tuple(Rule.parse(text, codec) for text in ("cf.age == 7 * x.age", "cf.pay == x.pay"))
    draw = torch.rand(4, 50, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    draw[:, ::2, 0] = (draw[:, ::2, 0] * 300).round() / 300
    factual = draw[:, 0]
    expected = by_tensors(rules, factual, draw)
    assert torch.equal(RuleProgram.of(rules).violation(factual, draw), expected)
