"""Tokens: what a role does not see is nowhere on its page, and a withdrawn token costs no work."""

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from ..live import LiveServer, token_file
from .steps import choose, close_watched, find, open_watched, refused, show

pytestmark = pytest.mark.slow

APPLICANT, AUDITOR, NEXT = "applicant-token-0001", "auditor-token-000001", "applicant-token-0002"
HIDDEN = re.compile(".{,60}(?:birthplace|north|south).{,60}")


@pytest.fixture
def tokens(tmp_path: Path) -> Path:
    return token_file(tmp_path, APPLICANT, AUDITOR)


@pytest.fixture
def guarded(private_folder: Path, private_rows: Path, tokens: Path) -> Iterator[LiveServer]:
    """A service that wants a token, whose ``birthplace`` is protected."""
    words = ["--rows", private_rows, "--workers", 1, "--token-file", tokens]
    database = tokens.with_name("log.sqlite")
    with LiveServer(private_folder, *words, "--database", database) as server:
        yield server


@pytest.fixture
def page(browser: Browser, guarded: LiveServer) -> Iterator[Page]:
    page = open_watched(browser, guarded.address, path="/docs")
    with refused(page, 401):
        page.goto(guarded.address)
        expect(page.get_by_role("dialog", name="Sign in")).to_be_visible()
    yield page
    close_watched(page)


def sign_in(page: Page, token: str) -> None:
    dialog = page.get_by_role("dialog", name="Sign in")
    dialog.get_by_label("Token").fill(token)
    dialog.get_by_label("Token").press("Enter")
    expect(dialog).to_have_count(0)
    expect(page.locator("h1")).to_be_visible()


def wait_for(server: LiveServer, token: str) -> None:
    """Wait until the file of tokens has been read again."""
    until = time.monotonic() + 10.0  # it is looked at once a second
    with server.client(token) as client:
        while client.get("/session").status_code != 200:
            assert time.monotonic() < until
            time.sleep(0.05)


def everything(page: Page) -> str:
    """Go through all panels; return all markup and all values of fields on the way."""
    seen = []
    for tab in ("Ways", "Table", "Trade-offs", "Causes", "What if"):
        show(page, tab)
        page.wait_for_load_state("networkidle")
        seen.append(page.content())
    for tab in ("Form", "Paste", "List"):
        page.get_by_role("tab", name=tab).click()
        seen.append(page.content())
    for screen in ("Many people", "Log", "One person"):
        page.get_by_role("button", name=screen, exact=True).click()
        page.wait_for_load_state("networkidle")
        seen.append(page.content())
        fields = page.locator("input, textarea, select").all()
        seen += [field.input_value() for field in fields]
    return "\n".join(seen)


def test_what_a_role_does_not_see_is_nowhere_on_its_page(page: Page, guarded: LiveServer) -> None:
    sign_in(page, AUDITOR)
    page.get_by_role("button", name="Auditor").click()
    choose(page, 0)
    find(page)
    assert HIDDEN.search(everything(page))
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("dialog", name="Sign in")).to_be_visible()
    assert HIDDEN.findall(page.content()) == []

    sign_in(page, APPLICANT)
    expect(page.get_by_role("button", name="Auditor")).to_have_count(0)
    choose(page, 0)
    show(page, "Ways")
    find(page)
    assert HIDDEN.findall(everything(page)) == []

    kept = page.evaluate("[location.href, JSON.stringify(localStorage), document.cookie].join()")
    said = "".join(guarded.lines)
    for token in (AUDITOR, APPLICANT):
        assert token not in kept
        assert token not in said
        assert token not in page.content()


def test_a_token_that_is_taken_back_leads_to_the_sign_in_and_loses_nothing(
    page: Page, tokens: Path, guarded: LiveServer
) -> None:
    sign_in(page, APPLICANT)
    choose(page, 0)
    page.get_by_role("button", name="What may change").click()
    page.get_by_label("Number of changes").select_option("at most 2")
    page.get_by_role("tab", name="Form").click()
    study = page.locator(".values-form").get_by_label("study", exact=False).first
    study.fill("1.7")

    tokens.write_text(f"applicant {NEXT}\nauditor {AUDITOR}\n")
    wait_for(guarded, NEXT)
    with refused(page, 401):
        page.get_by_role("button", name=re.compile("^Find ways")).click()
        expect(page.get_by_role("dialog", name="Sign in")).to_be_visible()
    sign_in(page, NEXT)
    expect(study).to_have_value("1.7")
    expect(page.locator(".limits .summary")).to_contain_text("at most 2")
    expect(page.get_by_role("alert")).to_have_count(0)
    find(page)


def test_another_role_after_the_token_was_taken_back_sees_nothing_of_the_one_before(
    page: Page, tokens: Path, guarded: LiveServer
) -> None:
    sign_in(page, AUDITOR)
    page.get_by_role("button", name="Auditor").click()
    choose(page, 0)
    find(page)
    tokens.write_text(f"applicant {NEXT}\n")
    wait_for(guarded, NEXT)
    with refused(page, 401):
        page.get_by_role("button", name="Search again").click()
        expect(page.get_by_role("dialog", name="Sign in")).to_be_visible()
    sign_in(page, NEXT)
    expect(page.get_by_role("button", name="Auditor")).to_have_count(0)
    expect(page.locator(".people tbody tr").first).to_be_visible()
    assert HIDDEN.findall(page.content()) == []
