"""What rules mean, on examples worked out by hand.

The training rows span 40 years of age, 100,000 of income and 80 hours a week.
"""

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest

from proce.arrays import Array
from proce.errors import RuleError
from proce.schema import Categorical, Codec, Continuous, Ordinal, Rule, Schema

DEGREES = ("School", "HS", "BSc", "PhD")
SCHEMA = Schema(
    [
        Continuous("age", (18, 90), step=1),
        Continuous("income"),
        Continuous("hours per week"),
        Ordinal("education", DEGREES),
        Ordinal("partner_education", DEGREES),
        Categorical("job", ("Clerk", "Engineer", "Unemployed")),
        Categorical("owner", (False, True)),
        Ordinal("grade", (1, 2, 3)),
    ]
)
TRAINING = pd.DataFrame(
    {
        "age": [20, 60],
        "income": [0.0, 100_000.0],
        "hours per week": [0.0, 80.0],
        "education": ["School", "PhD"],
        "partner_education": ["School", "PhD"],
        "job": ["Clerk", "Engineer"],
        "owner": [False, True],
        "grade": [1, 3],
    }
)
CODEC = Codec.fit(SCHEMA, TRAINING)
PERSON: dict[str, Any] = {
    "age": 40,
    "income": 50_000.0,
    "hours per week": 40.0,
    "education": "HS",
    "partner_education": "HS",
    "job": "Clerk",
    "owner": False,
    "grade": 2,
}
MISSING = None


def encoded(**changes: Any) -> Array:
    """Return one person as a row, with some cells changed or missing."""
    row = CODEC.encode(pd.DataFrame([{**PERSON}]))
    for name, value in changes.items():
        position = SCHEMA.position(name)
        feature = SCHEMA[name]
        if isinstance(feature, Continuous):
            raw = float("nan") if value is MISSING else float(value)
            unit = (raw - CODEC.low[position]) / CODEC.span[position]
            row[:, position] = unit
        else:
            row[:, position] = -1 if value is MISSING else feature.levels.index(value)
    return row


def violation(text: str, factual: Array | None = None, **changes: Any) -> float:
    """Return the violation of a rule by the person, changed, as the person's counterfactual."""
    rule = Rule.parse(text, CODEC)
    factual = encoded() if factual is None else factual
    lacking = rule.violation(factual, encoded(**changes))
    assert (rule.holds(factual, encoded(**changes)) == (lacking == 0)).all()
    return float(lacking.item())


def test_a_comparison_of_numbers_lacks_its_gap_as_a_share_of_the_training_range() -> None:
    assert violation("cf.age >= x.age", age=39) == pytest.approx(1 / 40)
    assert violation("cf.age >= x.age", age=30) == pytest.approx(10 / 40)
    assert violation("cf.age >= x.age + 5", age=44) == pytest.approx(1 / 40)
    assert violation("cf.age == 50") == pytest.approx(10 / 40)
    assert violation("x.age <= 30") == pytest.approx(10 / 40)
    assert violation("cf.age >= x.age", age=40) == 0
    assert violation("cf.age >= x.age", age=70) == 0


def test_every_two_neighbours_of_a_longer_comparison_are_compared() -> None:
    assert violation("18 < cf.age < 65") == 0
    assert violation("18 < cf.age < 65", age=18) == pytest.approx(1e-6)
    assert violation("18 < cf.age < 65", age=75) == pytest.approx(10 / 40 + 1e-6)
    assert violation("50 <= cf.age <= 30") == pytest.approx(10 / 40 + 10 / 40)
    assert violation("x.age <= cf.age <= x.age + 5 <= 45", age=44) == 0
    assert violation("30 != cf.age != 40") == pytest.approx(1e-6)
    assert violation("not 18 < cf.age < 65", age=70) == 0
    assert violation("not 18 < cf.age < 65", age=64) == pytest.approx(1 / 40)


@pytest.mark.parametrize("age", [17, 18, 19, 40, 64, 65, 66])
@pytest.mark.parametrize("operators", [("<", "<"), ("<=", "<"), (">", ">="), ("<", "!=")])
def test_a_longer_comparison_means_its_parts_joined_by_and(
    operators: tuple[str, str], age: int
) -> None:
    low, high = operators
    chained = violation(f"18 {low} cf.age {high} 65", age=age)
    assert chained == violation(f"18 {low} cf.age and cf.age {high} 65", age=age)


def test_the_range_follows_the_arithmetic() -> None:
    """Otherwise a share would be measured in dollars, and violations would mean nothing."""
    assert violation("2 * cf.age >= 100") == pytest.approx(20 / 80)
    assert violation("cf.income / 12 <= 4000") == pytest.approx((50_000 / 12 - 4000) / (1e5 / 12))
    assert violation('cf.income / cf["hours per week"] <= 1000') == pytest.approx(250 / 1250)
    assert violation('cf.income * cf["hours per week"] >= 4e6') == pytest.approx(2e6 / 8e6)
    assert violation("cf.income >= cf.age") == 0
    assert violation("cf.age >= cf.income") == pytest.approx((50_000 - 40) / 1e5)


