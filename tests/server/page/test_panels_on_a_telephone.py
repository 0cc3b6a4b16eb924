"""The panels beside an answer fit a small telephone in the dark, and are accessible there."""

from playwright.sync_api import Page, expect

from .steps import axe, choose, fits, show


def test_causes_and_what_if_fit(narrow_page: Page, rejected: int) -> None:
    page = narrow_page
    choose(page, rejected)
    show(page, "Causes")
    expect(page.locator(".drawing canvas").first).to_be_attached()
    axe(page, ".causes")
    assert fits(page)
    show(page, "What if")
    page.get_by_role("spinbutton", name="debt").fill("100")
    expect(page.get_by_text("With these values")).to_be_visible()
    page.get_by_role("button", name="Keep beside the others").click()
    axe(page, ".what-if")
    assert fits(page)


def test_many_people_and_the_log_fit(narrow_page: Page) -> None:
    page = narrow_page
    page.get_by_role("button", name="Many people").click()
    page.get_by_label("Wanted decision").select_option(label="approved")
    page.get_by_label("At most").fill("3")
    page.get_by_role("button", name="Explain the first 3").click()
    expect(page.get_by_role("heading", name="3 people")).to_be_visible()
    axe(page, ".cohort")
    assert fits(page)
    page.get_by_role("button", name="Log", exact=True).click()
    expect(page.get_by_role("region", name="Log", exact=True).get_by_role("table")).to_be_visible()
    axe(page, ".log")
    assert fits(page)
