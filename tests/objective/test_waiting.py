"""The clock: who leads, and how far time moves the others."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proce.causal import CausalGraph, StructuralCausalModel
from proce.objective import CallLimits, Clock
from proce.schema import Action, Codec, Continuous, Schema
from proce.schema.features.feature import YEARS_PER_UNIT, time_unit


def codec_of(*features: Continuous) -> Codec:
    frame = pd.DataFrame({feature.name: [0.0, 100.0] for feature in features})
    return Codec.fit(Schema(features), frame)


YEARS = Continuous("age", (0, 100), step=1, action=Action.WAITS)
MONTHS = Continuous("months", (0, 100), step=1, action=Action.WAITS, unit="months")
WEEKS = Continuous("weeks", (0, 100), action=Action.WAITS, unit="weeks")
PAY = Continuous("pay", (0, 100), step=1)


def test_the_longest_step_leads_whatever_the_order() -> None:
    codec = codec_of(PAY, MONTHS, WEEKS, YEARS)
    clock = Clock.of(codec)
    assert (clock.lead, clock.others) == (3, (1, 2))


def test_without_a_feature_that_waits_there_is_no_clock() -> None:
    assert not Clock.of(codec_of(PAY)).names
    hidden = Continuous("age", (0, 100), step=1, action=Action.WAITS, protected=True)
    assert not Clock.of(codec_of(PAY, hidden)).names


@given(passed=st.integers(0, 5), age=st.integers(0, 90), months=st.integers(0, 30))
def test_a_year_is_twelve_months(passed: int, age: int, months: int) -> None:
    codec = codec_of(YEARS, MONTHS, PAY)
    clock = Clock.of(codec)
    factual = codec.to_unit(np.array([[age, months, 7.0]], dtype=np.float64))
    rows = factual[:, None].copy()
    rows[0, 0, 0] += passed / 100
    moved = codec.to_raw(clock.advance(rows, factual))[0, 0].tolist()
    assert moved == pytest.approx([age + passed, months + 12 * passed, 7])


def test_limits_open_by_the_time_that_all_features_have_left() -> None:
    """Months end at 100: of 76 there are two years left, of 4 the five that are allowed."""
    codec = codec_of(YEARS, MONTHS, PAY)
    clock = Clock.of(codec)
    raw = np.array([[30.0, 76.0, 5.0], [30.0, 4.0, 5.0], [100.0, 4.0, 5.0]])
    factual = codec.to_unit(raw)
    call = CallLimits.read(codec)
    limits = clock.open(call.of_rows(codec, factual), call, codec, factual, max_years=5)
    ends = codec.to_raw(limits.upper)[:, 0]
    assert ends.tolist() == pytest.approx([32, 35, 100])
    assert limits.movable[:, 0].tolist() == [True, True, False]
    assert not limits.movable[:, 1].any()


def test_units_of_time_have_many_spellings() -> None:
    assert [time_unit(text) for text in ("years", "Yrs.", "month", " days ", None)] == [
        *("year", "year", "month", "day", "year")
    ]
    assert time_unit("km") is None
    assert YEARS_PER_UNIT["month"] == pytest.approx(1 / 12)


def test_a_feature_moves_by_whole_steps_however_long_a_year_is() -> None:
    """A year has 52.18 weeks; without a step they pass as they are."""
    whole = Continuous("weeks", (0, 5000), step=1, action=Action.WAITS, unit="weeks")
    for weeks in (whole, replace(whole, step=None)):
        codec = codec_of(YEARS, weeks)
        clock = Clock.of(codec)
        factual = codec.to_unit(np.array([[30.0, 10.0]]))
        rows = factual[:, None].copy()
        rows[0, 0, 0] += 3 / 100
        moved = codec.to_raw(clock.advance(rows, factual))[0, 0, 1].item()
        exactly = 10 + 3 * 365.25 / 7
        assert moved == pytest.approx(round(exactly) if weeks is whole else exactly)


def test_what_waits_with_the_lead_follows_and_costs_nothing() -> None:
    codec = codec_of(YEARS, MONTHS, PAY)
    clock = Clock.of(codec)
    effort = np.array([2.0, 3.0, 5.0])
    assert clock.weigh(effort, max_years=10).tolist() == pytest.approx([2 * 100 / 10, 0.0, 5.0])
    assert effort.tolist() == [2.0, 3.0, 5.0]
    by_hand = np.array([[True, False, False], [False, True, True]])
    assert clock.with_others(by_hand).tolist() == [[True, True, False], [False, False, True]]
    assert by_hand.tolist() == [[True, False, False], [False, True, True]]


def test_time_is_one_action_and_what_it_moves_a_consequence() -> None:
    codec = codec_of(YEARS, MONTHS, PAY)
    clock = Clock.of(codec)
    factual = np.array([[0.3, 0.4, 0.5]])
    rows, every = factual[:, None] + [0.01, 0.0, 0.1], np.ones((1, 1, 3), np.bool_)
    told = clock.follow(None, codec, factual, rows, None, every)
    assert told.point.ravel().tolist() == pytest.approx([0.31, 0.52, 0.6])
    assert told.acted_on.tolist() == [[[True, False, True]]]
    assert told.consequence.tolist() == [[[False, True, False]]]
    assert told.expected.ravel().tolist() == pytest.approx([0.3, 0.52, 0.5])


@pytest.mark.parametrize("has_equations", [False, True])
def test_a_change_that_is_too_small_to_count_is_taken_back_whatever_the_mode(
    has_equations: bool,
) -> None:
    amount = Continuous("amount", (0, 500))
    frame = pd.DataFrame({"amount": np.linspace(0, 500, 1001), "age": np.linspace(0, 100, 1001)})
    codec = Codec.fit(Schema([amount, YEARS]), frame, scale="bulk")
    step = codec.grid[1][0].item()
    assert 1e-4 < step < 2.5e-4
    scm = StructuralCausalModel(CausalGraph([]), {}, codec) if has_equations else None
    factual = np.array([[0.5, 0.5]])
    rows = factual + np.array([[[2 * step, 0.0], [3 * step, 0.0]]])
    every = np.ones(rows.shape, np.bool_)
    told = Clock.of(codec).follow(scm, codec, factual, rows, np.empty((1, 0)), every)
    assert told.acted_on.tolist() == [[[False, False], [True, False]]]
    assert told.point.tolist() == [[[0.5, 0.5], rows[0, 1].tolist()]]
    assert not (told.held | told.consequence | told.outside).any()


def test_who_names_a_feature_that_waits_says_how_much_time_passes() -> None:
    codec = codec_of(YEARS, MONTHS, WEEKS, PAY)
    clock = Clock.of(codec)
    by_months = clock.told_by([1, 3])
    assert (by_months.lead, by_months.others) == (1, (0, 2))
    assert (clock.told_by([0, 1]).lead, clock.told_by([0, 1]).others) == (0, (2,))
    assert (clock.told_by([3]).lead, clock.told_by([3]).others) == (0, (1, 2))


def test_a_number_that_is_told_to_round_values_moves_onto_them() -> None:
    """On the scale of the bulk, weeks from 0 to 5000 are told to whole tens or so."""
    weeks = Continuous("weeks", (0, 5000), action=Action.WAITS, unit="weeks")
    frame = pd.DataFrame({"age": [0.0, 100.0] * 50, "weeks": [0.0, 5000.0] * 50})
    codec = Codec.fit(Schema([YEARS, weeks]), frame, scale="bulk")
    step = codec.resolution[1].item()
    assert step > 0
    clock = Clock.of(codec)
    factual = codec.to_unit(np.array([[30.0, 11.3]]))
    rows = factual[:, None].copy()
    rows[0, 0, 0] += 3 / 100
    moved = codec.to_raw(clock.advance(rows, factual))[0, 0, 1].item()
    assert moved == pytest.approx(round((11.3 + 3 * 365.25 / 7) / step) * step)


def test_time_that_is_too_short_to_count_leaves_a_value_as_it_is() -> None:
    """An age is told to hundredths, and less than a thirty-second of a year is no change of it."""
    weeks = Continuous("weeks", (0, 500), step=1, action=Action.WAITS, unit="weeks")
    age = Continuous("age", (18, 80), action=Action.WAITS)
    frame = pd.DataFrame({"age": [18.0, 80.0] * 50, "weeks": [0.0, 500.0] * 50})
    codec = Codec.fit(Schema([age, weeks]), frame, scale="bulk")
    assert codec.resolution.tolist() == [0.01, 1.0]
    clock = Clock.of(codec)
    assert clock is not None
    assert clock.lead == 1
    factual = codec.to_unit(np.array([[41.237, 10.0]]))
    later = codec.to_unit(np.array([[[41.237, 10.0 + passed] for passed in range(3)]]))
    moved = codec.to_raw(clock.advance(later, factual))[0, :, 0].tolist()
    assert moved == pytest.approx([41.237, 41.237, 41.28], abs=1e-12)
