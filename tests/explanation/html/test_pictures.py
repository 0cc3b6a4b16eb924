"""Pictures of a row: the decision as a gauge, each change among the training rows."""

import math
from dataclasses import replace

import pytest

from proce.explanation import Explanation, Outcome
from proce.explanation.html.pictures import Gauge, Strip, gauge_of, legend_of, strip_of
from proce.explanation.record.context import spread_of
from proce.explanation.row_view import StepView, row_view

from ...explained import Way
from .. import samples
from ..samples import CHANGE_JOB, CODEC, RAISE_SAVINGS, explanation, people

CONTEXT = samples.context(spread=spread_of(CODEC, CODEC.encode(people())))


def drawn(item: Explanation) -> Gauge:
    gauge = gauge_of(row_view(item))
    assert gauge is not None
    return gauge


def marks(item: Explanation) -> list[tuple[str, float, str]]:
    return [(mark.kind, round(mark.place, 6), mark.text) for mark in drawn(item).marks]


def test_a_way_leads_from_now_to_then() -> None:
    item = explanation(CHANGE_JOB)
    assert marks(item) == [
        ("then", 0.62, "then 62%"),
        ("now", 0.31, "now 31%"),
        ("line", 0.5, "50% decides"),
        ("line", 0.6, "60% aimed for"),
    ]
    assert (drawn(item).start, drawn(item).end, drawn(item).goal) == (0.31, 0.62, 0.5)


def test_the_picture_is_told_to_those_who_cannot_see_it() -> None:
    label = "The probability of approved: now 31%, 50% decides, 60% aimed for, then 62%"
    assert drawn(explanation(CHANGE_JOB)).label == label


def test_what_was_asked_for_is_left_out_where_it_is_what_decides() -> None:
    item = explanation(CHANGE_JOB, shared=samples.context(needed=(0.5, 0.5)))
    assert [text for kind, _, text in marks(item) if kind == "line"] == ["50% decides"]


def test_the_threshold_of_a_model_is_where_it_decides() -> None:
    item = explanation(CHANGE_JOB, shared=samples.context(threshold=0.3, needed=(0.8, 0.4)))
    lines = [text for kind, _, text in marks(item) if kind == "line"]
    assert lines == ["30% decides", "40% aimed for"]


def test_a_narrow_pass_does_not_read_as_what_was_asked_for() -> None:
    item = explanation(CHANGE_JOB, probabilities=[0.5999], margin_met=False)
    assert marks(item)[0][2] == "then 59.99%"


def test_where_nothing_was_found_the_closest_attempt_is_shown() -> None:
    item = explanation(row=2, diagnosis=samples.diagnosis())
    assert marks(item)[0] == ("near", 0.43, "closest 43%")
    assert drawn(item).start == drawn(item).end  # there is no way to draw


def test_an_attempt_that_came_no_nearer_is_not_shown() -> None:
    diagnosis = replace(samples.diagnosis(), probability=0.31)
    assert "near" not in [kind for kind, _, _ in marks(explanation(row=2, diagnosis=diagnosis))]


def test_who_is_there_was_asked_for_nothing() -> None:
    item = explanation(row=1, outcome=Outcome.ALREADY_TARGET, probability=0.7, predicted=1)
    assert marks(item) == [("now", 0.7, "now 70%"), ("line", 0.5, "50% decides")]


def test_of_several_classes_no_one_probability_decides() -> None:
    shared = samples.context(classes=("a", "b", "c"), needed=(0.0, 0.0, 0.0), lead=0.1)
    item = explanation(CHANGE_JOB, shared=shared)
    assert [kind for kind, _, _ in marks(item)] == ["then", "now"]
    assert drawn(item).goal == 1


def test_an_unknown_probability_is_not_drawn() -> None:
    assert gauge_of(row_view(explanation(probability=math.nan))) is None


