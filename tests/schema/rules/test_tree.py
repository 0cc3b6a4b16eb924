"""What counts as one where quantities are multiplied and divided."""

import math

import pandas as pd
import pytest

from proce.errors import RuleError
from proce.schema import Codec, Continuous, Rule, Schema

SCHEMA = Schema([Continuous("hours"), Continuous("zero", action="fixed")])
TRAINING = pd.DataFrame({"hours": [0.0, 80.0], "zero": [0.0, 0.0]})
CODEC = Codec.fit(SCHEMA, TRAINING)


def violation(text: str, hours: float) -> float:
    rows = CODEC.encode(pd.DataFrame({"hours": [hours], "zero": [0.0]}))
    return float(Rule.parse(text, CODEC).violation(rows, rows).item())


@pytest.mark.parametrize("text", ["2 * 3 * cf.hours >= 480", "cf.hours / 2 >= 40"])
def test_a_multiple_of_a_feature_ranges_as_many_times_as_far(text: str) -> None:
    assert violation(text, 40.0) == pytest.approx(0.5)


def test_the_share_of_a_feature_that_is_zero_in_all_training_rows_is_undefined() -> None:
    assert violation("cf.hours / cf.zero > 1", 40.0) == 1.0


def test_a_divisor_of_next_to_nothing_is_zero() -> None:
    """Hours range over 80, so that what is below 8e-8 of them is rounding."""
    assert violation("1 / cf.hours > 3", 5e-8) == 1.0
    assert violation("1 / cf.hours > 3", 2e-7) == 0.0


def test_a_rule_about_the_person_alone_surely_holds_or_not() -> None:
    rows = CODEC.encode(pd.DataFrame({"hours": [10.0, 50.0], "zero": [0.0, 0.0]}))
    assert Rule.parse("x.hours > 20", CODEC).surely_holds(rows).tolist() == [False, True]
    rows[0, 0] = math.nan
    assert Rule.parse("x.hours < 20", CODEC).surely_holds(rows).tolist() == [False, False]
    with pytest.raises(RuleError, match="speaks of a counterfactual"):
        Rule.parse("cf.hours > x.hours", CODEC).surely_holds(rows)
