"""Odd explainers: many classes and features, gaps, no graph, no rows, names like markup."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import Browser, Page, expect
from sklearn.linear_model import LogisticRegression

from proce import ProCE
from proce.schema import Continuous, Schema

from ..conftest import LONG, QUOTES, RIGHT_TO_LEFT, SCRIPT, SETTINGS
from ..live import LiveServer
from .steps import choose, close_watched, find, fits, open_limits, open_watched, show

pytestmark = pytest.mark.slow

PANELS = ("Ways", "Table", "Trade-offs", "Causes", "What if")


def wide(n: int, n_features: int) -> pd.DataFrame:
    draw = np.random.default_rng(n)
    names = [f"measure {number}" for number in range(n_features)]
    return pd.DataFrame(draw.normal(0, 1, (n, n_features)).round(2), columns=names)


@pytest.fixture(scope="module")
def wide_folder(server_folder: Path) -> Path:
    """An explainer with three classes and 120 features, without a graph."""
    frame = wide(200, 120)
    label = pd.cut(frame["measure 0"] + frame["measure 1"], [-99, -0.8, 0.8, 99], labels=False)
    label = label.map({0: "low", 1: "middle", 2: "high"})
    schema = Schema([Continuous(name) for name in frame])
    model = LogisticRegression(C=0.1, max_iter=500).fit(frame, label)
    return ProCE(model, schema, settings=SETTINGS).fit(frame, label).save(server_folder / "wide")


@contextmanager
def opened(browser: Browser, folder: Path, *words: object, width: int = 1280) -> Iterator[Page]:
    database = folder.with_name(f"{folder.name}-{width}.sqlite")
    with LiveServer(folder, *words, "--workers", 1, "--database", database) as server:
        page = open_watched(browser, server.address, width=width)
        yield page
        close_watched(page)


def go_through_panels(page: Page, name: str, shots: Path) -> None:
    """Show each panel; none is wider than the window."""
    for panel in PANELS:
        show(page, panel)
        page.wait_for_load_state("networkidle")
        assert fits(page), panel
        page.screenshot(path=shots / f"{name}-{panel}.png", full_page=True)


def test_three_classes_and_many_features_without_rows_or_a_graph(
    browser: Browser, wide_folder: Path, tmp_path: Path
) -> None:
    with opened(browser, wide_folder) as page:
        page.get_by_role("tab", name="Form").click()
        page.get_by_label("measure 0", exact=True).fill("-2")
        page.get_by_role("button", name="Use these values").click()
        expect(page.locator(".decision .verdict")).to_be_visible()
        open_limits(page)
        page.screenshot(path=tmp_path / "wide-limits.png", full_page=True)
        page.get_by_label("Wanted decision").select_option("high")
        find(page)
        expect(page.locator(".recommended")).to_contain_text("high")
        go_through_panels(page, "wide", tmp_path)


def test_values_may_be_missing(
    browser: Browser, private_folder: Path, private_rows: Path, tmp_path: Path
) -> None:
    missing = int(pd.read_csv(private_rows)["tests"].isna().to_numpy().argmax())
    with opened(browser, private_folder, "--rows", private_rows) as page:
        choose(page, missing)
        expect(page.locator(".profile")).to_contain_text("missing")
        find(page)
        go_through_panels(page, "missing", tmp_path)


@pytest.mark.parametrize("width", [360, 1280])
def test_odd_names_and_levels_are_shown_as_they_are(
    browser: Browser, hostile_folder: Path, hostile_rows: Path, tmp_path: Path, width: int
) -> None:
    words = ["--rows", hostile_rows, "--title", SCRIPT]
    with opened(browser, hostile_folder, *words, width=width) as page:
        dialogs: list[str] = []
        page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
        rows = pd.read_parquet(hostile_rows)
        choose(page, int((rows.iloc[:, 2] == LONG).to_numpy().argmax()))
        open_limits(page)
        assert page.locator(".limits").evaluate("one => one.offsetHeight") < 4_000
        find(page)
        go_through_panels(page, f"hostile-{width}", tmp_path)
        profile = page.locator(".profile")
        for text in (SCRIPT, QUOTES, RIGHT_TO_LEFT):
            expect(profile).to_contain_text(text)
        if width == 360:
            page.get_by_role("button", name="Choose another person").click()
        for tab in ("Form", "Paste"):
            page.get_by_role("tab", name=tab).click()
            assert fits(page), tab
            page.screenshot(path=tmp_path / f"hostile-{width}-{tab}.png", full_page=True)
        for screen in ("Many people", "Log"):
            page.get_by_role("button", name=screen, exact=True).click()
            expect(page.get_by_role("heading", level=1)).to_be_visible()
            assert fits(page), screen
        assert dialogs == []
        assert page.locator("main script, main i, main b, header script").count() == 0
        assert re.search("alert", page.title())
