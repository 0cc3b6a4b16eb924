"""A search is watched, stopped, and found again after the connection broke."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, Route, expect

from ..live import LiveServer, body_of
from .steps import choose, find, latest, noted, show


@pytest.fixture
def busy(live_server: LiveServer) -> Iterator[None]:
    """The one process that explains has much to do, so that others wait."""
    with live_server.client() as client:
        listed = body_of(client.get("/rows", params={"limit": 50, "view": "auditor"}))["rows"]
        rows = [row["values"] for row in listed] * 20
        answer = client.post(
            "/explanations", json={"rows": rows, "n": 1}, params={"view": "auditor"}
        )
        record = body_of(answer, 202)
        yield
        client.delete(f"/explanations/{record['id']}")


@pytest.mark.usefixtures("busy")
def test_a_search_is_stopped(loan_page: Page, live_server: LiveServer, rejected: int) -> None:
    choose(loan_page, rejected)
    loan_page.get_by_role("button", name=re.compile("^Find ways")).click()
    expect(loan_page.get_by_role("progressbar")).to_be_visible()
    loan_page.get_by_role("button", name="Stop").click()
    expect(loan_page.locator(".start")).to_contain_text("Stopped.")
    with live_server.client() as client:
        listed = body_of(client.get("/explanations", params={"status": "cancelled", "limit": 1}))
    assert listed["records"][0]["request"]["row_ids"] == [rejected]


def at_once(route: Route) -> None:
    """Have the server answer before the search ends, so that it must be followed."""
    route.continue_(url=route.request.url.replace("wait=1", "wait=0"))


def test_a_broken_stream_is_taken_up_again(
    loan_page: Page, live_server: LiveServer, rejected: int
) -> None:
    broken: list[str] = []

    def break_once(route: Route) -> None:
        if broken:
            route.continue_()
        else:
            broken.append(route.request.url)
            route.abort()

    loan_page.route("**/explanations?wait=*", at_once)
    loan_page.route("**/events", break_once)
    choose(loan_page, rejected)
    with noted(loan_page, "net::"):
        find(loan_page)
    assert len(broken) == 1
    assert latest(live_server)[1]["outcome"] == "found"


def test_progress_is_told_while_the_search_runs(loan_page: Page, rejected: int) -> None:
    told = (
        'event: progress\ndata: {"stage": "search", "done": 0, "total": 1, "generation": 7, '
        '"best_probability": 0.4, "best_distance": 0.25, "front_size": 12}\n\n: still there\n\n'
    )
    loan_page.route("**/explanations?wait=*", at_once)
    loan_page.route(
        "**/events", lambda route: route.fulfill(body=told, content_type="text/event-stream")
    )
    loan_page.route(
        re.compile(r"/explanations/\w+$"),
        lambda route: route.fulfill(json={"status": "running", "error": None}),
    )
    choose(loan_page, rejected)
    loan_page.get_by_role("button", name=re.compile("^Find ways")).click()
    expect(loan_page.locator(".facts")).to_contain_text(re.compile("7.*40%.*0.250.*12", re.DOTALL))


def test_a_failure_is_told_and_can_be_tried_again(loan_page: Page, rejected: int) -> None:
    loan_page.route("**/explanations?wait=*", lambda route: route.abort(), times=1)
    choose(loan_page, rejected)
    with noted(loan_page, "net::"):
        loan_page.get_by_role("button", name=re.compile("^Find ways")).click()
        expect(loan_page.get_by_role("alert")).to_contain_text("cannot be reached")
    show(loan_page, "What if")
    loan_page.get_by_role("button", name=re.compile("^Find ways")).click()
    loan_page.get_by_role("button", name="Show the answer").click()
    expect(loan_page.locator(".recommended")).to_be_visible()


def test_a_server_that_comes_back_is_found_again(loan_page: Page, rejected: int) -> None:
    choose(loan_page, rejected)
    loan_page.route("**/what-if", lambda route: route.abort(), times=1)
    with noted(loan_page, "net::"):
        loan_page.get_by_label("Order").select_option("probability")
        loan_page.locator(".people .picks").nth(1).click()
        expect(loan_page.locator(".decision .verdict")).to_be_visible()


THREE = [{"value": name, "label": name} for name in ("declined", "standard", "surcharge")]


def test_of_several_decisions_the_wanted_one_is_asked_for(loan_page: Page, rejected: int) -> None:
    def three(route: Route) -> None:
        route.fulfill(json={**route.fetch().json(), "classes": THREE})

    loan_page.route("**/schema?*", three)
    loan_page.reload()
    choose(loan_page, rejected)
    expect(loan_page.get_by_role("button", name="Find ways")).to_be_disabled()
    loan_page.route("**/what-if", lambda route: route.abort())
    with noted(loan_page, "net::"):
        loan_page.get_by_label("Which decision is wanted?").select_option("standard")
        expect(loan_page.get_by_role("button", name="Find ways")).to_be_enabled()
        expect(loan_page.get_by_role("alert")).to_be_visible()
