"""Reports, letters and data are saved; a link restores the view and holds no values."""

import json
import re

import pytest
from playwright.sync_api import Page, expect

from .steps import axe, choose, find, refused

FILES = [
    ("Report", ".html", "<html"),
    ("Letter draft", ".txt", "Draft"),
    ("JSON", ".json", '"format"'),
    ("csv", ".csv", "savings"),
]


def test_an_answer_is_saved_in_each_form(loan_page: Page, rejected: int) -> None:
    page = loan_page
    choose(page, rejected)
    find(page)
    for button, ending, holds in FILES:
        with page.expect_download() as download:
            page.get_by_role("button", name="Export").click()
            page.get_by_role("button", name=button, exact=True).click()
        name = download.value.suggested_filename
        assert name.endswith(ending)
        assert holds in download.value.path().read_text("utf-8")
        expect(page.get_by_text(f"Saved as {name}.")).to_be_visible()


def test_a_link_restores_the_view(loan_page: Page, rejected: int) -> None:
    """The person, the answer, the edited graph, the panel, what was typed and scenarios."""
    page = loan_page
    choose(page, rejected)
    find(page)
    name = page.locator("h1").inner_text()
    page.get_by_role("tab", name="Causes").click()
    page.get_by_role("button", name="Remove savings → debt").click()
    expect(page.get_by_text("edited", exact=True)).to_be_visible()
    page.get_by_role("tab", name="What if").click()
    panel = page.get_by_role("region", name="What if")
    panel.get_by_label("debt", exact=True).fill("100")
    expect(panel.get_by_text("With these values")).to_be_visible()
    panel.get_by_label("Name of the scenario", exact=True).fill("No debt")
    panel.get_by_role("button", name="Keep beside the others").click()
    page.get_by_role("button", name="Copy link").click()
    link = page.get_by_label("Link to this view").input_value()
    axe(page, ".sharing")
    start, _, view = link.partition("#view=")
    assert re.fullmatch(r"[\w-]{16,}", view)
    assert "?" not in start

    page.goto("about:blank")
    page.goto(link)
    expect(page.get_by_role("heading", name=name, level=1)).to_be_visible()
    expect(panel.get_by_label("debt", exact=True)).to_have_value("100")
    expect(panel.get_by_role("textbox", name="Name of the scenario").last).to_have_value("No debt")
    expect(page.get_by_role("button", name="Export")).to_be_visible()
    page.get_by_role("tab", name="Causes").click()
    expect(page.get_by_text("edited", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Put back savings → debt")).to_be_visible()


@pytest.mark.parametrize(("status", "words"), [(404, "is gone"), (403, "was saved by an auditor")])
def test_a_link_that_cannot_be_opened_says_why(loan_page: Page, status: int, words: str) -> None:
    page = loan_page
    refusal = json.dumps({"message": "no", "fields": []})
    page.route(
        "**/views/*",
        lambda route: route.fulfill(status=status, content_type="application/json", body=refusal),
    )
    expect(page.locator(".people")).to_be_visible()
    with refused(page, status):
        page.goto(page.url.partition("#")[0] + "#view=nothing")
        expect(page.get_by_role("alert")).to_contain_text(words)
    expect(page.locator(".people")).to_be_visible()
