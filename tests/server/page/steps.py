"""What a person does on the page, and what is watched meanwhile."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal
from urllib.parse import urlsplit

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, expect

WAIT_SECONDS = 15.0
_FAULTS: dict[Page, list[str]] = {}
_REFUSED = "Failed to load resource: the server responded with a status of"


def open_watched(
    browser: Browser,
    address: str,
    width: int = 1280,
    color_scheme: Literal["light", "dark"] = "light",
    path: str = "/",
) -> Page:
    """Open the page of a service in a context of its own; what goes wrong is kept."""
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        color_scheme=color_scheme,
        reduced_motion="reduce",
        locale="en-US",
    )
    context.set_default_timeout(1000 * WAIT_SECONDS)
    expect.set_options(timeout=1000 * WAIT_SECONDS)
    page = context.new_page()
    faults = _FAULTS[page] = []

    def hear(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            faults.append(message.text)

    def look(request: Request) -> None:
        if urlsplit(request.url).scheme not in ("blob", "data") and not request.url.startswith(
            f"{address}/"
        ):
            faults.append(f"asked elsewhere: {request.url}")

    page.on("console", hear)
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("request", look)
    page.goto(address + path)
    return page


def close_watched(page: Page) -> None:
    """Close the page; it must have had no error, and have asked nobody else."""
    page.context.close()
    assert _FAULTS.pop(page) == []


@contextmanager
def refused(page: Page, status: int) -> Iterator[None]:
    """Expect the server to refuse something meanwhile, which the browser notes by itself."""
    faults = _FAULTS[page]
    before = len(faults)
    yield
    notes = [fault for fault in faults[before:] if fault.startswith(f"{_REFUSED} {status}")]
    assert notes, f"nothing was refused with {status}"
    for note in notes:
        faults.remove(note)


def choose(page: Page, row: int) -> None:
    """Choose a row of the file by its position and wait for the decision."""
    page.get_by_label("Order").select_option(label="as in the file")
    while not (found := page.locator(f".people [data-row='{row}'] .picks")).count():
        page.get_by_role("button", name="Next").click()
        expect(page.locator(".people tbody")).to_be_visible()
    found.click()
    expect(page.locator(".verdict")).to_be_visible()


def find(page: Page) -> None:
    """Start the search and wait for its answer."""
    page.get_by_role("button", name=re.compile("^(Find ways|Search again)")).click()
    expect(page.locator(".way, .not-found").first).to_be_visible()


def show(page: Page, tab: str) -> None:
    """Show a panel beside the answer."""
    page.get_by_role("tab", name=tab, exact=True).click()


def axe(page: Page, selector: str | None = None) -> None:
    """Require that axe finds nothing serious or moderate on the page, or below a selector."""
    response: dict[str, Any] = Axe().run(page, context=selector).response
    found = [
        (violation["impact"], violation["id"], violation["nodes"][0]["html"])
        for violation in response["violations"]
        if violation["impact"] != "minor"
    ]
    assert found == []


def has_no_sideways_scroll(page: Page) -> bool:
    """Return whether nothing is wider than the window."""
    widths = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
    return bool(widths[0] <= widths[1])
