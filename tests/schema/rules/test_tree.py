"""What counts as one where quantities are multiplied and divided."""

import pandas as pd
import pytest

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
