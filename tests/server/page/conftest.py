"""A real browser on a real service; a page that complains or asks elsewhere fails its test."""

from collections.abc import Iterator
from pathlib import Path
from shutil import which

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from ..live import LiveServer
from .steps import close_watched, open_watched

CHROMIUM = which("chromium") or which("chromium-browser")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


# Not for the session: while playwright is up, its event loop runs in this thread, and no other
# test of the process could run one.
@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Debian's Chromium."""
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine: install the package 'chromium'")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def loan_server(loan_folder: Path, loan_rows: Path) -> Iterator[LiveServer]:
    """The loan service with its rows, on loopback without tokens."""
    with LiveServer(loan_folder, "--rows", loan_rows, "--id", "customer") as server:
        yield server


@pytest.fixture(scope="package")
def hostile_server(hostile_folder: Path, hostile_rows: Path) -> Iterator[LiveServer]:
    """A service whose names and levels are markup, quotes, signs and very long."""
    with LiveServer(hostile_folder, "--rows", hostile_rows) as server:
        yield server


@pytest.fixture
def loan_page(browser: Browser, loan_server: LiveServer) -> Iterator[Page]:
    """The page of the loan service, just opened."""
    page = open_watched(browser, loan_server.address)
    yield page
    close_watched(page)


@pytest.fixture
def hostile_page(browser: Browser, hostile_server: LiveServer) -> Iterator[Page]:
    """The page of the hostile service, just opened."""
    page = open_watched(browser, hostile_server.address)
    yield page
    close_watched(page)


@pytest.fixture
def narrow_page(browser: Browser, loan_server: LiveServer) -> Iterator[Page]:
    """The page of the loan service on a small telephone."""
    page = open_watched(browser, loan_server.address, width=360)
    yield page
    close_watched(page)


@pytest.fixture
def dark_page(browser: Browser, loan_server: LiveServer) -> Iterator[Page]:
    """The page of the loan service in the dark."""
    page = open_watched(browser, loan_server.address, color_scheme="dark")
    yield page
    close_watched(page)
