"""The report in a real browser: on a telephone, on a wide screen, in the dark and on paper."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import Browser, Page

from proce.explanation import Explanations, Outcome
from proce.explanation.html.report import page_of_rows
from proce.schema import Codec, Layout, Schema

from ...chromium import launched
from ...explained import explained_row
from ...server.page.steps import axe
from .. import samples
from ..samples import CODEC, RAISE_SAVINGS, SCHEMA, everything, explanation, explanations, people
from .layout import faults_of, scrolled_parts

WIDTHS = (320, 360, 800, 1280, 1600)
PAPER = 180 * 96 // 25  # pixels between the margins of A4


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Debian's Chromium."""
    with launched() as browser:
        yield browser


def opened(browser: Browser, source: str, **options: Any) -> Page:
    """Return a page of the browser that shows a report; it must ask for nothing."""
    page = browser.new_context(**options).new_page()
    page.on("request", lambda request: pytest.fail(f"asked for {request.url}"))
    page.set_content(source)
    return page


def relabelled(words: str, unit: str | None = None) -> Explanations:
    """Return applicants whose features, levels, classes and index are given words."""
    schema = SCHEMA
    for number, feature in enumerate(SCHEMA):
        schema = schema.edit(feature.name, label=f"{words} {number}")
    schema = schema.edit("savings", unit=unit).edit(
        "job", labels={level: f"{words} {level}" for level in ("service", "office", "none")}
    )
    shared = samples.context(
        codec=replace(CODEC, schema=schema),
        class_labels={"rejected": f"{words} no", "approved": f"{words} yes"},
        rules=(f"cf.savings >= 1  # {words}",),
    )
    frame = people().set_axis([f"{words} {number}" for number in range(5)], axis=0)
    return everything(frame=frame, shared=shared)


def many_features() -> Explanations:
    """Return a row of 120 features, all of which change."""
    frame = pd.DataFrame({f"feature_{n}": [0.0, 1.0, 2.0] for n in range(120)})
    codec = Codec.fit(Schema.infer(frame), frame)
    factual = codec.encode(frame)[0]
    changes = np.ones((1, 120), dtype=np.int8)
    changes[0, 60:] = 3
    item = explained_row(
        samples.context(codec=codec, edges=()),
        factual,
        codec.raw_of_frame(frame)[0],
        np.ones((1, 120), dtype=np.float64),
        changes,
        np.array([0.7], dtype=np.float64),
        np.array([[0.3, 0.1, 0.2]], dtype=np.float64),
    )
    return Explanations(item.alone(), Layout.of(frame), samples.provenance())


def chances(before: float, after: float) -> Explanations:
    """Return an applicant whose probability goes from somewhere to somewhere."""
    reached = np.array([after], dtype=np.float64)
    met = after >= 0.6
    return explanations(
        explanation(
            {"job": ("action", "office")},
            probability=before,
            probabilities=reached,
            margin_met=met,
        )
    )


STATES: dict[str, Callable[[], Explanations]] = {
    "all outcomes": everything,
    "long words": lambda: relabelled("the average monthly balance of all accounts in every branch"),
    "one long word": lambda: relabelled("x" * 70),
    "hostile": lambda: relabelled("</style></svg><script>alert(1)</script><img src=x>&amp;\"'"),
    "right to left": lambda: relabelled("الدخل السنوي للأسرة", unit="ريال"),
    "Chinese": lambda: relabelled("过去十二个月的平均账户余额和信用记录", unit="元"),
    "emoji": lambda: relabelled("👩‍👩‍👧‍👦💶🏦", unit="💶"),
    "120 features": many_features,
    "from the low end": lambda: chances(0.0, 0.02),
    "to the high end": lambda: chances(0.97, 1.0),
    "nearly there": lambda: chances(0.499, 0.601),
    "already there": lambda: explanations(
        explanation(row=1, outcome=Outcome.ALREADY_TARGET, probability=1.0, predicted=1)
    ),
}


