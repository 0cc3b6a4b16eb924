"""Bodies that are too large, and too many requests at a time."""

import asyncio
from typing import Any

import pytest

from proce.server.guard.guards import BodyLimit, ConcurrencyLimit

from .asgi import answer_of, answering, call

HOST = ("host", "localhost")


def test_a_body_within_the_limit_arrives_whole() -> None:
    answer = call(BodyLimit(answering(), 10), "/", "POST", body=[b"12345", b"67890"])
    assert (answer.status, answer.body) == (200, b"10 bytes")


def test_a_body_that_announces_too_much_is_refused_before_it_is_read() -> None:
    app = answering()
    headers = [HOST, ("content-length", "104857600")]
    answer = call(BodyLimit(app, 10), "/", "POST", headers, body=[None])
    assert (answer.status, app.seen) == (413, [])
    assert "at most 10 bytes" in answer.message


def test_a_body_that_does_not_tell_its_size_is_refused_as_soon_as_it_is_too_large() -> None:
    app = answering()
    answer = call(BodyLimit(app, 10), "/", "POST", body=[b"123456", b"123456", None])
    assert (answer.status, len(app.seen)) == (413, 1)
    assert "too large" in answer.message


def test_a_lie_about_the_size_does_not_help() -> None:
    headers = [HOST, ("content-length", "3")]
    answer = call(BodyLimit(answering(), 10), "/", "POST", headers, body=[b"x" * 11])
    assert answer.status == 413


@pytest.mark.parametrize("length", ["-1", "nonsense", "", "1e9", "٣"])
def test_an_odd_size_is_left_to_the_count(length: str) -> None:
    headers = [HOST, ("content-length", length.encode("utf-8").decode("latin-1"))]
    answer = call(BodyLimit(answering(), 10), "/", "POST", headers, body=[b"x" * 11])
    assert answer.status == 413


def test_an_answer_that_has_begun_is_not_begun_again() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        assert (await receive())["type"] == "http.disconnect"
        await send({"type": "http.response.body", "body": b"lost"})

    answer = call(BodyLimit(app, 1), "/", "POST", body=[b"too much"])
    assert (answer.status, answer.body) == (200, b"")


async def crowded(
    max_requests: int, max_streams: int, paths: list[str]
) -> tuple[list[int], ConcurrencyLimit]:
    """Return the statuses of requests that are there at the same time."""
    release = asyncio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await release.wait()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    limit = ConcurrencyLimit(app, max_requests, max_streams)
    asked = [asyncio.ensure_future(answer_of(limit, path)) for path in paths]
    for _ in range(10):  # turns of the loop: nothing but the release makes a request wait
        await asyncio.sleep(0)
    release.set()
    answers = await asyncio.gather(*asked)
    return [answer.status for answer in answers], limit


def test_beyond_the_limit_requests_are_told_to_come_again() -> None:
    statuses, limit = asyncio.run(crowded(2, 9, ["/a", "/b", "/c", "/health", "/metrics"]))
    assert statuses == [200, 200, 503, 200, 200]
    assert limit.n_requests == 0


def test_streams_have_a_limit_of_their_own() -> None:
    statuses, limit = asyncio.run(crowded(9, 1, ["/x/events", "/y/events", "/z"]))
    assert statuses == [200, 503, 200]
    assert (limit.n_requests, limit.n_streams) == (0, 0)


def test_a_request_that_fails_leaves_the_count() -> None:
    async def broken(scope: Any, receive: Any, send: Any) -> None:
        raise ZeroDivisionError

    limit = ConcurrencyLimit(broken, 1, 1)
    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            call(limit, "/x/events")
    assert (limit.n_requests, limit.n_streams) == (0, 0)