def test_small_ratios_are_told_apart() -> None:
    assert violation('cf["hours per week"] / cf.income <= 0.0008') == 0
    assert violation('cf["hours per week"] / cf.income <= 0.00079999') > 0


def test_strict_comparisons_fail_where_the_sides_are_equal() -> None:
    assert violation("cf.age > x.age") == pytest.approx(1e-6)
    assert violation("cf.age < x.age") == pytest.approx(1e-6)
    assert violation("cf.age != x.age") == pytest.approx(1e-6)
    assert violation("cf.age > x.age", age=30) == pytest.approx(10 / 40 + 1e-6)
    assert violation("cf.age > x.age", age=41) == 0


def test_what_the_codec_rounds_counts_as_equal() -> None:
    assert violation("cf.income == 33333.3", income=33333.3) == 0
    assert violation("cf.income > 33333.3", income=33333.3) > 0
    assert violation("cf.income <= 0.1 + 0.2", income=0.3) == 0
    assert violation("cf.income == 33333.3", income=33333.4) == pytest.approx(1e-6)


def test_stepped_numbers_are_compared_on_their_step() -> None:
    """A whole year that the unit range has shaved is still that year."""
    row = encoded()
    row[:, 0] += 1e-9
    rule = Rule.parse("cf.age / 40 == 1", CODEC)
    assert rule.holds(encoded(), row).item()


def test_arithmetic_binds_as_in_school() -> None:
    assert violation("cf.age == 10 + 2 * 15") == 0
    assert violation("cf.age == (10 + 10) * 2") == 0
    assert violation("cf.age == 100 - 50 - 10") == 0
    assert violation("cf.age == 800 / 10 / 2") == 0
    assert violation("-cf.age + 1 == -39") == 0
    assert violation("cf.age == - -40") == 0
    assert violation("cf.age == 4e1 and cf.age == 40.0") == 0


def test_ordinal_levels_compare_by_order_one_rank_at_a_time() -> None:
    assert violation('cf.education >= "PhD"') == pytest.approx(2 / 3)
    assert violation('"PhD" <= cf.education') == pytest.approx(2 / 3)
    assert violation('cf.education > "BSc"') == pytest.approx(2 / 3)
    assert violation("cf.education > x.education") == pytest.approx(1 / 3)
    assert violation("cf.education != x.education") == pytest.approx(1 / 3)
    assert violation("cf.education <= cf.partner_education", education="PhD") == pytest.approx(
        2 / 3
    )
    assert violation('cf.education < "BSc"') == 0


def test_categorical_levels_are_the_same_or_one_apart() -> None:
    assert violation('cf.job == "Engineer"') == 1
    assert violation('cf.job == "Unemployed"') == 1
    assert violation("cf.job != 'Unemployed'", job="Unemployed") == 1
    assert violation("cf.job == x.job", job="Engineer") == 1
    assert violation("cf.job == x.job") == 0


def test_flags_and_numbers_can_be_levels() -> None:
    assert violation("cf.owner == true") == 1
    assert violation("cf.owner == false") == 0
    assert violation("cf.grade >= 3") == pytest.approx(1 / 2)
    assert violation("cf.grade == 2") == 0


def test_and_adds_what_is_lacking_and_or_takes_the_least() -> None:
    assert violation("cf.age >= 50 and cf.income >= 60000") == pytest.approx(0.25 + 0.1)
    assert violation("cf.age >= 50 or cf.income >= 60000") == pytest.approx(0.1)
    assert violation("cf.age >= 50 or cf.income >= 40000") == 0


def test_and_binds_tighter_than_or_and_not_tighter_than_both() -> None:
    assert violation("cf.age == 40 or cf.age == 1 and cf.age == 2") == 0
    assert violation("(cf.age == 40 or cf.age == 1) and cf.age == 2") > 0
    assert violation("not cf.age == 1 and cf.age == 40") == 0
    assert violation("not (cf.age == 1 and cf.age == 40)") == 0


def test_not_is_the_opposite_comparison() -> None:
    assert violation("not cf.age < 50") == violation("cf.age >= 50") == pytest.approx(0.25)
    assert violation("not cf.age <= 40") == violation("cf.age > 40")
    assert violation("not (cf.age < 50 or cf.income > 40000)") == pytest.approx(0.25 + 0.1)
    assert violation("not (cf.age < 50 and cf.income > 40000)") == pytest.approx(0.1)
    assert violation("not not cf.age >= 50") == violation("cf.age >= 50")


def test_an_implication_asks_for_its_conclusion_only_where_its_premise_is_true() -> None:
    rule = "cf.education > x.education => cf.age >= x.age + 4"
    assert violation(rule) == 0
    assert violation(rule, education="BSc") == pytest.approx(4 / 40)
    assert violation(rule, education="BSc", age=44) == 0
    assert violation(f"not ({rule})", education="BSc") == 0
    assert violation(f"not ({rule})") == pytest.approx(1 / 3)


