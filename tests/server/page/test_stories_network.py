"""Two tabs at once, a slow network, answers that overtake each other, a server that is killed."""

import re
import signal
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Request, Route, expect

from ..live import LiveServer, body_of
from .steps import choose, close_watched, find, noted, open_limits, open_watched, refused, show

FIND = re.compile("^Find ways")


@pytest.fixture
def second_page(browser: Browser, live_server: LiveServer) -> Iterator[Page]:
    """Another page on the same service."""
    page = open_watched(browser, live_server.address)
    yield page
    close_watched(page)


def rejected_rows(server: LiveServer) -> list[int]:
    with server.client() as client:
        query = {"prediction": "rejected", "sort": "probability", "limit": 2}
        return [one["row"] for one in body_of(client.get("/rows", params=query))["rows"]]


def shown(page: Page) -> str:
    """Return what an answer advises."""
    return page.locator(".recommended .actions").inner_text()


def test_two_tabs_have_each_their_own_person_limits_and_answer(
    loan_page: Page, second_page: Page, live_server: LiveServer
) -> None:
    first, second = rejected_rows(live_server)
    choose(loan_page, first)
    choose(second_page, second)
    open_limits(second_page)
    second_page.get_by_label("Number of changes").select_option("at most 2")
    for page in (loan_page, second_page):
        page.get_by_role("button", name=FIND).click()
    for page, row in ((loan_page, first), (second_page, second)):
        expect(page.locator(".recommended")).to_be_visible()
        expect(page.get_by_role("heading", level=1)).to_have_text(f"C{row}")
    assert second_page.locator(".recommended .actions li").count() <= 2
    own = shown(loan_page)
    expect(loan_page.locator(".limits .summary")).not_to_contain_text("at most 2")

    second_page.get_by_role("button", name="Copy link").click()
    link = second_page.get_by_label("Link to this view").input_value()
    advice = shown(second_page)
    loan_page.evaluate("link => { location.href = link; }", link)
    expect(loan_page.get_by_role("heading", level=1)).to_have_text(f"C{second}")
    expect(loan_page.locator(".recommended .actions")).to_have_text(advice, use_inner_text=True)
    expect(loan_page.locator(".limits .summary")).to_contain_text("at most 2")
    assert advice != own


def test_what_was_opened_last_is_shown_however_late_the_others_come(
    loan_page: Page, live_server: LiveServer
) -> None:
    first, second = rejected_rows(live_server)
    for row in (first, second):
        choose(loan_page, row)
        find(loan_page)
    held: list[Route] = []
    loan_page.get_by_role("button", name="Log", exact=True).click()
    opened = loan_page.locator(".log-table tbody button")
    one_row = "**/rows?offset=*&limit=1&*"

    def hold_the_first(route: Route) -> None:
        if held:
            route.continue_()
        else:
            held.append(route)

    loan_page.route(one_row, hold_the_first)
    with loan_page.expect_request(one_row):
        opened.nth(0).click()
    opened.nth(1).click()
    expect(loan_page.get_by_role("heading", level=1)).to_have_text(f"C{first}")
    held[0].continue_()
    expect(loan_page.locator(".recommended")).to_be_visible()
    expect(loan_page.get_by_role("heading", level=1)).to_have_text(f"C{first}")


@pytest.mark.slow
def test_a_slow_network_sends_nothing_twice(loan_page: Page, live_server: LiveServer) -> None:
    row = rejected_rows(live_server)[0]
    network = loan_page.context.new_cdp_session(loan_page)
    sent: list[tuple[str, str]] = []

    def hear(request: Request) -> None:
        if request.method != "GET":
            sent.append((request.method, request.url.partition("?")[0]))

    choose(loan_page, row)
    loan_page.on("request", hear)
    network.send("Network.enable")
    slowness = {"latency": 400, "downloadThroughput": 40_000, "uploadThroughput": 20_000}
    network.send("Network.emulateNetworkConditions", {"offline": False, **slowness})
    loan_page.get_by_role("button", name=FIND).dblclick()
    expect(loan_page.get_by_role("button", name="Stop")).to_be_enabled()
    expect(loan_page.locator(".recommended")).to_be_visible()
    assert sent == [("POST", f"{live_server.address}/explanations")]

    show(loan_page, "What if")
    panel = loan_page.get_by_role("region", name="What if")
    expect(panel.get_by_text("The model says").first).to_be_visible()
    sent.clear()
    savings = panel.get_by_label("savings", exact=True)
    savings.fill("")
    savings.press_sequentially("91234", delay=150)
    expect(panel.get_by_text("With these values the model would say")).to_be_visible()
    expect(savings).to_have_value("91234")
    assert 1 <= len(sent) <= 5


@pytest.mark.slow
def test_a_killed_server_is_waited_for_and_what_it_left_is_told(
    browser: Browser, loan_folder: Path, loan_rows: Path, tmp_path: Path
) -> None:
    words = [loan_folder, "--rows", loan_rows, "--id", "customer", "--workers", 1]
    words += ["--database", tmp_path / "log.sqlite"]
    with ExitStack() as stack:
        server = stack.enter_context(LiveServer(*words))
        page = open_watched(browser, server.address)
        first, second = rejected_rows(server)
        choose(page, first)
        find(page)
        advice = shown(page)

        choose(page, second)
        with server.client() as client:
            listed = body_of(client.get("/rows", params={"limit": 50, "view": "auditor"}))["rows"]
            request = {"rows": [row["values"] for row in listed] * 20, "n": 1}
            body_of(client.post("/explanations", json=request, params={"view": "auditor"}), 202)
        with page.expect_response(re.compile("/events$")):
            page.get_by_role("button", name=FIND).click()
        with noted(page, "net::"), refused(page, 503):  # it is away, then not ready
            server.end(signal.SIGKILL)
            expect(page.locator(".running")).to_contain_text("The connection is lost")
            stack.enter_context(LiveServer(*words, port=server.port))
            told = page.locator(".start .note")
            expect(told).to_contain_text("stopped in the middle", timeout=60_000)
            find(page)
        expect(told).to_have_count(0)

        page.get_by_role("button", name="Log", exact=True).click()
        rows = page.locator(".log-table tbody tr")
        expect(rows).to_have_count(4)
        statuses = [row.locator(".status").inner_text() for row in rows.all()]
        assert statuses == ["done", "interrupted", "interrupted", "done"]
        rows.nth(3).get_by_role("button").click()
        expect(page.get_by_role("heading", level=1)).to_have_text(f"C{first}")
        expect(page.locator(".recommended .actions")).to_have_text(advice, use_inner_text=True)
        close_watched(page)
