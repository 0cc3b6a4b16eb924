"""Requests to an ASGI application without a server."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

Chunk = bytes | None  # None: nothing more comes, and the client stays


@dataclass
class Answer:
    """What an application sent."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    pieces: list[bytes] = field(default_factory=list)

    @property
    def body(self) -> bytes:
        return b"".join(self.pieces)

    @property
    def message(self) -> str:
        value = json.loads(self.body)
        assert value["fields"] == []
        return str(value["message"])


def call(
    app: Any,
    path: str = "/",
    method: str = "GET",
    headers: Iterable[tuple[str, str]] = (("host", "127.0.0.1:8000"),),
    body: Iterable[Chunk] = (b"",),
    **scope: Any,
) -> Answer:
    """Send one request and return the answer."""
    return asyncio.run(answer_of(app, path, method, headers, body, **scope))


async def answer_of(
    app: Any,
    path: str = "/",
    method: str = "GET",
    headers: Iterable[tuple[str, str]] = (("host", "127.0.0.1:8000"),),
    body: Iterable[Chunk] = (b"",),
    **scope: Any,
) -> Answer:
    answer = Answer()
    pieces = list(body)
    messages = _messages(pieces)

    async def receive() -> dict[str, Any]:
        return await anext(messages)

    async def send(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            assert answer.status == 0
            answer.status = message["status"]
            answer.headers = {
                name.decode(): value.decode() for name, value in message.get("headers", ())
            }
        else:
            answer.pieces.append(message.get("body", b""))

    request = {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode("utf-8", "surrogatepass"),
        "query_string": b"",
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in headers],
        "client": ("192.0.2.7", 4711),
        **scope,
    }
    await asyncio.wait_for(app(request, receive, send), 10)
    return answer


async def _messages(pieces: list[Chunk]) -> AsyncIterator[dict[str, Any]]:
    for position, piece in enumerate(pieces):
        if piece is None:
            break
        more = position + 1 < len(pieces)
        yield {"type": "http.request", "body": piece, "more_body": more}
    await asyncio.Event().wait()


def answering(status: int = 200, headers: Iterable[tuple[bytes, bytes]] = ()) -> Any:
    """Return an application that reads the body and sends back its size, and keeps the scope."""

    async def app(
        scope: dict[str, Any],
        receive: Callable[[], Awaitable[dict[str, Any]]],
        send: Callable[[dict[str, Any]], Awaitable[None]],
    ) -> None:
        seen.append(scope)
        size = 0
        while (message := await receive())["type"] == "http.request":
            size += len(message["body"])
            if not message["more_body"]:
                break
        await send({"type": "http.response.start", "status": status, "headers": list(headers)})
        await send({"type": "http.response.body", "body": b"%d bytes" % size})

    seen: list[dict[str, Any]] = []
    app.seen = seen  # type: ignore[attr-defined]
    return app