@pytest.mark.parametrize(("before", "after"), [(0.0, 0.02), (0.97, 1.0), (0.59, 0.61)])
def test_no_two_labels_are_on_one_line(before: float, after: float) -> None:
    item = explanation(CHANGE_JOB, probability=before, probabilities=[after])
    places = [mark.y for mark in drawn(item).marks]
    assert len(set(places)) == len(places)
    assert max(places) < drawn(item).height


def test_labels_stand_on_the_side_where_no_line_crosses_them() -> None:
    sides = {mark.text: mark.anchor for mark in drawn(explanation(CHANGE_JOB)).marks}
    assert sides["now 31%"] == "end"  # what decides is on its right
    assert (sides["50% decides"], sides["60% aimed for"]) == ("end", "start")
    there = explanation(row=1, outcome=Outcome.ALREADY_TARGET, probability=0.52, predicted=1)
    assert [mark.anchor for mark in drawn(there).marks] == ["start", "end"]


def steps(way: Way) -> dict[str, StepView]:
    (told,) = row_view(explanation(way, shared=CONTEXT)).ways
    return {step.change.name: step for step in told.steps}


def strip(way: Way, name: str) -> Strip:
    drawn = strip_of(steps(way)[name].change, CONTEXT)
    assert drawn is not None
    return drawn


def test_an_action_lies_between_the_ends_of_the_data() -> None:
    drawn = strip(RAISE_SAVINGS, "savings")
    assert (drawn.kind, drawn.low, drawn.high) == ("action", "0", "90,000")
    assert drawn.now == pytest.approx(2_000 / 90_000)
    assert drawn.after == pytest.approx(3_500 / 90_000)
    assert drawn.label == "savings on its way from 2,000 to 3,500"


def test_bands_hold_nine_of_ten_rows_and_the_middle_half() -> None:
    drawn = strip(RAISE_SAVINGS, "savings")
    assert drawn.most == (0.0, 1.0)
    assert drawn.half == (pytest.approx(700 / 90_000), pytest.approx(12_000 / 90_000))


def test_the_ends_are_told_on_the_step_inside_of_them() -> None:
    """A line from −3,340.478 to 90,000.129, told in hundredths as the data are."""
    position = CODEC.schema.position("savings")
    low, span, resolution = CODEC.low.copy(), CODEC.span.copy(), CODEC.resolution.copy()
    low[position], span[position], resolution[position] = -3_340.478, 93_340.607, 0.01
    codec = replace(CODEC, low=low, span=span, resolution=resolution)
    drawn = strip_of(steps(RAISE_SAVINGS)["savings"].change, replace(CONTEXT, codec=codec))
    assert drawn is not None
    assert (drawn.low, drawn.high) == ("−3,340.47", "90,000.12")


def test_a_hold_shows_where_it_would_go() -> None:
    drawn = strip(RAISE_SAVINGS, "amount")
    assert drawn.kind == "hold"
    assert drawn.after == pytest.approx((27_000 - 1_000) / 49_000)


def test_levels_with_an_order_stand_on_a_line_and_others_do_not() -> None:
    drawn = strip({"education": ("action", "master")}, "education")
    assert (drawn.now, drawn.after, drawn.most) == (0, 1, None)
    assert (drawn.low, drawn.high) == ('"school"', '"master"')
    job = steps(CHANGE_JOB)["job"]
    assert strip_of(job.change, CONTEXT) is None
    assert ("share of the training rows", "40% → 40%") in job.facts


def test_an_outlier_stands_just_outside() -> None:
    assert strip({"savings": ("action", 100_000)}, "savings").after == pytest.approx(1.02)


def test_the_legend_explains_what_there_is() -> None:
    number, hold = strip(RAISE_SAVINGS, "savings"), strip(RAISE_SAVINGS, "amount")
    level = strip({"education": ("action", "master")}, "education")
    assert legend_of([]) == ""
    assert "band" not in legend_of([level])
    assert "band" in legend_of([level, number])
    assert "cross" not in legend_of([number])
    assert "cross" in legend_of([hold])
