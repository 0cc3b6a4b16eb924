"""Whatever is sent is refused quickly and in words, and the service goes on."""

import json
import socket
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from ..live import LiveServer, body_of

JSON = {"content-type": "application/json"}
PATHS = ("/explanations", "/what-if", "/rules/check", "/rows/parse", "/graph/check", "/views")
SOCKET_SECONDS = 60.0


@pytest.fixture
def client(live_server: LiveServer) -> Iterator[httpx.Client]:
    """A client of a service that must still be there afterwards."""
    with live_server.client() as client:
        yield client
        health = body_of(client.get("/health"))
        assert health["workers"]["ready"] == health["workers"]["total"]
        assert live_server.process.poll() is None


def refused(answer: httpx.Response, *statuses: int) -> dict[str, Any]:
    told: dict[str, Any] = answer.json()
    assert answer.status_code in statuses, (answer.status_code, told)
    assert set(told) == {"message", "fields"}
    assert told["message"]
    assert "Traceback" not in answer.text
    return told


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"null",
        b"{",
        b"\xff\xfe\x00",
        b'"\\ud800"',
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"9" * 100_000,
    ],
    ids=["empty", "list", "null", "open", "bytes", "half", "deep", "deeper", "digits"],
)
def test_what_is_no_request_is_refused(client: httpx.Client, path: str, body: bytes) -> None:
    refused(client.post(path, content=body, headers=JSON), 400, 422)


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("/explanations", '{"row_ids": [0], "n": -1}', "n"),
        ("/explanations", '{"row_ids": [0], "n": NaN}', "n"),
        ("/explanations", '{"row_ids": [0], "ranges": {"age": [0, Infinity]}}', "ranges.age[1]"),
        ("/explanations", '{"row_ids": [0], "ranges": {"age": [0, 1e999]}}', "ranges.age[1]"),
        ("/explanations", '{"rows": [{"age": NaN}]}', "rows[0].age"),
        ("/explanations", '{"rows": [{"agee": 1}]}', "rows[0].agee"),
        ("/explanations", '{"rows": [{"age": "old"}]}', "rows[0].age"),
        ("/explanations", '{"rows": [{"age": true}]}', "rows[0].age"),
        ("/explanations", '{"rows": [{"age": 41}]}', "rows[0].education"),
        ("/explanations", '{"row_ids": [60]}', "row_ids[0]"),
        ("/explanations", '{"row_ids": [0], "target": "maybe"}', "target"),
        ("/explanations", '{"row_ids": [0], "vary": ["age", "agee"]}', "vary[1]"),
        ("/explanations", '{"row_ids": [0], "rules": ["cf.age >= x.age", "cf.age >"]}', "rules[1]"),
        ("/explanations", '{"row_ids": [0], "effort": {"agee": 1}}', "effort.agee"),
        ("/explanations", '{"row_ids": [0], "graph": {"dagitty": "dag {"}}', "graph.dagitty"),
        ("/explanations", '{"row_ids": [0], "budget_seconds": 1e6}', "budget_seconds"),
        ("/explanations", '{"row_ids": [0], "max_seconds": 3}', "max_seconds"),
        ("/what-if", '{"row_id": 0, "changes": {"age": -Infinity}}', "changes.age"),
        ("/what-if", '{"row_id": 0, "changes": {"agee": 1}}', "changes.agee"),
        ("/what-if", '{"row_id": "0"}', "row_id"),
        ("/views", '{"state": {"a": NaN}}', "state"),
        ("/rules/check", '{"rules": "cf.age > 1"}', "rules"),
    ],
)
def test_a_wrong_field_is_named(client: httpx.Client, path: str, body: str, field: str) -> None:
    told = refused(client.post(path, content=body, headers=JSON), 422)
    assert field in [one["field"] for one in told["fields"]], told


def test_queries_are_checked_too(client: httpx.Client) -> None:
    for path, field in [
        ("/rows?limit=0", "limit"),
        ("/rows?offset=-1", "offset"),
        ("/rows?limit=1.5", "limit"),
        ("/rows?sort=agee", "sort"),
        ("/rows?where=x.age%20%3E", "where"),
        ("/schema?view=everybody", "view"),
        ("/explanations?since=yesterday", "since"),
        ("/explanations?since=0001-01-01T00:00:00%2B14:00", "since"),
        ("/explanations?until=9999-12-31T23:59:59-14:00", "until"),
        ("/explanations?status=lost", "status"),
        ("/explanations/export?format=xml", "format"),
    ]:
        told = refused(client.get(path), 422)
        assert told["fields"][0]["field"] == field, path


