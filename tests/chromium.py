"""Debian's Chromium, for tests that look at pages."""

from collections.abc import Iterator
from contextlib import contextmanager
from shutil import which

import pytest
from playwright.sync_api import Browser, sync_playwright

CHROMIUM = which("chromium") or which("chromium-browser")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


@contextmanager
def launched() -> Iterator[Browser]:
    """Start the browser; a test is skipped where there is none."""
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine: install the package 'chromium'")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()
