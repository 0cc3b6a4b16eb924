"""Searches in trouble: stopped, left, crowded out, their workers killed."""

import json
import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from proce import load_dataset

from ..live import LiveServer, body_of
from .steps import choose, close_watched, find, open_watched, refused

N_CROWD = 600
RESTART_MILLISECONDS = 120_000  # of a worker, on a machine that has much to do
FIND = re.compile("^Find ways")


def about(server: LiveServer, row: int) -> str:
    """Return the id of the latest record, which is about a row."""
    record, _ = newest(server)
    assert record["request"]["row_ids"] == [row]
    return str(record["id"])


def newest(server: LiveServer) -> tuple[Any, str]:
    """Return the latest record and its status."""
    with server.client() as client:
        record = body_of(client.get("/explanations", params={"limit": 1}))["records"][0]
    return record, record["status"]


def end_of(server: LiveServer, id: str) -> str:
    """Wait for the end of an explanation and return its status."""
    with server.client() as client:
        stream = client.get(f"/explanations/{id}/events").text
    return str(json.loads(stream.rpartition("event: end\ndata:")[2])["status"])


def wait_until_it_runs(server: LiveServer, id: str) -> None:
    """Wait until an explanation has left the queue."""
    with server.client() as client, client.stream("GET", f"/explanations/{id}/events") as stream:
        for line in stream.iter_lines():
            if line.startswith("data:") and json.loads(line[5:]).get("stage") != "queued":
                return


def crowd(server: LiveServer) -> str:
    """Give the one process that explains much to do; return the id of the record."""
    with server.client() as client:
        listed = body_of(client.get("/rows", params={"limit": 50, "view": "auditor"}))["rows"]
        request = {"rows": [row["values"] for row in listed] * 20, "n": 1}
        answer = client.post("/explanations", json=request, params={"view": "auditor"})
        return str(body_of(answer, 202)["id"])


def another(page: Page, row: int) -> int:
    """Return a row of the list that is on the page, other than one."""
    rows = [int(one.get_attribute("data-row") or -1) for one in page.locator("[data-row]").all()]
    return next(one for one in rows if one != row)


def test_a_search_is_stopped_or_left_and_the_next_one_starts_at_once(
    loan_page: Page, live_server: LiveServer, rejected: int
) -> None:
    choose(loan_page, rejected)
    busy = crowd(live_server)
    with live_server.client() as client:
        loan_page.get_by_role("button", name=FIND).click()
        loan_page.get_by_role("button", name="Stop").click()
        expect(loan_page.locator(".start")).to_contain_text("Stopped.")
        stopped = about(live_server, rejected)
        assert end_of(live_server, stopped) == "cancelled"

        with loan_page.expect_response(re.compile("/events$")):
            loan_page.get_by_role("button", name=FIND).click()
        left = about(live_server, rejected)
        assert left != stopped
        choose(loan_page, another(loan_page, rejected))
        expect(loan_page.get_by_role("progressbar")).to_have_count(0)
        assert end_of(live_server, left) == "cancelled"

        choose(loan_page, rejected)
        loan_page.get_by_role("button", name=FIND).click()
        expect(loan_page.get_by_role("progressbar")).to_be_visible()
        body_of(client.delete(f"/explanations/{busy}"), 202)
    expect(loan_page.locator(".recommended")).to_be_visible(timeout=RESTART_MILLISECONDS)
    assert newest(live_server)[1] == "done"


def test_a_search_is_asked_for_once_however_often_the_button_is_pressed(
    loan_page: Page, rejected: int
) -> None:
    asked: list[Route] = []
    loan_page.route("**/explanations?wait=*", lambda route: asked.append(route))
    choose(loan_page, rejected)
    loan_page.get_by_role("button", name=FIND).evaluate("one => { one.click(); one.click(); }")
    expect(loan_page.get_by_role("button", name="Stop")).to_be_visible()
    asked[0].continue_()
    expect(loan_page.locator(".recommended")).to_be_visible()
    assert len(asked) == 1


@pytest.fixture(scope="module")
def crowded(loan_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    """A service with many rows, one process that explains, and room for one more to wait."""
    folder = tmp_path_factory.mktemp("crowd")
    load_dataset("loan", n=N_CROWD, seed=5).frame.to_csv(folder / "rows.csv", index=False)
    words = ["--rows", folder / "rows.csv", "--workers", 1, "--queue", 1]
    with LiveServer(loan_folder, *words, "--database", folder / "log.sqlite") as server:
        yield server


@pytest.fixture
def crowded_page(browser: Browser, crowded: LiveServer) -> Iterator[Page]:
    page = open_watched(browser, crowded.address)
    yield page
    close_watched(page)


def explain_all(page: Page, n: int) -> None:
    """Start the explanation of many people and wait until some of it is done."""
    page.get_by_role("button", name="Many people").click()
    page.get_by_label("Wanted decision").select_option(label="approved")
    page.get_by_label("At most").fill(str(n))
    page.get_by_role("button", name=re.compile(r"^Explain (all|the first) \d")).click()
    expect(page.get_by_role("button", name="Stop")).to_be_visible()


@pytest.mark.slow
def test_many_people_are_stopped_in_the_middle(crowded_page: Page, crowded: LiveServer) -> None:
    explain_all(crowded_page, N_CROWD)
    expect(crowded_page.locator(".cohort progress[value]")).to_be_visible()
    crowded_page.get_by_role("button", name="Stop").click()
    expect(crowded_page.get_by_role("alert")).to_contain_text(re.compile("stopped|cancelled"))
    assert newest(crowded)[1] == "cancelled"
    explain_all(crowded_page, 3)
    expect(crowded_page.get_by_role("heading", name="3 people")).to_be_visible()


@pytest.mark.slow
def test_a_full_queue_is_told_in_words_and_tried_again(
    crowded_page: Page, crowded: LiveServer
) -> None:
    choose(crowded_page, 0)
    ids = [crowd(crowded)]
    wait_until_it_runs(crowded, ids[0])
    with crowded.client() as client:
        ids.append(crowd(crowded))
        with refused(crowded_page, 503):
            crowded_page.get_by_role("button", name=FIND).click()
            told = crowded_page.get_by_role("alert")
            expect(told).to_contain_text("Try again")
        for one in reversed(ids):
            body_of(client.delete(f"/explanations/{one}"), 202)
    find(crowded_page)
    expect(told).to_have_count(0)


def children_of(process: int) -> list[int]:
    """Return the processes that a process began."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(state[1]) == process:
            found.append(int(folder.name))
    return found


@pytest.mark.slow
def test_an_answer_comes_though_every_worker_is_killed_in_the_middle(
    crowded_page: Page, crowded: LiveServer
) -> None:
    explain_all(crowded_page, 120)
    expect(crowded_page.locator(".cohort progress[value]")).to_be_visible()
    for server in children_of(crowded.process.pid):
        for worker in children_of(server):
            os.kill(worker, signal.SIGKILL)
    expect(crowded_page.get_by_role("heading", name="120 people")).to_be_visible(
        timeout=RESTART_MILLISECONDS
    )
    assert newest(crowded)[1] == "done"
