"""What is told of a row: one view, from which report, page, notebook and letter are drawn."""

from dataclasses import replace
from typing import Any

import pytest

from proce.explanation.row_view import row_view, row_views

from . import samples
from .samples import CHANGE_JOB, RAISE_SAVINGS, everything, explanation


def test_the_first_way_is_the_recommended_one_and_actions_come_first() -> None:
    view = row_view(explanation(RAISE_SAVINGS, CHANGE_JOB))
    assert view.recommended is view.ways[0]
    assert [way.rank for way in view.ways] == [1, 2]
    assert [(step.change.name, step.change.kind) for step in view.ways[0].steps] == [
        ("savings", "action"),
        ("amount", "hold"),
        ("credit_score", "consequence"),
    ]


def test_the_words_are_those_of_the_sentences() -> None:
    for item, view in zip(everything(), row_views(everything().rows), strict=True):
        assert [line.text for line in view.lines] == item.sentences()
        for way in view.ways:
            assert [line.text for line in way.lines] == item.sentences(way.rank)
            assert [step.sentence for step in way.actions] == way.texts("action")


def test_a_probability_short_of_the_aim_does_not_read_as_the_aim() -> None:
    (way,) = row_view(explanation(CHANGE_JOB, probabilities=[0.5999], margin_met=False)).ways
    assert way.reached == "59.99%"


@pytest.mark.parametrize("value", [10**400, [1], float("inf")])
def test_what_a_text_from_elsewhere_calls_the_closest_miss_is_shown_as_it_is(value: Any) -> None:
    miss = replace(samples.diagnosis(), closest_miss={"savings": value, "planet": "mars"})
    diagnosis = row_view(explanation(row=2, diagnosis=miss)).diagnosis
    assert diagnosis is not None
    told = [(difference.label, difference.after_text) for difference in diagnosis.differences]
    assert told == [("savings", str(value)), ("planet", "mars")]


def test_only_what_the_closest_miss_names_is_different() -> None:
    diagnosis = row_view(explanation(row=2, diagnosis=samples.diagnosis())).diagnosis
    assert diagnosis is not None
    assert [difference.name for difference in diagnosis.differences] == ["savings", "job", "ratio"]
