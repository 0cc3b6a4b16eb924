"""What may change: limits hold, rules are checked while typed, what blocks is relaxed."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from ..live import LiveServer, body_of, explained
from .steps import choose, find, latest, open_limits, refused


@pytest.fixture(scope="module")
def stuck(live_server: LiveServer) -> int:
    """The position of a rejected row that a longer loan alone does not help, but more would."""
    with live_server.client() as client:
        query = {"prediction": "rejected", "sort": "probability", "descending": True, "limit": 8}
        for row in body_of(client.get("/rows", params=query))["rows"]:
            record = explained(client, {"row_ids": [row["row"]], "vary": ["duration"]})
            ways = body_of(client.get(f"/explanations/{record['id']}/ways"))
            if any(one["patch"] for one in (ways["diagnosis"] or {"blockers": []})["blockers"]):
                return int(row["row"])
    raise AssertionError("a longer loan helps everybody")


def actions(ways: Any) -> set[str]:
    return {
        change["feature"]
        for way in ways["ways"]
        for change in way["changes"]
        if change["kind"] != "consequence"
    }


def lock_all_but(page: Page, name: str) -> None:
    for box in page.locator(".feature-limits input[type=checkbox]").all():
        if box.evaluate("box => box.closest('label').innerText").strip().endswith(name):
            continue
        box.uncheck()


def test_limits_are_sent_and_respected(
    loan_page: Page, live_server: LiveServer, rejected: int
) -> None:
    choose(loan_page, rejected)
    find(loan_page)
    _, ways = latest(live_server)
    locked = next(one for one in ways["ways"][0]["changes"] if one["kind"] != "consequence")

    open_limits(loan_page)
    loan_page.get_by_label(f"May be acted on: {locked['label']}").uncheck()
    loan_page.get_by_label("Number of changes").select_option("at most 2")
    expect(loan_page.locator(".limits .summary")).to_contain_text(f"{locked['label']} not acted on")
    expect(loan_page.locator(".start")).to_contain_text("set anew since this answer")
    find(loan_page)
    record, ways = latest(live_server)
    assert locked["feature"] not in record["request"]["vary"]
    assert record["request"]["max_changes"] == 2
    assert locked["feature"] not in actions(ways)
    assert all(point["n_actions"] <= 2 for point in ways["front"])

    loan_page.get_by_role("button", name="Reset").click()
    expect(loan_page.locator(".limits .summary")).to_have_text(
        "No limits beyond those of the schema."
    )


def test_range_direction_and_effort_become_fields_of_the_request(
    loan_page: Page, live_server: LiveServer, rejected: int
) -> None:
    choose(loan_page, rejected)
    open_limits(loan_page)
    loan_page.get_by_role("button", name="Limit savings").click()
    savings = loan_page.locator("li", has_text="savings").locator(".limit-details")
    savings.get_by_label("At least").fill("95000")
    savings.get_by_label("At most").fill("90000")
    expect(savings.get_by_role("alert")).to_contain_text("nothing lies between")
    savings.get_by_label("At least").fill("")
    savings.get_by_role("button", name="only up").click()
    savings.get_by_role("slider").press("ArrowRight")
    expect(loan_page.locator(".limits .summary")).to_have_text(
        "savings: at most $90,000, only up, harder"
    )
    find(loan_page)
    request = latest(live_server)[0]["request"]
    assert request["ranges"] == {"savings": [0, 90000]}
    assert request["rules"] == ["cf.savings >= x.savings"]
    assert request["effort"] == {"savings": 2}


def test_a_rule_is_checked_while_it_is_typed(loan_page: Page, rejected: int) -> None:
    choose(loan_page, rejected)
    open_limits(loan_page)
    rule = loan_page.get_by_label("Rule 1")
    rule.fill("cf.savings >> 3")
    expect(rule).to_have_attribute("aria-invalid", "true")
    verdict = loan_page.locator(".rule .verdict-of-rule")
    expect(verdict.locator("mark")).to_have_text(">")
    expect(verdict.locator(".problem")).not_to_be_empty()
    with refused(loan_page, 422):
        loan_page.get_by_role("button", name=re.compile("^Find ways")).click()
        expect(loan_page.get_by_role("alert")).to_contain_text("Rule 1 is wrong")
    loan_page.get_by_role("button", name="Go to the rule").click()
    expect(rule).to_be_focused()
    rule.fill("cf.savings > 3")
    expect(verdict).to_contain_text("understood")
    expect(rule).not_to_have_attribute("aria-invalid", "true")


def test_nothing_found_is_explained_and_relaxed_by_one_click(
    loan_page: Page, live_server: LiveServer, stuck: int
) -> None:
    choose(loan_page, stuck)
    open_limits(loan_page)
    lock_all_but(loan_page, "loan duration")
    find(loan_page)
    _, ways = latest(live_server)
    assert ways["outcome"] == "not_found"
    expect(loan_page.locator(".not-found")).to_contain_text(ways["lines"][0]["text"])

    offered = [one for one in ways["diagnosis"]["blockers"] if one["patch"]]
    loan_page.locator(".relaxations button").first.click()
    expect(loan_page.locator(".recommended")).to_be_visible()
    record, relaxed = latest(live_server)
    assert relaxed["outcome"] == "found"
    for name, value in offered[0]["patch"].items():
        assert record["request"].get(name) == value

    loan_page.get_by_role("button", name="Back to the limits before").click()
    expect(loan_page.locator(".not-found")).to_be_visible()
    assert latest(live_server)[0]["request"]["vary"] == ["duration"]


def test_limits_stay_when_another_person_is_chosen(
    loan_page: Page, rejected: int, stuck: int
) -> None:
    choose(loan_page, rejected)
    open_limits(loan_page)
    loan_page.get_by_label("Number of changes").select_option("at most 1")
    choose(loan_page, stuck)
    expect(loan_page.locator(".limits .summary")).to_have_text(re.compile("at most 1 change"))
