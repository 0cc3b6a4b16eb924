"""What a person does on the page, and what is watched meanwhile."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal
from urllib.parse import urlsplit

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, expect

from ..live import LiveServer, body_of

WAIT_MILLISECONDS = 15_000
_FAULTS: dict[Page, list[str]] = {}
_NOTE = "Failed to load resource: "


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
    context.set_default_timeout(WAIT_MILLISECONDS)
    expect.set_options(timeout=WAIT_MILLISECONDS)
    page = context.new_page()
    faults = _FAULTS[page] = []

    def hear(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            faults.append(message.text)

    def look(request: Request) -> None:
        is_local = urlsplit(request.url).scheme in ("blob", "data")
        if not is_local and not request.url.startswith(f"{address}/"):
            faults.append(f"asked elsewhere: {request.url}")

    page.on("console", hear)
    page.on("pageerror", lambda error: faults.append(error.stack or str(error)))
    page.on("request", look)
    page.goto(address + path)
    return page


def close_watched(page: Page) -> None:
    """Close the page; it must have had no error, and have asked nobody else."""
    page.context.close()
    faults = _FAULTS.pop(page)
    assert not faults, faults


@contextmanager
def noted(page: Page, reason: str) -> Iterator[None]:
    """Expect a request to fail meanwhile, which the browser notes by itself.

    Parameters
    ----------
    page
        The page that asks.
    reason
        How the note begins: ``the server responded with a status of 422``, ``net::``.
    """
    faults = _FAULTS[page]
    before = len(faults)
    yield
    notes = [fault for fault in faults[before:] if fault.startswith(_NOTE + reason)]
    assert notes, f"nothing failed with {reason}"
    for note in notes:
        faults.remove(note)


def refused(page: Page, status: int) -> Any:
    """Expect the server to refuse a request meanwhile."""
    return noted(page, f"the server responded with a status of {status}")


def choose(page: Page, row: int) -> None:
    """Choose a row of the file by its position and wait for the decision."""
    found = page.locator(f".people [data-row='{row}'] .picks")
    expect(page.locator(".people tbody tr").first).to_be_visible()
    for _ in range(20):
        if found.count():
            break
        first = page.locator(".people tbody tr").first.get_attribute("data-row")
        page.get_by_role("button", name="Next").click()
        expect(page.locator(".people tbody tr").first).not_to_have_attribute("data-row", first)
    found.click()
    expect(page.locator(".decision .verdict")).to_be_visible()


def find(page: Page) -> None:
    """Start the search and wait for its end."""
    page.get_by_role("button", name=re.compile("^(Find ways|Search again)")).click()
    expect(page.get_by_role("button", name="Search again")).to_be_visible()
    shown = ".answer .way, .answer .not-found, .answer .side-by-side, .answer .scatter"
    expect(page.locator(shown).first).to_be_visible()


def show(page: Page, tab: str) -> None:
    """Show a panel beside the answer."""
    page.get_by_role("tab", name=tab, exact=True).click()


def open_limits(page: Page) -> None:
    """Unfold what may change."""
    page.get_by_role("button", name="What may change").click()
    expect(page.locator(".limits-body")).to_be_visible()


def latest(server: LiveServer) -> tuple[Any, Any]:
    """Return the record that was asked for last, and what the page draws of it."""
    with server.client() as client:
        listed = body_of(client.get("/explanations", params={"limit": 1}))["records"][0]
        record = body_of(client.get(f"/explanations/{listed['id']}"))
        return record, body_of(client.get(f"/explanations/{record['id']}/ways"))


def axe(page: Page, selector: str | None = None) -> None:
    """Require that axe finds nothing serious or moderate on the page, or below a selector."""
    response: dict[str, Any] = Axe().run(page, context=selector).response
    found = [
        (violation["impact"], violation["id"], violation["nodes"][0]["html"])
        for violation in response["violations"]
        if violation["impact"] != "minor"
    ]
    assert not found, found


def fits(page: Page) -> bool:
    """Return whether nothing makes the page scroll sideways."""
    return bool(page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"))
