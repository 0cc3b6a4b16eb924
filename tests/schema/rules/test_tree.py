"""What counts as one where quantities are multiplied and divided."""

import math

import numpy as np
import pandas as pd
import pytest

from proce.errors import RuleError
from proce.schema import Categorical, Codec, Continuous, Rule, Schema
from proce.schema.rules.tree import Arithmetic, FeatureReference

SCHEMA = Schema([Continuous("hours"), Continuous("zero", action="fixed")])
TRAINING = pd.DataFrame({"hours": [0.0, 80.0], "zero": [0.0, 0.0]})
CODEC = Codec.fit(SCHEMA, TRAINING)


def violation(text: str, hours: float) -> float:
    rows = CODEC.encode(pd.DataFrame({"hours": [hours], "zero": [0.0]}))
    return float(Rule.parse(text, CODEC).violation(rows, rows).item())


@pytest.mark.parametrize("text", ["2 * 3 * cf.hours >= 480", "cf.hours / 2 >= 40"])
def test_a_multiple_of_a_feature_ranges_as_many_times_as_far(text: str) -> None:
    assert violation(text, 40.0) == pytest.approx(0.5)


def test_how_far_a_product_ranges_and_how_large_it_gets_by_hand() -> None:
    """One factor of 10 ranges over 2, the other of 5 over 3: 10 times 3 is the wider range."""
    one, other = FeatureReference("cf", 0, span=2.0, size=10.0), FeatureReference("cf", 1, 3.0, 5.0)
    product = Arithmetic.of(one, [("*", other)])
    assert (product.span, product.size) == (30.0, 50.0)


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


def test_features_of_one_level_can_be_compared() -> None:
    frame = pd.DataFrame({"land": ["at", "at"], "birth": ["at", "at"]})
    features = [Categorical(name, ("at",), action="fixed") for name in frame]
    codec = Codec.fit(Schema(features), frame)
    rows = codec.encode(frame)
    assert Rule.parse("cf.land == x.birth", codec).holds(rows, rows).tolist() == [True, True]


def test_what_is_no_array_of_real_numbers_is_called_by_its_name() -> None:
    rule, rows = Rule.parse("cf.hours > 3", CODEC), CODEC.encode(TRAINING)
    with pytest.raises(RuleError, match=r"^factual is .*; expected an array of real numbers"):
        rule.violation(rows.astype(np.complex128), rows)
    with pytest.raises(RuleError, match=r"^rows is .*; expected an array of real numbers"):
        rule.violation(rows, rows.astype(np.complex128))
    with pytest.raises(RuleError, match=r"^rows is .*; expected an ndarray"):
        rule.violation(rows, rows.tolist())