def test_bodies_must_say_that_they_are_json(client: httpx.Client) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""):
        answer = client.post(
            "/rules/check", content=b'{"rules": []}', headers={"content-type": kind}
        )
        refused(answer, 415)


def test_a_body_of_100_megabytes_is_refused_before_it_is_read(live_server: LiveServer) -> None:
    head = "POST /explanations HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
    with socket.create_connection(("127.0.0.1", live_server.port), SOCKET_SECONDS) as connection:
        connection.sendall(f"{head}content-length: 100000000\r\n\r\n".encode())
        answer = connection.recv(65_536)
    assert answer.startswith(b"HTTP/1.1 413 ")
    with live_server.client() as client:
        piece = b"x" * 1_000_000
        chunked = client.post("/explanations", content=iter([piece] * 6), headers=JSON)
        refused(chunked, 413)
        assert body_of(client.get("/health"))["status"] == "ok"


def test_thousands_of_rules_and_catastrophic_ones_are_refused(client: httpx.Client) -> None:
    many = {"row_ids": [0], "rules": ["cf.age >= x.age"] * 5_000}
    assert refused(client.post("/explanations", json=many), 422)["fields"][0]["field"] == "rules"
    for text in (
        "(" * 1_900 + "cf.age > 1" + ")" * 1_900,
        "not " * 900 + "cf.age > 1",
        "cf.age > 1" + " => cf.age > 1" * 250,
        "cf.age > " + "-" * 3_900 + "1",
        "cf.age " + "+ 1 " * 900 + "> 1",
        "a" * 4_000,
        '"' * 3_999,
        "cf.age ** cf.age ** cf.age > 9 ** 9 ** 9",
        "__import__('os').system('true')",
    ):
        checked = body_of(client.post("/rules/check", json={"rules": [text]}))["rules"][0]
        answer = client.post("/explanations", json={"row_ids": [0], "rules": [text]})
        if not checked["ok"]:
            assert checked["error"]
            assert refused(answer, 422)["fields"][0]["field"] == "rules[0]"
        else:
            assert answer.status_code in (202, 422)


def test_many_names_with_one_twice_are_refused_in_one_pass(client: httpx.Client) -> None:
    names = ", ".join(f'"{number}": 1' for number in range(20_000))
    body = f'{{"row_id": 0, "changes": {{{names}, "0": 2}}}}'
    assert "twice" in refused(client.post("/what-if", content=body, headers=JSON), 400)["message"]


def test_a_slow_client_keeps_nobody_waiting(live_server: LiveServer) -> None:
    head = b"POST /what-if HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
    slow = [
        socket.create_connection(("127.0.0.1", live_server.port), SOCKET_SECONDS) for _ in range(20)
    ]
    try:
        for number, connection in enumerate(slow):
            connection.sendall(head + (b"content-length: 50\r\n\r\n{" if number % 2 else b"x-a: b"))
        with live_server.client() as client:
            assert body_of(client.post("/what-if", json={"row_id": 0}))["before"]
    finally:
        for connection in slow:
            connection.close()


def test_unknown_hosts_and_names_too_long_for_a_file_are_refused(client: httpx.Client) -> None:
    refused(client.get("/health", headers={"host": "evil.example"}), 400)
    refused(client.get(f"/page/{'a' * 300}.js"), 404)
    refused(client.get(f"/explanations/{'a' * 65}"), 422)


def test_a_stream_whose_client_goes_away_leaves_nothing(live_server: LiveServer) -> None:
    """The metrics count streams: after some clients left in the middle there is none."""
    with live_server.client() as client:
        request = {"row_ids": list(range(60)), "pick": "typical", "n": 8}
        record = body_of(client.post("/explanations", json=request), 202)
        place = f"/explanations/{record['id']}"
        for _ in range(3):
            with client.stream("GET", f"{place}/events") as answer:
                assert next(answer.iter_lines()) == "event: progress"
        body_of(client.delete(place), 202)
        end = client.get(f"{place}/events").text
        assert json.loads(end.rpartition("data: ")[2])["status"] == "cancelled"
        assert "proce_event_streams_now 0" in client.get("/metrics").text
