"""The log lists what was asked for, opens it again and is taken along."""

from playwright.sync_api import Locator, Page, expect

from .steps import axe, choose, find, show


def open_log(page: Page) -> Locator:
    page.get_by_role("button", name="Log", exact=True).click()
    log = page.get_by_role("region", name="Log", exact=True)
    expect(log.get_by_role("table")).to_be_visible()
    return log


def test_an_explanation_is_found_in_the_log_and_opened_again(
    loan_page: Page, rejected: int
) -> None:
    """With its person, its answer and the graph that was edited for it."""
    page = loan_page
    choose(page, rejected)
    show(page, "Causes")
    page.get_by_role("button", name="Remove savings → debt").click()
    expect(page.get_by_text("edited", exact=True)).to_be_visible()
    show(page, "Ways")
    find(page)
    name = page.locator("h1").inner_text()
    log = open_log(page)
    newest = log.get_by_role("row").nth(1)
    expect(newest).to_contain_text("done")
    expect(newest).to_contain_text("edited graph")
    axe(page, ".log")
    page.reload()
    open_log(page).get_by_role("row").nth(1).get_by_role("button").click()
    expect(page.get_by_role("heading", name=name, level=1)).to_be_visible()
    expect(page.get_by_role("button", name="Export")).to_be_visible()
    show(page, "Causes")
    expect(page.get_by_role("button", name="Put back savings → debt")).to_be_visible()


def test_the_log_is_filtered_and_exported(loan_page: Page, rejected: int) -> None:
    page = loan_page
    choose(page, rejected)
    find(page)
    log = open_log(page)
    log.get_by_label("From").fill("2100-01-01")
    expect(log.get_by_text("No explanation fits these filters.")).to_be_visible()
    log.get_by_label("From").fill("")
    log.get_by_label("Status").select_option("done")
    expect(log.get_by_role("row").nth(1)).to_contain_text("done")
    for button, start in (("Export csv", b"id,"), ("Export JSON lines", b"{")):
        with page.expect_download() as download:
            log.get_by_role("button", name=button).click()
        assert download.value.path().read_bytes().startswith(start)