def test_implications_group_from_the_right() -> None:
    chained = "cf.age == 1 => cf.age == 40 => cf.age == 2"
    assert violation(chained) == 0
    assert violation("(cf.age == 1 => cf.age == 40) => cf.age == 50") == pytest.approx(0.25)
    assert violation("cf.age == 40 => cf.age == 40 => cf.age == 50") == pytest.approx(0.25)


def test_a_missing_value_blocks_nothing_negated_or_not() -> None:
    for text in ("cf.age >= 50", "cf.age == x.age", "not cf.age >= 50", "cf.age / 0.5 > 90"):
        assert violation(text, age=MISSING) == 0
        assert violation(text.replace("cf.", "x."), factual=encoded(age=MISSING)) == 0
    assert violation('cf.job == "Engineer"', job=MISSING) == 0
    assert violation('cf.education > "BSc"', education=MISSING) == 0


def test_a_missing_value_does_not_excuse_the_rest_of_the_rule() -> None:
    assert violation("cf.age >= 50 and cf.income >= 60000", age=MISSING) == pytest.approx(0.1)
    assert violation("cf.age >= 50 => cf.income >= 60000", age=MISSING) == 0
    assert violation("cf.income > 1 => cf.age >= 50 => cf.income >= 60000", age=MISSING) == 0


def test_a_comparison_that_divides_by_zero_is_false() -> None:
    ratio = 'cf.income / cf["hours per week"]'
    zero = {"hours per week": 0}
    for operator in ("<", "<=", ">", ">=", "==", "!="):
        assert violation(f"{ratio} {operator} 1", **zero) == 1
        assert violation(f"not {ratio} {operator} 1", **zero) == 0
    assert violation(f"1 / ({ratio}) < 1", **zero) == 1
    assert violation(f"{ratio} < 1", income=MISSING, **zero) == 0
    assert violation('1 / (cf["hours per week"] - 0.1 - 0.2) > 1', **{"hours per week": 0.3}) == 1


def test_nothing_infinite_leaves_a_rule() -> None:
    large = ("cf.income * 1e308 * 1e308 < 1", "cf.income * 1e306 < -1e307", "cf.income < 1")
    for text in (*large, "1 / (cf.income * 1e308) < 1", "cf.income * 1e-300 < -1e300"):
        for income in (1e5, 1e300, float("inf")):
            assert 0 < violation(text, income=income) < float("inf")


def test_many_candidates_are_judged_at_once() -> None:
    factual = np.concatenate([encoded(age=30), encoded(age=50)])  # (2, f)
    candidates = np.concatenate([encoded(age=age) for age in (20, 40, 60)])  # (3, f)
    rows = np.stack([candidates, candidates])  # (2, 3, f)
    rule = Rule.parse("cf.age >= x.age", CODEC)
    lacking = np.array([[0.25, 0, 0], [0.75, 0.25, 0]], dtype=np.float64)
    np.testing.assert_allclose(rule.violation(factual, rows), lacking, rtol=1e-7, atol=1e-7)
    assert np.array_equal(rule.holds(factual, rows), lacking == 0)
    assert Rule.parse("x.age < 40", CODEC).holds(factual, rows).tolist() == [
        [True] * 3,
        [False] * 3,
    ]
    assert rule.violation(factual, rows[:, :0]).shape == (2, 0)
    assert rule.violation(factual, rows[:, 0]).tolist() == pytest.approx([0.25, 0.75])


def test_rows_are_not_written_to() -> None:
    factual, rows = encoded(), encoded(age=MISSING, job=MISSING)
    kept = rows.copy()
    Rule.parse("cf.age > x.age and cf.job == x.job", CODEC).violation(factual, rows)
    np.testing.assert_allclose(rows, kept, equal_nan=True, rtol=0, atol=0)


def test_rows_of_the_wrong_shape_are_refused() -> None:
    rule = Rule.parse("cf.age >= x.age", CODEC)
    with pytest.raises(RuleError, match=r"\(1, 8\) and candidates \(2, 8\); expected \(i, 8\)"):
        rule.violation(encoded(), np.tile(encoded(), (2, 1)))
    with pytest.raises(RuleError, match=r"candidates \(1, 3\)"):
        rule.violation(encoded(), encoded()[:, :3])


def test_a_rule_knows_its_text_and_its_features() -> None:
    rule = Rule.parse('  cf.job == x.job => cf["hours per week"] <= 60 ', CODEC)
    assert str(rule) == rule.text == 'cf.job == x.job => cf["hours per week"] <= 60'
    assert rule.features == ("hours per week", "job")
    assert rule.dependence is None
    assert rule == Rule.parse(str(rule), CODEC)


def test_a_rule_can_be_sent_to_another_process() -> None:
    rule = pickle.loads(pickle.dumps(Rule.parse("cf.age > x.age", CODEC)))  # noqa: S301
    assert rule.holds(encoded(), encoded(age=41)).item()
