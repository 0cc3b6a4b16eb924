"""Heads that drip or swell, on real sockets."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from proce.server.guard import GuardSettings, Metrics, guarded
from proce.server.guard.heads import BoundedHeads

from .asgi import answering

GET = b"GET /x HTTP/1.1\r\nhost: localhost\r\n"
POST = b"POST /x HTTP/1.1\r\nhost: localhost\r\n"


class Impatient(BoundedHeads):
    """A connection that waits for a head for a moment only."""

    head_seconds = 0.3


@asynccontextmanager
async def connection(
    protocol: type[BoundedHeads] = BoundedHeads,
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """Give a connection to a guarded application on loopback."""
    settings = GuardSettings(body_bytes=1000, body_seconds=0.3)
    app = guarded(answering(), settings, Metrics())
    config = uvicorn.Config(app, log_config=None, lifespan="off")
    config.load()
    state = ServerState()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: protocol(config, server_state=state, app_state={}), "127.0.0.1", 0
    )
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    try:
        yield reader, writer
    finally:
        writer.close()
        server.close()
        await asyncio.wait_for(server.wait_closed(), 10)
        await asyncio.gather(*state.tasks)


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
