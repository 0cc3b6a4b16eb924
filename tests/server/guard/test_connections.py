"""What uvicorn's own limits promise, on real sockets: heads, trailers, connections, bodies."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import pytest
import uvicorn

from proce.server.guard import GuardSettings, Metrics, add_guards
from proce.server.run import uvicorn_config

from .asgi import answering

GET = b"GET /x HTTP/1.1\r\nhost: localhost\r\n"
POST = b"POST /x HTTP/1.1\r\nhost: localhost\r\n"


@asynccontextmanager
async def serving(max_connections: int = 100) -> AsyncIterator[tuple[str, int]]:
    """Serve an application that tells the size of a body; give the address."""
    app = add_guards(answering(), GuardSettings(body_bytes=1000), Metrics())
    config = uvicorn_config(app, max_connections)
    config.load()
    server = uvicorn.Server(config)
    server.lifespan = config.lifespan_class(config)
    loop = asyncio.get_running_loop()
    protocol = config.http_protocol_class
    listener = await loop.create_server(
        lambda: protocol(  # type: ignore[call-arg, return-value]
            config=config, server_state=server.server_state, app_state={}
        ),
        "127.0.0.1",
        0,
    )
    try:
        yield listener.sockets[0].getsockname()
    finally:
        listener.close()
        for connection in list(server.server_state.connections):
            connection.shutdown()
        await asyncio.wait_for(listener.wait_closed(), 10)
        await asyncio.gather(*server.server_state.tasks)


def answer_to(*sent: bytes, until: bytes = b"\r\n\r\n") -> bytes:
    """Return what a service answers on one connection, up to some bytes or to its end."""

    async def story() -> bytes:
        async with serving() as address:
            reader, writer = await asyncio.open_connection(*address)
            answer = b""
            for piece in sent:
                writer.write(piece)
                answer = await (reader.readuntil(until) if until else reader.read())
            writer.close()
            return answer

    return run(story())


def run(story: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(asyncio.wait_for(story, 30))


def test_requests_are_answered_one_after_the_other_on_one_connection() -> None:
    answer = answer_to(*[GET + b"\r\n"] * 3, until=b"0\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 200")
    assert b"content-security-policy: default-src 'none'" in answer


@pytest.mark.parametrize(
    "head",
    [
        GET + b"x-long: " + b"a" * 40_000,
        GET + b"x-many: 1\r\n" * 4_000,
        b"GET /" + b"a" * 40_000,
        b"GET /x HTTP/1.1\r\n\r\n",  # without a host
        GET + b"host: localhost\r\n\r\n",  # with two
    ],
)
def test_a_head_that_is_too_large_or_malformed_is_refused_and_the_connection_ends(
    head: bytes,
) -> None:
    assert answer_to(head, until=b"").startswith(b"HTTP/1.1 400")


@pytest.mark.parametrize(
    "head", [b"content-length: 104857600\r\n\r\n", b"transfer-encoding: chunked\r\n\r\n"]
)
def test_a_hundred_megabytes_are_refused_early_and_the_client_sees_it(head: bytes) -> None:
    piece = b"1000\r\n" + b"x" * 0x1000 + b"\r\n" if b"chunked" in head else b""
    assert answer_to(POST + head + piece).startswith(b"HTTP/1.1 413")


@pytest.mark.parametrize("trailers", [b"x-many: " + b"a" * 200 + b"\r\n", b"a" * 200])
def test_trailers_without_end_are_cut_off(trailers: bytes) -> None:
    async def story() -> int:
        async with serving() as address:
            reader, writer = await asyncio.open_connection(*address)
            writer.write(POST + b"transfer-encoding: chunked\r\n\r\n0\r\n")
            sent = 0
            try:
                while sent < 50_000_000 and not reader.at_eof():
                    writer.write(trailers * 100)
                    sent += len(trailers) * 100
                    await writer.drain()
                    await asyncio.sleep(0)
            except ConnectionError:
                pass
            writer.close()
            return sent

    assert run(story()) < 50_000_000


def test_trailers_of_an_honest_client_are_no_headers() -> None:
    body = b"transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nhost: evil\r\n\r\n"
    assert b"3 bytes" in answer_to(POST + body, until=b"0\r\n\r\n")


def test_more_connections_than_allowed_are_told_that_the_service_is_busy() -> None:
    async def story() -> list[bytes]:
        async with serving(max_connections=3) as address:
            clients = [await asyncio.open_connection(*address) for _ in range(3)]
            answers = []
            for reader, writer in clients[::-1]:  # the last one makes it too many
                writer.write(GET + b"connection: close\r\n\r\n")
                answers.append((await reader.read())[:12])
                writer.close()
            return answers

    assert run(story()) == [b"HTTP/1.1 503", b"HTTP/1.1 200", b"HTTP/1.1 200"]
