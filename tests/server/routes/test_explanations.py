"""Explanations through a live service: asked for, followed, cancelled, drawn, written, logged."""

import csv
import io
import json
from typing import Any

import httpx
import pytest

from ..live import body_of, explained


@pytest.fixture(scope="module")
def row_id(client: httpx.Client) -> int:
    """A row that is rejected, and can be helped."""
    answer = client.get("/rows", params={"prediction": "rejected", "sort": "probability"})
    return int(body_of(answer)["rows"][0]["row"])


@pytest.fixture(scope="module")
def record(client: httpx.Client, row_id: int) -> Any:
    return explained(client, {"row_ids": [row_id], "target": "approved", "n": 2})


def events_of(answer: httpx.Response) -> list[tuple[str, Any]]:
    blocks = [block for block in answer.text.split("\n\n") if block.startswith("event: ")]
    pairs = [block.split("\n", 1) for block in blocks]
    return [
        (name.removeprefix("event: "), json.loads(data.removeprefix("data: ")))
        for name, data in pairs
    ]


def test_a_waited_for_explanation_comes_back_whole(record: Any, row_id: int) -> None:
    assert record["summary"]["found"] == 1
    assert record["request"]["row_ids"] == [row_id]
    assert record["created"] <= record["started"] <= record["finished"]
    assert record["created"].endswith("Z")
    assert "savings" in json.dumps(record["result"])


def test_without_waiting_the_record_is_accepted_and_found_again(
    client: httpx.Client, row_id: int
) -> None:
    answer = client.post("/explanations", json={"row_ids": [row_id], "n": 1})
    accepted = body_of(answer, 202)
    assert accepted["status"] in ("queued", "running")
    assert accepted.get("result") is None
    place = answer.headers["location"]
    assert place == f"/explanations/{accepted['id']}"
    events = events_of(client.get(f"{place}/events"))
    assert [name for name, _ in events][-1] == "end"
    assert {name for name, _ in events[:-1]} == {"progress"}
    assert events[-1][1] == {"status": "done", "error": None}
    assert body_of(client.get(place))["status"] == "done"
    assert events_of(client.get(f"{place}/events")) == [events[-1]]


def test_what_runs_is_cancelled_and_what_has_ended_is_not(
    client: httpx.Client, record: Any
) -> None:
    every = {"row_ids": list(range(60)), "pick": "typical", "n": 8}
    accepted = body_of(client.post("/explanations", json=every), 202)
    place = f"/explanations/{accepted['id']}"
    assert client.get(f"{place}/ways").status_code == 409
    assert body_of(client.delete(place), 202)["id"] == accepted["id"]
    assert events_of(client.get(f"{place}/events"))[-1][1]["status"] == "cancelled"
    again = client.delete(place)
    assert body_of(again, 409)["message"]
    assert client.delete(f"/explanations/{record['id']}").status_code == 409
    cancelled = body_of(client.get("/explanations", params={"status": "cancelled"}))
    assert accepted["id"] in [one["id"] for one in cancelled["records"]]


def test_a_way_is_drawn_from_the_same_words(client: httpx.Client, record: Any) -> None:
    ways = body_of(client.get(f"/explanations/{record['id']}/ways"))
    assert (ways["outcome"], ways["decision"]["target"]) == ("found", "approved")
    first = ways["ways"][0]
    assert first["rank"] == 1
    assert any(change["kind"] == "action" for change in first["changes"])
    assert any(line["kind"] == "action" for line in first["lines"])
    wrong = client.get(f"/explanations/{record['id']}/ways", params={"row": 7})
    assert body_of(wrong, 422)["fields"][0]["field"] == "row"


def test_documents_have_their_types_and_names(client: httpx.Client, record: Any) -> None:
    kinds = {"report": "text/html", "letter": "text/plain", "csv": "text/csv"}
    for name, kind in {**kinds, "json": "application/json"}.items():
        answer = client.get(f"/explanations/{record['id']}/{name}")
        assert answer.status_code == 200, (name, answer.text)
        assert answer.headers["content-type"].partition(";")[0] == kind
        assert record["id"] in answer.headers["content-disposition"]
        assert answer.text
    rows = list(csv.DictReader(io.StringIO(client.get(f"/explanations/{record['id']}/csv").text)))
    assert len(rows) in (1, 2)
    assert client.get(f"/explanations/{record['id']}/json").json() == record["result"]


def test_a_cohort_is_counted(client: httpx.Client) -> None:
    record = explained(client, {"row_ids": [0, 1, 2, 3], "target": "approved", "n": 1})
    cohort = body_of(client.get(f"/explanations/{record['id']}/cohort"))
    assert cohort["n_rows"] == len(cohort["rows"]) == 4
    assert sum(cohort["outcomes"].values()) == 4


def test_the_log_is_listed_filtered_and_exported(client: httpx.Client, record: Any) -> None:
    log = body_of(client.get("/explanations", params={"status": "done", "limit": 1}))
    assert log["total"] >= 1
    assert len(log["records"]) == 1
    assert "result" not in log["records"][0]
    since = {"since": record["created"], "until": record["finished"]}
    assert record["id"] in [
        one["id"] for one in body_of(client.get("/explanations", params=since))["records"]
    ]
    later = body_of(client.get("/explanations", params={"since": "2999-01-01T00:00:00"}))
    assert later == {"total": 0, "records": []}
    lines = client.get("/explanations/export").text.splitlines()
    exported = {one["id"]: one for one in map(json.loads, lines)}
    assert exported[record["id"]]["result"] is not None
    table = client.get("/explanations/export", params={"format": "csv"})
    assert table.headers["content-type"].startswith("text/csv")
    assert record["id"] in table.text


def test_a_view_is_kept_under_an_opaque_id(client: httpx.Client) -> None:
    state = {"tab": "ways", "values": {"naïve 😀": [1, None, True]}}
    kept = body_of(client.post("/views", json={"state": state}), 201)
    assert set(kept) == {"id"}
    assert body_of(client.get(f"/views/{kept['id']}")) == {"state": state}
    assert client.get("/views/nothing").status_code == 404
    large = client.post("/views", json={"state": {"a": "x" * 70_000}})
    assert body_of(large, 422)["fields"][0]["field"] == "state"


def test_what_nobody_asked_for_is_not_found(client: httpx.Client) -> None:
    for method, path in [
        ("GET", "/explanations/0123"),
        ("GET", "/explanations/0123/events"),
        ("GET", "/explanations/0123/ways"),
        ("GET", "/explanations/0123/report"),
        ("DELETE", "/explanations/0123"),
    ]:
        answer = client.request(method, path)
        assert "0123" in body_of(answer, 404)["message"], path
