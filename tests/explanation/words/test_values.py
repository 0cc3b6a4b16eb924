"""Values, names and shares as a person reads them."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from proce.explanation import Change
from proce.explanation.words.cells import ChangedCell
from proce.explanation.words.values import (
    cell_texts,
    class_words,
    joined,
    name_text,
    percent,
    percents,
    short,
    value_text,
)
from proce.schema import Categorical, Continuous, Feature, Ordinal


def moved(
    feature: Feature, before: float, after: float, kind: Change = Change.ACTION
) -> ChangedCell:
    return ChangedCell(0, feature, kind, before, after, math.nan, 0.1)


@pytest.mark.parametrize(
    ("step", "value", "text"),
    [
        (1, 39.0, "39"),
        (100, 3_500.0, "3,500"),
        (0.1, 0.30000000000000004, "0.3"),
        (0.1, 2.0, "2.0"),
        (0.25, 1_234.5, "1,234.50"),
        (1, -0.0, "0"),
        (1, -12.0, "−12"),
    ],
)
def test_a_number_has_the_decimals_of_its_step(step: float, value: float, text: str) -> None:
    assert value_text(Continuous("a", step=step), value) == text


def test_a_step_that_no_number_can_show_is_none() -> None:
    assert value_text(Continuous("a", step=1e-300), 53.2, 100.0) == "53.2"
    assert value_text(Continuous("a", step=5e-324), 0.0) == "0"


def test_a_number_that_came_in_off_its_step_is_not_rounded_onto_it() -> None:
    assert value_text(Continuous("age", step=1), 39.5) == "39.5"
    assert value_text(Continuous("income", step=100), 61_437.25) == "61,437.25"


@pytest.mark.parametrize(
    ("span", "value", "text"),
    [(1.0, 0.123456, "0.123"), (1.0, 0.5, "0.5"), (50_000.0, 1_234.567, "1,235"), (0.01, 1, "1")],
)
def test_without_a_step_decimals_show_a_thousandth_of_the_range(
    span: float, value: float, text: str
) -> None:
    assert value_text(Continuous("a"), float(value), span) == text


def test_without_step_and_range_four_digits_are_shown() -> None:
    feature = Continuous("a")
    assert value_text(feature, 0.00123456) == "0.001235"
    assert value_text(feature, 12_345.678) == "12,346"
    assert value_text(feature, 0.0) == "0"


def test_a_number_that_is_small_beside_the_span_keeps_three_digits() -> None:
    ratio = Continuous("ratio")
    assert value_text(ratio, 0.61713, 10_000.0) == "0.617"
    assert value_text(ratio, 1_708.857, 10_000.0) == "1,709"
    assert value_text(ratio, 0.0, 10_000.0) == "0"


def test_levels_are_quoted_and_flags_and_numbers_are_not() -> None:
    assert value_text(Categorical("job", ("service", "a\nb")), 1.0) == '"a b"'
    assert value_text(Categorical("car", (False, True)), 1.0) == "true"
    assert value_text(Ordinal("stars", (1, 2.5)), 1.0) == "2.5"


def test_what_is_missing_says_so() -> None:
    assert value_text(Continuous("a"), math.nan) == "missing"
    assert value_text(Categorical("job", ("a", "b")), -1.0) == "missing"


def test_a_number_to_reach_is_rounded_away_from_where_one_is() -> None:
    """Who does as told must have done enough."""
    feature = Continuous("ratio")
    assert cell_texts(moved(feature, 0.2, 0.3331), 1.0) == ("0.2", "0.334")
    assert cell_texts(moved(feature, 0.2, 0.1119), 1.0) == ("0.2", "0.111")
    expected = moved(feature, 0.2, 0.3331, Change.CONSEQUENCE)
    assert cell_texts(expected, 1.0) == ("0.2", "0.333")


def test_what_a_column_of_32_bits_holds_is_told_as_it_was_meant():
    feature = Continuous("usage")
    meant = float(np.float32(43.6))
    assert meant < 43.6
    assert cell_texts(moved(feature, 53.1, meant), 100.0) == ("53.1", "43.6")
    meant = float(np.float32(106.7))
    assert cell_texts(moved(feature, 120.0, meant), 100.0) == ("120", "106.7")


@given(
    st.floats(-1e18, 1e18, allow_nan=False),
    st.floats(-1e18, 1e18, allow_nan=False),
    st.none() | st.floats(1e-9, 1e9),
    st.none() | st.sampled_from([1e-3, 0.1, 1.0, 50.0]),
)
@example(0.1, 0.1 + 1e-12, 1.0, None)
@example(5e-324, 1e-300, 1e-9, None)
def test_numbers_apart_by_a_thousandth_of_the_range_read_differently(
    before: float, after: float, span: float | None, step: float | None
) -> None:
    first, second = cell_texts(moved(Continuous("a", step=step), before, after), span)
    apart = abs(before - after) > 1e-3 * max(span or 0, step or 0, abs(before), abs(after))
    assert not apart or first != second
    assert "e" not in first or abs(before) >= 1e15


def test_nothing_is_certain() -> None:
    assert [percent(share) for share in (0.0, 0.004, 0.31, 0.999, 1.0)] == [
        "under 1%",
        "under 1%",
        "31%",
        "over 99%",
        "over 99%",
    ]


def test_two_shares_that_differ_read_differently() -> None:
    assert percents(0.62, 0.31) == ("62%", "31%")
    assert percents(0.504, 0.496) == ("50.4%", "49.6%")
    assert percents(0.9991, 0.9999) == ("99.9%", "over 99.9%")


def test_lists_are_joined_and_cut() -> None:
    assert joined([]) == ""
    assert joined(["a"]) == "a"
    assert joined(["a", "b", "c"]) == "a, b and c"
    assert joined(["a", "b", "c", "d"], max_parts=2) == "a, b and 2 more"


def test_names_and_classes_are_words() -> None:
    assert name_text(Continuous("credit_score")) == "credit score"
    assert name_text(Continuous("_")) == "_"
    assert name_text(Continuous("x7", label="monthly income")) == "monthly income"
    assert class_words("approved", {}) == "approved"
    assert class_words(1, {}) == "class 1"
    assert class_words(True, {}) == "class True"
    assert class_words(1, {1: "approved"}) == "approved"


def test_values_stand_beside_their_unit() -> None:
    savings = Continuous("savings", step=100, unit="$")
    assert value_text(savings, 3_500.0) == "$3,500"
    assert cell_texts(moved(savings, -200.0, 3_500.0), 1e4) == ("−$200", "$3,500")
    months = Continuous("duration", step=1, unit="months")
    assert cell_texts(moved(months, 1.0, 12.0), 60) == ("1 month", "12 months")
    assert value_text(Ordinal("grade", (1, 2), unit="points"), 1) == "2 points"
    assert value_text(months, math.nan) == "missing"


def test_levels_have_labels() -> None:
    job = Categorical("job", ("A173", "A174"), labels={"A173": "skilled"})
    assert [value_text(job, code) for code in (0, 1)] == ["skilled", '"A174"']
    flag = Categorical("flag", (False, True), labels={True: "yes"})
    assert [value_text(flag, code) for code in (0, 1)] == ["false", "yes"]


def test_long_text_loses_its_middle() -> None:
    assert short("hours per\nweek", 20) == "hours per week"
    assert short("the number of hours per week", 16) == "the number…week"
