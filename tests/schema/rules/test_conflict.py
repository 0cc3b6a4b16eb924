"""Rules that no row can obey together are found, and none else."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proce.arrays import Array
from proce.schema import Categorical, Codec, Continuous, Ordinal, Rule, Schema
from proce.schema.rules.rule import MAX_PROGRAMS, conflict

FRAME = pd.DataFrame(
    {
        "age": [20, 40, 60],
        "pay": [1.5, 2.5, 9.0],
        "school": ["none", "basic", "high"],
        "home": ["rents", "owns", "rents"],
    }
)
SCHEMA = Schema(
    [
        Continuous("age", step=1),
        Continuous("pay"),
        Ordinal("school", ("none", "basic", "high")),
        Categorical("home", ("rents", "owns")),
    ]
)
CODEC = Codec.fit(SCHEMA, FRAME)
ROWS = CODEC.encode(FRAME)


def conflicting(*texts: str, rows: Array = ROWS, max_programs: int = MAX_PROGRAMS) -> list[str]:
    rules = [Rule.parse(text, CODEC) for text in texts]
    return [rule.text for rule in conflict(rules, rows, max_programs)]


@pytest.mark.parametrize(
    "texts",
    [
        ("cf.age > x.age", "cf.age <= x.age"),
        ("cf.age > 40 and cf.age < 30",),
        ("40 < cf.age < 30",),
        ("30 <= cf.age <= 40", "cf.age > 40"),
        ('"basic" <= cf.school <= "basic"', 'cf.school > "basic"'),
        ("cf.age == x.age", "cf.age != x.age"),
        ("cf.age <= 10", "cf.age >= x.age"),
        ("cf.school > x.school", 'cf.school < "basic"'),
        ('cf.school > "none"', 'cf.school < "high"', 'cf.school != "basic"'),
        ('cf.home != "rents"', 'cf.home != "owns"'),
        ("cf.home != x.home", "cf.home == x.home"),
        ("cf.school > x.school => cf.age > x.age", "cf.school > x.school", "cf.age <= x.age"),
        ("not (cf.pay > 3 or cf.age > 30)", "cf.pay > 5"),
        ("cf.pay * 2 - 1 < x.pay", "cf.pay / 2 > x.pay + 10"),
        ("cf.pay + cf.age < 10", "cf.pay > 5", "cf.age > 6"),
        ("2 * cf.pay > 10", "cf.pay < 4"),
        ("cf.pay - 4 < 0", "cf.pay > 5"),
        ("not (cf.age <= 40)", "cf.age < 30"),
        ("not (cf.age < 40)", "cf.age < 30"),
        ("not (cf.age >= 40)", "cf.age > 50"),
        ("not (cf.age > 40)", "cf.age > 50"),
        ("not (cf.age != 40)", "cf.age > 50"),
        ("not (cf.age == x.age)", "cf.age == x.age"),
    ],
)
def test_a_contradiction_is_proved(texts: tuple[str, ...]) -> None:
    assert conflicting(*texts) == list(texts)


def test_rules_that_have_no_part_in_it_are_left_out() -> None:
    texts = ("cf.pay > 3", "cf.age > x.age", 'cf.home == "owns"', "cf.age < x.age")
    assert conflicting(*texts) == ["cf.age > x.age", "cf.age < x.age"]


@pytest.mark.parametrize(
    "texts",
    [
        (),
        ("cf.age > x.age",),
        ("cf.age > 1000",),
        ("cf.age <= 30", "cf.age > x.age"),
        ("20 < cf.age <= 30", "x.age < cf.age < 31"),
        ("cf.age >= x.age", "cf.age < x.age + 0.0001", "cf.pay > 3"),
        ("cf.pay == 3.25", "cf.pay + cf.age == 100"),
        ("cf.school > x.school => cf.age > x.age", "cf.age <= x.age"),
        ("cf.pay * cf.age < 0", "cf.pay * cf.age > 0"),  # not linear: nothing is claimed
        ("age ~> pay", "cf.age > x.age", "cf.pay < x.pay"),  # known to the equations alone
    ],
)
def test_rules_that_can_be_obeyed_are_not_accused(texts: tuple[str, ...]) -> None:
    assert conflicting(*texts) == []


def test_nothing_is_said_of_a_value_that_is_missing() -> None:
    """A rule never blocks because of a cell that nobody knows."""
    unknown = ROWS.copy()
    unknown[1, 0] = np.nan
    assert conflicting("cf.age > 70 and cf.age < 60", rows=unknown) == []
    assert conflicting("cf.pay > 7 and cf.pay < 6", rows=unknown) == ["cf.pay > 7 and cf.pay < 6"]


def test_a_contradiction_is_proved_without_rows_too() -> None:
    texts = ["cf.age > x.age", "cf.age <= x.age"]
    assert conflicting(*texts, rows=ROWS[:0]) == texts
    assert conflicting("cf.age > x.age", rows=ROWS[:0]) == []


@pytest.mark.parametrize(
    ("texts", "entry"),
    [(("cf.age < x.age", "cf.age >= 100"), 2.5), (("cf.age > x.age", "cf.age <= 0"), -1.0)],
)
def test_a_person_beyond_the_training_rows_counts(texts: tuple[str, ...], entry: float) -> None:
    """Nobody in training is younger than 20 or older than 60; then somebody is 120, or -20."""
    assert conflicting(*texts) == list(texts)
    rows = ROWS.copy()
    rows[0, 0] = entry
    assert conflicting(*texts, rows=rows) == []


def test_too_many_cases_are_left_open() -> None:
    texts = ("cf.pay < 1 or cf.pay > 9", "cf.age < 1 or cf.age > 99", "cf.pay == 5")
    assert conflicting(*texts) == ["cf.pay < 1 or cf.pay > 9", "cf.pay == 5"]
    assert conflicting(*texts, max_programs=1) == []


NUMBERS = st.integers(15, 65)
OPERATORS = st.sampled_from(["<", "<=", ">", ">=", "==", "!="])
COMPARISONS = st.one_of(
    st.builds("cf.age {} {}".format, OPERATORS, NUMBERS),
    st.builds("cf.age {} x.age".format, OPERATORS),
    st.builds("x.age {} {}".format, OPERATORS, NUMBERS),
    st.builds("cf.school {} x.school".format, OPERATORS),
    st.builds(
        'cf.home {} "{}"'.format, st.sampled_from(["==", "!="]), st.sampled_from(["rents", "owns"])
    ),
)
RULES = st.recursive(
    COMPARISONS,
    lambda inner: st.one_of(
        st.builds("({}) and ({})".format, inner, inner),
        st.builds("({}) or ({})".format, inner, inner),
        st.builds("({}) => ({})".format, inner, inner),
        st.builds("not ({})".format, inner),
    ),
    max_leaves=5,
)


def test_no_row_obeys_what_is_called_a_contradiction() -> None:
    """Thousands of pairs of rows are tried by chance; a single one would refute the proof."""
    n_accused = 0

    @settings(max_examples=60, database=None)
    @given(texts=st.lists(RULES, min_size=1, max_size=3), seed=st.integers(0, 10**6))
    def sweep(texts: list[str], seed: int) -> None:
        nonlocal n_accused
        accused = conflict([Rule.parse(text, CODEC) for text in texts], ROWS)
        if accused:
            n_accused += 1
            assert not bool(obeyed(accused, seed).any())

    sweep()
    assert n_accused > 5


def obeyed(rules: list[Rule], seed: int) -> Array:
    """Return which of many random pairs of rows obey all of some rules."""
    draw = np.random.default_rng(seed)
    pairs = [draw.random((4_000, 4)) for _ in range(2)]
    for rows in pairs:
        rows[:, 0] = np.round(rows[:, 0] * 40) / 40  # whole years, so that equal ones occur
        rows[:, 2] = np.floor(rows[:, 2] * 3)
        rows[:, 3] = np.floor(rows[:, 3] * 2)
    factual, others = pairs
    others[:, 0] = others[:, 0] * 3 - 1
    held = np.ones(4_000, dtype=np.bool_)
    for rule in rules:
        held &= rule.holds(factual, others)
    return held


@pytest.mark.parametrize(
    "text", ["cf.age * 1e308 * 1e308 > 1", "cf.pay > x.pay / 5e-324", "cf.age * 1e308 >= cf.pay"]
)
def test_numbers_too_large_to_reckon_with_are_no_conflict(text: str) -> None:
    assert conflicting(text) == []
