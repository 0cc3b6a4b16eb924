"""The page is light: little script, all of it its own, and readable."""

import re
from pathlib import Path

from playwright.sync_api import Page, expect

import proce.server

PAGE = Path(proce.server.__file__).parent / "page"
MAX_BYTES = 300_000
MAX_LINES = 300


def own_scripts() -> list[Path]:
    return [path for path in PAGE.rglob("*.js") if path.parent.name != "vendor"]


def test_the_first_view_needs_little_script_and_no_graph_library(loan_page: Page) -> None:
    expect(loan_page.locator(".people tbody tr").first).to_be_visible()
    sizes = loan_page.evaluate(
        """() => Object.fromEntries(performance.getEntriesByType("resource")
        .filter((entry) => entry.name.endsWith(".js"))
        .map((entry) => [entry.name, entry.decodedBodySize]))"""
    )
    assert 20_000 < sum(sizes.values()) < MAX_BYTES
    assert not any(url.endswith("vendor/graph.js") for url in sizes)


def test_every_script_is_short_and_none_stands_in_the_markup() -> None:
    scripts = own_scripts()
    assert scripts
    assert [path.name for path in scripts if len(path.read_text().splitlines()) > MAX_LINES] == []
    markup = (PAGE / "index.html").read_text()
    assert not re.search(r"<script(?![^>]*\bsrc=)|\bstyle=|\son\w+=|https?://", markup)


def test_no_script_writes_markup() -> None:
    sinks = re.compile(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function"
    )
    assert [path.name for path in own_scripts() if sinks.search(path.read_text())] == []
