"""Clients that drip, swell or do not read, on real sockets."""

import asyncio
import resource
import socket
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from proce.server.guard import GuardSettings, Metrics, guarded
from proce.server.guard.connections import BoundedConnection, _half_of_all_files

from .asgi import answering

GET = b"GET /x HTTP/1.1\r\nhost: localhost\r\n"
POST = b"POST /x HTTP/1.1\r\nhost: localhost\r\n"


class Impatient(BoundedConnection):
    """A connection that waits for a moment only."""

    head_seconds = 0.2
    read_seconds = 0.2
    look_seconds = 0.05


@asynccontextmanager
async def serving(
    protocol: type[BoundedConnection], app: Any
) -> AsyncIterator[tuple[tuple[str, int], ServerState]]:
    """Serve a guarded application on loopback; give its address and what it knows."""
    settings = GuardSettings(body_bytes=1000, body_seconds=0.3)
    app = guarded(app, settings, Metrics())
    config = uvicorn.Config(app, log_config=None, lifespan="off")
    config.load()
    state = ServerState()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: protocol(config, server_state=state, app_state={}), "127.0.0.1", 0
    )
    try:
        yield server.sockets[0].getsockname(), state
    finally:
        server.close()
        await asyncio.wait_for(server.wait_closed(), 10)
        await asyncio.gather(*state.tasks)


