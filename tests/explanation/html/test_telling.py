"""What the report tells of ways: every action, where each holds, and what is common once."""

from typing import Any

from proce.explanation.html.report import page_of_row, page_of_rows

from .. import samples
from ..samples import CHANGE_JOB, everything, explanation
from .parsed import Page


def test_what_is_the_same_for_all_rows_is_said_once() -> None:
    page = Page(page_of_rows(everything()))
    for sentence in (
        "Held fixed by the schema: sex.",
        "Never acted on, by the schema, but may follow: credit score.",
        "This describes what the model says at these values; it is not a promise.",
    ):
        assert page.text.count(sentence) == 1
    assert page.text.index("What is true of all of them") < page.text.index("What to do")
    assert "Held fixed by the schema: sex." in Page(page_of_row(explanation(CHANGE_JOB))).text


def test_the_page_shows_where_an_action_holds() -> None:
    held = samples.holds(savings=(3_400, 9_000, "none"))
    page = Page(page_of_row(explanation({"savings": ("action", 3_500)}, intervals=held)))
    assert "Raise savings from 2,000 to between 3,500 and 9,000." in page.text
    assert "today's model decides so between" in page.text
    assert "3,400 and 9,000" in page.text
    assert "today's model decides so between" not in Page(page_of_row(explanation(CHANGE_JOB))).text


def test_a_single_value_is_no_interval() -> None:
    ends = samples.holds(savings=(3_500, 3_500, "none"))
    page = Page(page_of_row(explanation({"savings": ("action", 3_500)}, intervals=ends)))
    assert "today's model decides so at 3,500 alone" in page.text
    assert "3,500 and 3,500" not in page.text


def test_every_action_is_shown_and_many_ways_are_folded_away_and_counted() -> None:
    way: Any = {
        "savings": ("action", 3_500),
        "ratio": ("action", 0.9),
        "education": ("action", "master"),
        "job": ("action", "office"),
        "owns_car": ("action", True),
        "amount": ("action", 1_000),
    }
    page = Page(page_of_row(explanation(way, *[CHANGE_JOB] * 5)))
    assert "2 more Way 5: approved with" in page.text
    what_to_do = page.text.split("What to do")[1].split("This describes")[0]
    assert what_to_do.count(" from ") == 6
