"""All guards together, around an application with routes."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from fastapi import APIRouter, FastAPI
from starlette.responses import StreamingResponse

from proce.server.guard import GuardSettings, Metrics, Tokens, add_guards

from .asgi import call

TOKEN = "a-token-that-is-long-enough"


def application() -> FastAPI:
    app, router = FastAPI(), APIRouter(prefix="/explanations")

    @router.get("/{record_id}")
    async def record(record_id: str) -> dict[str, str]:
        return {"id": record_id}

    @app.post("/what-if")
    async def what_if(body: dict[str, Any]) -> int:
        return len(body)

    app.include_router(router)
    return app


def test_an_answer_of_a_guard_is_counted_and_has_headers_too(tmp_path: Path) -> None:
    path = tmp_path / "tokens"
    path.write_text(f"auditor {TOKEN}\n", "utf-8")
    path.chmod(0o600)
    metrics = Metrics()
    app = add_guards(application(), GuardSettings(tokens=Tokens(path)), metrics)
    foreign = call(app, "/explanations/1", headers=[("host", "evil.example")])
    nobody = call(app, "/explanations/1")
    somebody = call(
        app,
        "/explanations/1",
        headers=[("host", "localhost"), ("authorization", f"Bearer {TOKEN}")],
    )
    assert [foreign.status, nobody.status, somebody.status] == [400, 401, 200]
    assert all("content-security-policy" in answer.headers for answer in (foreign, nobody))
    text = metrics.text()
    assert 'method="GET",route="none",status="401"} 1.0' in text
    assert 'method="GET",route="/explanations/{record_id}",status="200"} 1.0' in text
    assert "proce_requests_now 0.0" in text


@pytest.mark.parametrize("sizes", [[2000], [600, 600]])
def test_a_large_body_gets_one_answer_through_a_whole_application(sizes: list[int]) -> None:
    app = add_guards(application(), GuardSettings(body_bytes=1000), Metrics())
    headers = [("host", "localhost"), ("content-type", "application/json")]
    answer = call(app, "/what-if", "POST", headers, [b" " * size for size in sizes])
    assert (answer.status, json.loads(answer.body)["fields"]) == (413, [])


async def test_no_guard_buffers_a_stream() -> None:
    seen: list[bytes] = []

    async def pieces() -> AsyncIterator[bytes]:
        for number in range(3):
            assert len(seen) == number  # the piece before has arrived
            yield b"event %d\n\n" % number

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await StreamingResponse(pieces())(scope, receive, send)

    async def receive() -> dict[str, Any]:
        await asyncio.Event().wait()
        raise AssertionError

    async def send(message: dict[str, Any]) -> None:
        if message.get("body"):
            seen.append(message["body"])

    scope = {
        "type": "http",
        "asgi": {"spec_version": "2.3"},
        "method": "GET",
        "path": "/explanations/1/events",
        "headers": [(b"host", b"localhost")],
    }
    stream = add_guards(app, GuardSettings(), Metrics())
    await asyncio.wait_for(stream(scope, receive, send), 10)  # type: ignore[arg-type]
    assert len(seen) == 3


def test_start_and_end_reach_the_application_and_web_sockets_do_not() -> None:
    passed, sent = [], []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        passed.append(scope["type"])

    async def send(message: Any) -> None:
        sent.append(message["type"])

    stack = add_guards(app, GuardSettings(), Metrics())
    for kind in ("lifespan", "websocket"):
        asyncio.run(stack({"type": kind}, None, send))  # type: ignore[arg-type]
    assert (passed, sent) == (["lifespan"], ["websocket.close"])
