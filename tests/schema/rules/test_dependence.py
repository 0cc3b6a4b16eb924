"""``causes ~> effect``: the effect follows its mechanism; 2e-3 of the range counts as moving."""

import math

import numpy as np
import pandas as pd
import pytest

from proce.arrays import Array
from proce.errors import RuleError
from proce.schema import Categorical, Codec, Continuous, Ordinal, Rule, Schema

SCHEMA = Schema(
    [
        Continuous("LSAT"),
        Continuous("UGPA"),
        Continuous("ZFYA"),
        Ordinal("tier", (1, 2, 3, 4, 5)),
        Categorical("sex", ("f", "m")),
    ]
)
TRAINING = pd.DataFrame(
    {
        "LSAT": [120.0, 180.0],
        "UGPA": [0.0, 4.0],
        "ZFYA": [-3.0, 3.0],
        "tier": [1, 5],
        "sex": ["f", "m"],
    }
)
CODEC = Codec.fit(SCHEMA, TRAINING)
RULE = Rule.parse("LSAT, UGPA ~> ZFYA", CODEC)
FACTUAL = np.array([[0.5, 0.5, 0.5, 2.0, 0.0]], dtype=np.float64)


def grows(rows: Array) -> Array:
    """Half a mark for each of the two."""
    return (rows[..., 0] + rows[..., 1]) / 2


MECHANISMS = {"ZFYA": grows, "tier": grows}


def candidate(**changes: float) -> Array:
    """Return the factual row with some entries moved on the unit range."""
    row = FACTUAL.copy()
    for name, change in changes.items():
        row[:, SCHEMA.position(name)] += change
    return row


def violation(rule: Rule, **changes: float) -> float:
    """Return the violation by the factual row, moved."""
    return float(rule.violation(FACTUAL, candidate(**changes), MECHANISMS).item())


def test_cause_and_effect_are_read_in_both_rows() -> None:
    rule = Rule.parse("LSAT, UGPA ~> ZFYA", CODEC)
    read = {(reference.row, reference.position) for reference in rule.tree.references}
    assert read == {(row, position) for row in ("x", "cf") for position in (0, 1, 2)}


def test_the_effect_must_move_the_way_its_mechanism_says() -> None:
    assert violation(RULE, LSAT=0.2, ZFYA=0.1) == 0
    assert violation(RULE, LSAT=0.2) == pytest.approx(2e-3)
    assert violation(RULE, LSAT=0.2, ZFYA=-0.1) == pytest.approx(2e-3 + 0.1)
    assert violation(RULE, LSAT=-0.2, ZFYA=-0.1) == 0
    assert violation(RULE, LSAT=-0.2, ZFYA=0.1) == pytest.approx(2e-3 + 0.1)


def test_two_thousandths_of_the_range_are_enough() -> None:
    assert violation(RULE, LSAT=0.2, ZFYA=2e-3) == 0
    assert violation(RULE, LSAT=0.2, ZFYA=2e-3 - 1e-12) == 0
    assert violation(RULE, LSAT=0.2, ZFYA=1.9e-3) == pytest.approx(1e-4)


def test_the_effect_must_rest_where_its_mechanism_rests() -> None:
    assert violation(RULE) == 0
    assert violation(RULE, LSAT=0.2, UGPA=-0.2) == 0
    assert violation(RULE, LSAT=0.2, UGPA=-0.2, ZFYA=0.3) == pytest.approx(0.3)
    assert violation(RULE, ZFYA=-0.3) == pytest.approx(0.3)


def test_what_the_mechanism_rounds_is_no_push() -> None:
    assert violation(RULE, LSAT=1e-10) == 0
    assert violation(RULE, LSAT=1e-10, ZFYA=0.3) == pytest.approx(0.3)


def test_an_ordinal_effect_moves_by_its_share_of_the_ranks() -> None:
    rule = Rule.parse("LSAT ~> tier", CODEC)
    assert violation(rule, LSAT=0.2, tier=1) == 0
    assert violation(rule, LSAT=0.2, tier=-2) == pytest.approx(2e-3 + 2 / 4)
    assert violation(rule, tier=1) == pytest.approx(1 / 4)


def test_nothing_is_asked_where_the_effect_or_a_cause_is_missing() -> None:
    rule = Rule.parse("LSAT, sex ~> ZFYA", CODEC)
    for name, gone in (("LSAT", math.nan), ("ZFYA", math.nan), ("sex", -1.0)):
        absent = candidate(LSAT=0.2, ZFYA=-0.1)
        absent[:, SCHEMA.position(name)] = gone
        assert rule.violation(FACTUAL, absent, MECHANISMS).item() == 0
        assert rule.violation(absent, FACTUAL, MECHANISMS).item() == 0


def test_nothing_is_asked_where_the_mechanism_cannot_tell() -> None:
    """All parents of the effect enter its mechanism, and one that is not named may be missing."""
    rule = Rule.parse("LSAT ~> ZFYA", CODEC)
    rows = candidate(LSAT=0.2, ZFYA=-0.1)
    rows[:, 1] = math.nan
    assert rule.violation(FACTUAL, rows, MECHANISMS).item() == 0


def test_nothing_infinite_leaves_a_rule() -> None:
    for factual in (FACTUAL, candidate(ZFYA=math.inf)):
        lacking = RULE.violation(factual, candidate(LSAT=0.2, ZFYA=math.inf), MECHANISMS)
        assert np.isfinite(lacking).all()


def test_values_below_the_training_range_are_not_missing() -> None:
    factual = candidate(LSAT=-1)
    lacking = RULE.violation(factual, candidate(LSAT=-0.8), MECHANISMS)
    assert lacking.item() == pytest.approx(2e-3)


def test_many_candidates_are_judged_at_once() -> None:
    factual = np.tile(FACTUAL, (2, 1))
    rows = np.stack([candidate(LSAT=0.2, ZFYA=z) for z in (-0.1, 0.0, 0.1)], axis=1)
    rows = np.tile(rows, (2, 1, 1))
    lacking = RULE.violation(factual, rows, MECHANISMS)
    assert lacking.tolist() == [pytest.approx([0.102, 0.002, 0])] * 2
    assert np.array_equal(RULE.holds(factual, rows, MECHANISMS), lacking == 0)


def test_names_may_be_quoted() -> None:
    assert Rule.parse("'LSAT', \"UGPA\"~>ZFYA", CODEC).dependence == (("LSAT", "UGPA"), "ZFYA")
    assert RULE.dependence == (("LSAT", "UGPA"), "ZFYA")
    assert RULE.features == ("LSAT", "UGPA", "ZFYA")
    assert Rule.parse(str(RULE), CODEC) == RULE


def test_a_mechanism_that_is_absent_is_named() -> None:
    for call in (RULE.holds, RULE.violation):
        with pytest.raises(RuleError, match="'LSAT, UGPA ~> ZFYA' needs the mechanism of 'ZFYA'"):
            call(FACTUAL, FACTUAL)


def test_a_mechanism_of_the_wrong_shape_is_named() -> None:
    with pytest.raises(RuleError, match=r"'ZFYA' gave the shape \(\) for rows \(1, 5\)"):
        RULE.violation(FACTUAL, FACTUAL, {"ZFYA": np.sum})
