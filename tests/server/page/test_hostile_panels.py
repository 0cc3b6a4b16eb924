"""Names and levels of features are text in every panel, whatever they look like."""

import re

from playwright.sync_api import Page, expect

from ..conftest import EMOJI, QUOTES, SCRIPT
from .steps import choose, find


def test_hostile_names_go_through_every_panel(hostile_page: Page) -> None:
    page = hostile_page
    dialogs: list[str] = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    choose(page, 0)
    find(page)

    page.get_by_role("tab", name="Causes").click()
    panel = page.get_by_role("region", name="Causes")
    panel.get_by_label("Cause", exact=True).select_option(label=SCRIPT)
    panel.get_by_label("Effect", exact=True).select_option(label=EMOJI)
    panel.get_by_role("button", name="Add the arrow").click()
    expect(panel.get_by_text(f"{SCRIPT} → {EMOJI}").first).to_be_visible()
    panel.get_by_role("tab", name="Text").click()
    expect(panel.get_by_role("textbox")).to_have_value(re.compile(re.escape(f'-> "{EMOJI}"')))

    page.get_by_role("tab", name="What if").click()
    panel = page.get_by_role("region", name="What if")
    panel.get_by_role("spinbutton", name=SCRIPT).fill("99")
    panel.get_by_role("combobox", name=EMOJI).select_option(index=3)
    expect(panel.get_by_text("With these values")).to_be_visible()
    panel.get_by_role("button", name="Keep beside the others").click()
    expect(panel.get_by_role("row", name="Changed by hand")).to_contain_text(SCRIPT)

    page.get_by_role("button", name="Many people").click()
    page.get_by_label("Wanted decision").select_option(label=QUOTES)
    page.get_by_label("At most").fill("3")
    page.get_by_role("button", name="Explain the first 3").click()
    expect(page.get_by_role("heading", name="3 people")).to_be_visible()
    page.get_by_label("Compare by").select_option(label=EMOJI)
    expect(page.get_by_role("group", name="Groups")).to_be_visible()

    page.get_by_role("button", name="Log", exact=True).click()
    expect(page.get_by_role("region", name="Log", exact=True).get_by_role("table")).to_be_visible()
    assert dialogs == []
    assert page.locator("main script, main i, main b").count() == 0
