"""A real browser on a real service; a page that complains or asks elsewhere fails its test."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from ...chromium import launched
from ..live import LiveServer
from .steps import close_watched, open_watched


# Not for the session: while playwright is up, its event loop runs in this thread, and no other
# test of the process could run one.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Debian's Chromium."""
    with launched() as browser:
        yield browser


@pytest.fixture(scope="session")
def hostile_server(
    hostile_folder: Path, hostile_rows: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LiveServer]:
    """A service whose names and levels are markup, quotes, signs and very long."""
    database = tmp_path_factory.mktemp("hostile") / "explanations.sqlite"
    words = ["--rows", hostile_rows, "--workers", 1, "--database", database]
    with LiveServer(hostile_folder, *words) as server:
        yield server


@pytest.fixture
def loan_page(browser: Browser, live_server: LiveServer) -> Iterator[Page]:
    """The page of the loan service, just opened."""
    page = open_watched(browser, live_server.address)
    yield page
    close_watched(page)


@pytest.fixture
def hostile_page(browser: Browser, hostile_server: LiveServer) -> Iterator[Page]:
    """The page of the hostile service, just opened."""
    page = open_watched(browser, hostile_server.address)
    yield page
    close_watched(page)


@pytest.fixture
def narrow_page(browser: Browser, live_server: LiveServer) -> Iterator[Page]:
    """The page of the loan service on a small telephone, in the dark."""
    page = open_watched(browser, live_server.address, width=360, color_scheme="dark")
    yield page
    close_watched(page)