def test_everything_fits_on_every_screen_and_on_paper(browser: Browser) -> None:
    page = opened(browser, page_of_rows(everything(), by="sex", max_drawn=1))
    assert [fault for width in WIDTHS for fault in faults_of(page, width)] == []
    assert [part for width in WIDTHS[2:] for part in scrolled_parts(page, width)] == []
    page.emulate_media(media="print")
    assert faults_of(page, PAPER) == []
    axe(page)
    page.context.close()


def test_tables_side_by_side_do_not_scroll(browser: Browser) -> None:
    """Few rows have no interval, which takes more words than one; levels have long names."""
    levels = {level: f"{level}, as the employer says" for level in ("service", "office", "none")}
    shared = samples.context(codec=replace(CODEC, schema=SCHEMA.edit("job", labels=levels)))
    rows = [explanation({"job": ("action", "office")}, row=row, shared=shared) for row in (0, 3)]
    page = opened(browser, page_of_rows(explanations(*rows), by="job", at_most=0))
    tops = []
    for width in (1024, 1280, 1400, 1600):
        assert scrolled_parts(page, width) == []
        boxes = [part.bounding_box() for part in page.locator(".tables > section").all()]
        tops.append([box["y"] for box in boxes if box])
    assert tops[0][0] < tops[0][1]
    assert tops[-1][0] == tops[-1][1]
    page.context.close()


def test_what_does_not_fit_is_noticed(browser: Browser) -> None:
    page = opened(browser, page_of_rows(everything(), at_most=0))
    page.evaluate("document.querySelector('h2').style.width = '2000px'")
    assert any("wider than its box" in fault for fault in faults_of(page, 800))
    page.context.close()


def test_paper_is_white_also_where_the_screen_is_dark(browser: Browser) -> None:
    page = opened(browser, page_of_rows(everything(), max_drawn=0), color_scheme="dark")
    ground = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(ground) != "rgb(255, 255, 255)"
    axe(page)
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate(ground) == "rgb(255, 255, 255)"
    page.context.close()


@pytest.mark.slow
@pytest.mark.parametrize("state", STATES)
def test_every_state_fits(browser: Browser, state: str) -> None:
    page = opened(browser, page_of_rows(STATES[state](), max_drawn=1), color_scheme="dark")
    assert [fault for width in WIDTHS for fault in faults_of(page, width)] == []
    axe(page)
    page.emulate_media(media="print")
    assert faults_of(page, PAPER) == []
    page.context.close()


@pytest.mark.slow
def test_a_wide_screen_is_used_and_a_narrow_one_has_one_column(browser: Browser) -> None:
    page = opened(browser, page_of_rows(explanations(explanation(RAISE_SAVINGS))))
    places = {}
    for width in (360, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        boxes = [part.bounding_box() for part in page.locator(".summary > *").all()]
        places[width] = [(box["x"], box["y"]) for box in boxes if box]
    assert places[360][0][0] == places[360][1][0]
    assert places[1280][0][1] == places[1280][1][1]
    page.context.close()


def test_a_telephone_shows_that_tables_go_on_and_keeps_names_from_values(browser: Browser) -> None:
    added = np.full((1, 8), 0.31, dtype=np.float64)
    way = RAISE_SAVINGS | {"ratio": ("action", 0.2)}
    result = explanations(explanation(way, contributions=added), explanation(row=1))
    page = opened(
        browser, page_of_rows(result, max_drawn=0), viewport={"width": 400, "height": 900}
    )
    gap = """facts => {
        const [name, value] = [...facts.children].map(part => part.getBoundingClientRect());
        return name.bottom <= value.top ? Infinity : value.left - name.right; }"""
    facts = page.locator(".steps dl > div").all()
    assert facts
    assert all(each.evaluate(gap) >= 8 for each in facts)
    wide = page.locator(".wide").first
    assert wide.evaluate("part => part.scrollWidth > part.clientWidth")
    assert wide.evaluate("part => getComputedStyle(part).backgroundAttachment").count("local") == 2
    caption = wide.locator("caption > span").bounding_box()
    assert caption is not None
    assert caption["x"] + caption["width"] <= 400