@asynccontextmanager
async def connection(
    protocol: type[BoundedConnection] = BoundedConnection,
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """Give a connection to an application that tells the size of a body."""
    async with serving(protocol, answering()) as (address, _):
        reader, writer = await asyncio.open_connection(*address)
        try:
            yield reader, writer
        finally:
            writer.close()


def run(story: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(asyncio.wait_for(story, 30))


def test_requests_are_answered_one_after_the_other_on_one_connection() -> None:
    async def story() -> None:
        async with connection() as (reader, writer):
            for _ in range(3):
                writer.write(GET + b"\r\n")
                head = await reader.readuntil(b"\r\n\r\n")
                assert head.startswith(b"HTTP/1.1 200")
                assert b"content-security-policy: default-src 'none'" in head
                assert await reader.readuntil(b"0\r\n\r\n")

    run(story())


@pytest.mark.parametrize("first", [b"", GET + b"\r\n"])
def test_a_head_that_drips_is_cut_off_however_it_drips(first: bytes) -> None:
    async def story() -> bytes:
        async with connection(Impatient) as (reader, writer):
            if first:
                writer.write(first)
                await reader.readuntil(b"0\r\n\r\n")
            writer.write(b"GET /x HTTP/1.1\r\nx-slow: ")

            async def drip() -> None:
                while not reader.at_eof():
                    writer.write(b"a")
                    await asyncio.sleep(0.02)

            dripping = asyncio.ensure_future(drip())
            try:
                return await reader.read()
            except ConnectionResetError:  # a drop was under way when the connection was closed
                return b""
            finally:
                dripping.cancel()

    assert run(story()) == b""


def test_a_connection_that_says_nothing_is_closed() -> None:
    async def story() -> bytes:
        async with connection(Impatient) as (reader, _):
            return await reader.read()

    assert run(story()) == b""


@pytest.mark.parametrize(
    "head",
    [
        GET + b"x-long: " + b"a" * 40_000,
        GET + b"x-long: " + b"a" * 40_000 + b"\r\n\r\n",
        GET + b"x-many: 1\r\n" * 4_000,
        b"GET /" + b"a" * 40_000 + b" HTTP/1.1\r\n\r\n",
    ],
)
def test_a_head_that_is_too_large_is_refused(head: bytes) -> None:
    async def story() -> bytes:
        async with connection() as (reader, writer):
            writer.write(head)
            return await reader.readuntil(b"\r\n\r\n")

    assert run(story()).startswith(b"HTTP/1.1 431")


def test_a_body_that_stops_is_answered_with_408() -> None:
    async def story() -> bytes:
        async with connection() as (reader, writer):
            writer.write(POST + b"content-length: 9\r\n\r\n123")
            return await reader.read()

    assert run(story()).startswith(b"HTTP/1.1 408")


@pytest.mark.parametrize(
    "head", [b"content-length: 104857600\r\n\r\n", b"transfer-encoding: chunked\r\n\r\n"]
)
def test_a_hundred_megabytes_are_refused_early_and_the_client_sees_it(head: bytes) -> None:
    async def story() -> bytes:
        async with connection() as (reader, writer):
            writer.write(POST + head)
            if b"chunked" in head:
                writer.write(b"1000\r\n" + b"x" * 0x1000 + b"\r\n")
            return await reader.readuntil(b"\r\n\r\n")

    assert run(story()).startswith(b"HTTP/1.1 413")


def test_a_refused_body_that_keeps_dripping_does_not_hold_the_connection() -> None:
    async def story() -> None:
        async with connection(Impatient) as (reader, writer):
            writer.write(POST + b"content-length: 104857600\r\n\r\n")
            await reader.readuntil(b"\r\n\r\n")

            async def drip() -> None:
                while not reader.at_eof():
                    writer.write(b"a")
                    await asyncio.sleep(0.02)

            dripping = asyncio.ensure_future(drip())
            try:
                await reader.read()
            except ConnectionResetError:
                pass  # closed while a drop was under way
            finally:
                dripping.cancel()

    run(story())


@pytest.mark.parametrize(
    "trailers", [b"x-many: " + b"a" * 200 + b"\r\n", b"x-endless: " + b"a" * 200, b"a" * 200]
)
def test_trailers_without_end_are_cut_off(trailers: bytes) -> None:
    async def story() -> int:
        async with connection() as (reader, writer):
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
            return sent

    assert run(story()) < 50_000_000


def test_trailers_of_an_honest_client_are_no_headers() -> None:
    async def story() -> bytes:
        async with connection() as (reader, writer):
            writer.write(
                POST + b"transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nhost: evil\r\n\r\n"
            )
            await reader.readuntil(b"\r\n\r\n")
            return await reader.readuntil(b"0\r\n\r\n")

    assert b"3 bytes" in run(story())


@pytest.mark.parametrize("size", [30_000, 20_000_000])
def test_a_client_that_never_reads_is_let_go_with_all_that_waits_for_it(size: int) -> None:
    ended = asyncio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        try:
            await send({"type": "http.response.start", "status": 200, "headers": []})
            for _ in range(200):  # far more than the buffers of the system take
                await send({"type": "http.response.body", "body": b"x" * size, "more_body": True})
        finally:
            ended.set()

    async def story() -> None:
        async with serving(Impatient, app) as (address, state):
            deaf = socket.create_connection(address)
            with deaf:
                await asyncio.get_running_loop().sock_sendall(deaf, GET + b"\r\n")
                await ended.wait()
                while state.connections:
                    await asyncio.sleep(0.02)

    run(story())


def test_more_connections_than_allowed_are_ended_at_once() -> None:
    class Few(BoundedConnection):
        max_connections = 2

    async def story() -> list[bytes]:
        async with serving(Few, answering()) as (address, _):
            clients = [await asyncio.open_connection(*address) for _ in range(3)]
            answers = []
            for reader, writer in clients:
                writer.write(GET + b"connection: close\r\n\r\n")
                try:
                    answers.append((await reader.read())[:12])
                except ConnectionError:
                    answers.append(b"")
                writer.close()
            return answers

    assert run(story()) == [b"HTTP/1.1 200", b"HTTP/1.1 200", b""]


@pytest.mark.parametrize(
    ("limits", "raised", "half"),
    [
        ((256, 512), 512, 256),
        ((1024, 1_048_576), 8192, 4096),
        ((1024, resource.RLIM_INFINITY), 8192, 4096),
        ((20_000, 20_000), None, 10_000),
        ((resource.RLIM_INFINITY, resource.RLIM_INFINITY), None, 8192),
    ],
)
def test_connections_leave_half_of_the_open_files_to_the_rest(
    monkeypatch: pytest.MonkeyPatch, limits: tuple[int, int], raised: int | None, half: int
) -> None:
    set_to = []
    monkeypatch.setattr(resource, "getrlimit", lambda kind: limits)
    monkeypatch.setattr(resource, "setrlimit", lambda kind, pair: set_to.append(pair[0]))
    assert _half_of_all_files.__wrapped__() == half
    assert set_to == ([] if raised is None else [raised])
