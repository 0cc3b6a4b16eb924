"""The report: whole, safe, readable by everybody, and the same words as elsewhere."""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import combinations, pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from proce.errors import FileError, SearchError
from proce.explanation import Explanation, Explanations
from proce.explanation.html.report import page_of_row, page_of_rows
from proce.explanation.words.sentences import lines

from .. import samples
from ..samples import CHANGE_JOB, RAISE_SAVINGS, everything, explanation, explanations, people
from .parsed import Page


def one() -> Explanations:
    """Return one applicant with two ways, a front, and everything that is known of them."""
    shared = samples.context(n_refits=10, n_graphs=50)
    added = np.zeros((2, 8), dtype=np.float64)
    added[:, 0] = 0.31
    item = explanation(
        RAISE_SAVINGS,
        CHANGE_JOB,
        shared=shared,
        front=samples.front(RAISE_SAVINGS, CHANGE_JOB),
        contributions=added,
        refits=[10, 9],
        confidence=[0.99, 0.84],
        support=[46, 40],
    )
    return explanations(item)


@cache
def page_of_one() -> str:
    return page_of_rows(one())


@cache
def page_of_all() -> str:
    return page_of_rows(everything())


def test_that_a_way_is_unsure_is_said_once_and_where_it_is_told() -> None:
    shared = samples.context(n_refits=20)
    item = explanation(RAISE_SAVINGS, shared=shared, refits=[16], confidence=[0.8])
    page = Page(page_of_rows(explanations(item)))
    unsure = "This advice is unsure: about 80 of 100 such pieces of advice would work"
    assert page.text.count(unsure) == 1
    assert page.text.index(unsure) < page.text.index("What is expected to follow")


def test_the_report_of_a_row_uses_the_words_of_its_sentences() -> None:
    page = Page(page_of_one())
    told = [line.text for line in lines(one()[0]) if line.kind != "search"]  # ways are shown
    assert len(told) > 5
    for sentence in told:
        assert sentence in page.text
    for heading in (
        "What to do",
        "What is expected to follow",
        "What was kept fixed",
        "Other ways",
        "Near or likely: the trade-off",
        "What causes what",
        "How sure this is",
        "How this was made",
        "What was asked",
    ):
        assert heading in page.text
    assert (
        "It holds in 46 of 50 graphs learned from this data, and works in 10 of 10 refits of the"
        " equations, if the arrows of the causal graph are right." in page.text
    )
    assert page.text.count("This advice is unsure") == 1
    assert "about 84 of 100 such pieces of advice would work" in page.text  # the other way
    assert "Way 2: approved with 72%" in page.text
    assert 'Change job from "service" to "office".' in page.text
    assert samples.provenance().training_hash in page.text


def test_what_was_asked_is_told_with_the_words_for_classes() -> None:
    shared = samples.context(classes=(0, 1), class_labels={0: "rejected", 1: "approved"})
    asked = replace(samples.provenance(), options={"target": 1, "n": 4, "vary": ["savings"]})
    result = replace(explanations(explanation(RAISE_SAVINGS, shared=shared)), provenance=asked)
    told = Page(page_of_rows(result)).text
    assert "What was asked target approved ways, at most 4 may be acted on savings" in told


def lost() -> Explanation:
    return everything()[2]


def test_a_row_without_a_counterfactual_says_what_blocks_it() -> None:
    page = Page(page_of_rows(everything()[2:3]))
    assert samples.diagnosis().reason in page.text
    assert "What would open a way Without the rule" in page.text
    assert "What is different in the candidate that came nearest" in page.text
    assert "What causes what" not in page.text
    assert "Row cem: no way to approved found" in page.text


def test_many_rows_have_an_overview_first_and_are_bounded_and_counted() -> None:
    page = Page(page_of_rows(everything(), at_most=2))
    assert "5 rows, of which the first 2 are told in full below." in page.text
    for ending in ("2 found", "1 already there", "1 not found", "1 out of time"):
        assert page.text.count(ending) == 1
    ids = [a["id"] for a in page.named("article")]
    assert ids == ["row-0", "row-1"]
    links = {(a["href"] or "")[1:] for a in page.named("a")}
    assert links == set(ids)
    assert page.text.index("All rows") < page.text.index("Row ann")
    with pytest.raises(SearchError, match="at_most is -1"):
        page_of_rows(everything(), at_most=-1)


def test_costs_by_group_are_in_the_overview_when_asked_for() -> None:
    assert "What it costs whom" not in page_of_all()
    page = Page(page_of_rows(everything(), by="sex", at_most=0))
    assert "What it costs whom" in page.text
    assert "A gap is a difference, not its cause." in page.text


@pytest.mark.parametrize(
    "source",
    [page_of_one, page_of_all, lambda: page_of_rows(explanations()), lambda: page_of_row(lost())],
)
def test_the_page_is_accessible(source: Callable[[], str]) -> None:
    page = Page(source())
    assert page.named("html")[0]["lang"] == "en"
    assert len(page.named("title")) == len(page.named("h1")) == len(page.named("main")) == 1
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch(r"h[1-6]", tag)]
    assert all(after - before <= 1 for before, after in pairwise(levels))
    ids = [a["id"] for _, a in page.tags if a.get("id")]
    assert len(ids) == len(set(ids))
    for attributes in page.named("svg"):
        is_named = attributes.get("role") == "img" and attributes["aria-label"]
        is_inside = attributes.get("class") == "cross"
        assert is_named or is_inside or attributes["aria-hidden"] == "true"
    for attributes in page.named("th"):
        assert attributes["scope"] in ("row", "col")
    assert len(page.named("caption")) == len(page.named("table"))
    scrolling = [a for a in page.named("div") if a.get("class") == "wide"]
    for attributes in scrolling:
        assert attributes["tabindex"] == "0"  # what scrolls can be reached by keyboard
        assert attributes["aria-label"]


