"""Counts agree with their nouns, and there is one minus sign."""

import pytest

from proce.schema.features.numerals import counted, with_minus


@pytest.mark.parametrize(
    ("count", "told"),
    [(0, "0 rows"), (1, "1 row"), (2, "2 rows"), (1_234, "1,234 rows"), (1.5, "1.5 rows")],
)
def test_a_noun_agrees_with_its_number(count: float, told: str) -> None:
    assert counted(count, "row") == told


def test_a_plural_of_its_own_is_given() -> None:
    assert counted(2, "person", "people") == "2 people"
    assert counted(1, "person", "people") == "1 person"


@pytest.mark.parametrize(
    ("number", "told"),
    [("-1,200", "−1,200"), ("5", "5"), ("-0", "0"), ("-0.00", "0.00"), ("1e-20", "1e−20")],
)
def test_a_hyphen_becomes_a_minus_and_nothing_is_minus_zero(number: str, told: str) -> None:
    assert with_minus(number) == told
