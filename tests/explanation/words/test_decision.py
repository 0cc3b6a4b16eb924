"""A probability is never rounded onto or across the line at which the model decides."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.explanation.samples import context, explanation

from proce.explanation.words.decision import (
    added_points,
    decision_text,
    now_text,
    points_text,
    then_and_now,
)
from proce.explanation.words.values import percents

SAVE = {"savings": ("action", 3_500)}


@pytest.mark.parametrize(
    ("chance", "told"),
    [
        (0.496, "49.6%"),
        (0.504, "50.4%"),
        (0.5, "50%"),
        (0.4996, "49.96%"),
        (0.49999999, "just under 50%"),
        (0.50000001, "just over 50%"),
        (0.31, "31%"),
    ],
)
def test_it_has_as_many_decimals_as_the_decision_needs(chance: float, told: str) -> None:
    assert now_text(explanation(SAVE, probability=chance)) == told


def test_a_threshold_of_the_models_own_is_the_line() -> None:
    shared = context(threshold=0.3)
    assert now_text(explanation(SAVE, shared=shared, probability=0.299)) == "29.9%"
    assert now_text(explanation(SAVE, shared=shared, probability=0.499)) == "50%"
    other_side = explanation(SAVE, shared=shared, probability=0.699, predicted=1, target=0)
    assert now_text(other_side) == "69.9%"


def test_the_decision_does_not_contradict_its_probability() -> None:
    told = decision_text(explanation(SAVE, probability=0.496))
    assert told.startswith("The model says rejected; the probability of approved is 49.6%.")


def test_what_is_asked_for_beyond_the_decision_is_told_beside_it() -> None:
    told = decision_text(explanation(SAVE, shared=context(needed=(0.6, 0.6))))
    assert told.endswith("with a probability of at least 60% (50% decides).")


@given(st.floats(0, 1), st.floats(0.05, 0.95))
@example(0.4 - 1e-11, 0.4)
def test_a_share_reads_as_the_line_only_where_it_is_there(share: float, line: float) -> None:
    line = round(line, 2)
    (text,) = percents(share, line=line)
    if abs(share - line) > 1e-12:
        assert text != percents(line)[0]
        number = float(text.rstrip("%").split()[-1])
        if text[0].isdigit():
            assert (number < 100 * line) == (share < line)


def test_before_and_after_read_differently() -> None:
    close = explanation(SAVE, probability=0.6181)
    assert len(set(then_and_now(close))) == 2


@pytest.mark.parametrize(
    ("share", "told"),
    [(0.01, "+1 point"), (-0.01, "−1 point"), (0.2, "+20 points"), (0.001, "under 1 point")],
)
def test_points_agree_with_their_number(share: float, told: str) -> None:
    assert added_points(share) == told
    assert added_points(0.0) == "none"
    assert points_text(0.0) == ""