def test_the_page_needs_nothing_else() -> None:
    source = page_of_all()
    page = Page(source)
    assert not {"script", "link", "iframe", "object", "img"} & {tag for tag, _ in page.tags}
    for _, attributes in page.tags:
        for name in ("src", "href", "xlink:href", "action", "data"):
            assert (attributes.get(name) or "#").startswith(("#", "data:image/png;base64,"))
        assert not any(name.startswith("on") for name in attributes)
    assert not re.findall(r"@import|url\((?!#)", source)


def test_the_page_forbids_the_browser_to_load_anything() -> None:
    policies = [
        attributes["content"]
        for attributes in Page(page_of_one()).named("meta")
        if attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policies == ["default-src 'none'; style-src 'unsafe-inline'; img-src data:"]


def test_it_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "report.html"
    assert lost().save_html(place) == place
    before = place.read_text("utf-8")
    assert before.startswith("<!DOCTYPE html>")

    def fail(*_: Any, **__: Any) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(OSError, match="the disk is full"):
        everything()[2:3].save_html(place, title="another")
    assert place.read_text("utf-8") == before
    assert list(tmp_path.iterdir()) == [place]
    with pytest.raises(FileError, match="does not exist"):
        lost().save_html(tmp_path / "nowhere" / "report.html")


def test_the_same_result_gives_the_same_page() -> None:
    assert page_of_rows(Explanations.from_json(one().to_json())) == page_of_one()


def luminance(colour: str) -> float:
    """Return how light a colour is, as WCAG has it."""
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_words_can_be_read_on_every_ground_light_and_dark() -> None:
    """At least 4.5 to 1, also inside pictures, where checkers of pages do not look."""
    assert luminance("#ffffff") == pytest.approx(1)
    style = page_of_one().split("<style>")[1].split("</style>")[0]
    schemes = [dict(re.findall(r"--(\w+): (#\w{6})", part)) for part in style.split("@media")[:2]]
    assert [len(scheme) for scheme in schemes] == [11, 11]
    for scheme in schemes:
        for ink, ground in (
            *product(("ink", "grey", "blue"), ("paper", "card", "tint")),
            *product(("ink",), ("half", "most", "goal")),
        ):
            light, dark = sorted((luminance(scheme[name]) for name in (ink, ground)), reverse=True)
            assert (light + 0.05) / (dark + 0.05) >= 4.5, (ink, ground, scheme)


def test_no_picture_borrows_a_name_from_another() -> None:
    source = page_of_all()
    names = [set(re.findall(r'id="([^"]+)"', svg)) for svg in source.split("<svg")[1:]]
    assert len(names) > 3
    assert not any(one & other for one, other in combinations(names, 2))
    used = set(re.findall(r'(?:url\(#|xlink:href="#)([^")]+)', source))
    assert used
    assert used <= set.union(*names)


def test_an_index_of_times_names_the_rows() -> None:
    frame = people().set_axis(pd.date_range("2024-01-01", periods=5), axis=0)
    assert "Row 2024-01-01 00:00:00" in Page(page_of_rows(everything(frame=frame)[:1])).text


def test_a_single_way_has_no_trade_off_and_no_arrow_along_which_nothing_follows() -> None:
    told = Page(page_of_rows(explanations(explanation(CHANGE_JOB)))).text
    assert "trade-off" not in told
    assert "Arrows lead from cause to effect; nothing follows from what is done." in told
    told = Page(page_of_rows(explanations(explanation(RAISE_SAVINGS, CHANGE_JOB)))).text
    assert "Near or likely: the trade-off" in told
    assert "along thick ones something follows" in told


def test_which_ways_others_outdo_is_said_once() -> None:
    """Of the front one way has 74% at a distance of 0; the told ones 62% at 0.2 and 72% at 0.4."""
    item = explanation(RAISE_SAVINGS, CHANGE_JOB, front=samples.front(RAISE_SAVINGS))
    told = Page(page_of_rows(explanations(item))).text
    assert "no dot is better than another in everything" in told
    assert "Others are both nearer and likelier than way 2, told for being different." in told
    ways = (RAISE_SAVINGS, CHANGE_JOB, {"ratio": ("action", 0.9)}, CHANGE_JOB)
    chances = [0.62] * 4
    several = explanation(*ways, probabilities=chances, front=samples.front(RAISE_SAVINGS))
    told = Page(page_of_rows(explanations(several))).text
    assert "likelier than ways 2, 3 and 4, told for being different." in told
    assert told.count("being different") == 1
    alone = explanation(RAISE_SAVINGS, CHANGE_JOB)
    assert "nearer and likelier" not in Page(page_of_rows(explanations(alone))).text


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
