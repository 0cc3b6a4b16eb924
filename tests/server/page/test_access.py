"""Everybody can use the page: by keyboard, with a screen reader, on a telephone, signed in."""

import re

from playwright.sync_api import Page, Route, expect

from .steps import axe, choose, find, fits, open_limits, refused, show

REASON = {"message": "A token is needed.", "fields": []}


def tab_to(page: Page, selector: str, key: str = "Tab") -> None:
    """Move on with the tab key until the focus is where it should be."""
    for _ in range(150):
        page.keyboard.press(key)
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"{selector} is not reached by the tab key")


def test_a_keyboard_is_enough(loan_page: Page, rejected: int) -> None:
    expect(loan_page.locator(".people tbody tr").first).to_be_visible()
    loan_page.keyboard.press("Tab")
    expect(loan_page.get_by_role("link", name="Skip to the content")).to_be_focused()
    loan_page.keyboard.press("Enter")
    tab_to(loan_page, "select")
    loan_page.keyboard.type("rejected")
    expect(loan_page.locator(".people tbody tr").first).to_contain_text("rejected")
    tab_to(loan_page, ".picks")
    loan_page.keyboard.press("Enter")
    expect(loan_page.locator(".decision .verdict")).to_contain_text("rejected")
    expect(loan_page.get_by_role("heading", level=1)).to_be_focused()
    loan_page.keyboard.press("Tab")
    expect(loan_page.get_by_role("button", name="Find ways to approved")).to_be_focused()
    loan_page.keyboard.press("Enter")
    expect(loan_page.get_by_role("heading", name="What to do")).to_be_focused()
    tab_to(loan_page, "#answer-tab-ways", "Shift+Tab")
    loan_page.keyboard.press("ArrowRight")
    loan_page.keyboard.press("ArrowRight")
    expect(loan_page.get_by_role("tab", name="Trade-offs")).to_be_focused()
    tab_to(loan_page, ".scatter")
    loan_page.keyboard.press("End")
    expect(loan_page.locator(".scatter")).to_have_attribute(
        "aria-valuenow", re.compile(r"^[2-9]|\d\d$")
    )


def test_axe_finds_nothing_in_any_state(loan_page: Page, rejected: int) -> None:
    expect(loan_page.locator(".people tbody tr").first).to_be_visible()
    axe(loan_page)
    for tab in ("Form", "Paste", "List"):
        loan_page.get_by_role("tab", name=tab).click()
        axe(loan_page, ".picker")
    choose(loan_page, rejected)
    axe(loan_page)
    open_limits(loan_page)
    loan_page.get_by_role("button", name="Limit savings").click()
    loan_page.get_by_label("Rule 1").fill("cf.savings >")
    expect(loan_page.locator(".rule .problem")).to_be_visible()
    axe(loan_page, ".limits")
    loan_page.get_by_role("button", name="Remove rule 1").click()
    find(loan_page)
    axe(loan_page)
    for tab in ("Table", "Trade-offs"):
        show(loan_page, tab)
        axe(loan_page, ".answer")
    loan_page.get_by_label("Wanted decision").select_option("rejected")
    expect(loan_page.locator(".start")).to_contain_text("nothing needs to change")
    axe(loan_page, ".start")


def test_a_telephone_in_the_dark_shows_everything_without_scrolling_sideways(
    narrow_page: Page, rejected: int
) -> None:
    expect(narrow_page.locator(".people tbody tr").first).to_be_visible()
    assert fits(narrow_page)
    choose(narrow_page, rejected)
    assert fits(narrow_page)
    open_limits(narrow_page)
    assert fits(narrow_page)
    find(narrow_page)
    assert fits(narrow_page)
    axe(narrow_page)
    for tab in ("Table", "Trade-offs", "Causes", "What if"):
        show(narrow_page, tab)
        assert fits(narrow_page), tab
    for tab in ("Many people", "Log"):
        narrow_page.get_by_role("button", name=tab).click()
        expect(narrow_page.get_by_role("heading", level=1)).to_be_visible()
        assert fits(narrow_page), tab


def test_a_token_is_asked_for_and_kept_for_the_tab(loan_page: Page) -> None:
    asked: list[str | None] = []

    def guard(route: Route) -> None:
        asked.append(route.request.headers.get("authorization"))
        if asked[-1] == "Bearer secret":
            route.continue_()
        else:
            route.fulfill(status=401, json=REASON)

    expect(loan_page.locator(".people tbody tr").first).to_be_visible()
    loan_page.route("**/session", guard)
    with refused(loan_page, 401):
        loan_page.reload()
        dialog = loan_page.get_by_role("dialog", name="Sign in")
        expect(dialog).to_contain_text("A token is needed.")
        axe(loan_page)
        dialog.get_by_label("Token").fill("wrong")
        dialog.get_by_label("Token").press("Enter")
        expect(dialog).to_be_visible()
    dialog.get_by_label("Token").fill("secret")
    dialog.get_by_role("button", name="Sign in").click()
    expect(loan_page.locator(".people tbody tr").first).to_be_visible()
    assert asked == [None, "Bearer wrong", "Bearer secret"]
    assert "secret" not in loan_page.url
    loan_page.reload()
    expect(loan_page.locator(".people tbody tr").first).to_be_visible()


def test_a_theme_is_chosen_and_kept(loan_page: Page) -> None:
    root = loan_page.locator("html")
    ground = "getComputedStyle(document.body).backgroundColor"
    light = loan_page.evaluate(ground)
    loan_page.get_by_role("button", name=re.compile("^Theme")).click()
    loan_page.get_by_role("button", name=re.compile("^Theme")).click()
    expect(root).to_have_attribute("data-theme", "dark")
    assert loan_page.evaluate(ground) != light
    loan_page.reload()
    expect(root).to_have_attribute("data-theme", "dark")
