"""Server-sent events: the stream ends with its events or with its client, and leaves nothing."""

import asyncio
from collections.abc import AsyncGenerator

import pytest
from starlette.types import Message

from proce.server.routes.events import Event, EventStream

HTTP = {"type": "http"}


class Source:
    """Events that come when a test says so; remembers whether it was closed."""

    def __init__(self) -> None:
        self.waiting: asyncio.Queue[Event] = asyncio.Queue()
        self.closed = False

    async def events(self) -> AsyncGenerator[Event, None]:
        try:
            while True:
                event = await self.waiting.get()
                yield event
                if event[0] == "end":
                    return
        finally:
            self.closed = True


class Client:
    """The other side of the connection."""

    def __init__(self) -> None:
        self.sent: list[Message] = []
        self.got_some = asyncio.Event()
        self.gone = asyncio.Event()

    async def receive(self) -> Message:
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        self.sent.append(message)
        if message.get("body"):
            self.got_some.set()

    @property
    def text(self) -> str:
        return b"".join(message.get("body", b"") for message in self.sent).decode()


async def test_events_are_sent_as_they_come_until_the_last() -> None:
    source, client = Source(), Client()
    source.waiting.put_nowait(("progress", {"done": 1, "stage": "Suche ü"}))
    source.waiting.put_nowait(("end", {"status": "done", "error": None}))
    await EventStream(source.events())(HTTP, client.receive, client.send)
    assert client.text == (
        'event: progress\ndata: {"done": 1, "stage": "Suche ü"}\n\n'
        'event: end\ndata: {"status": "done", "error": null}\n\n'
    )
    headers = dict(client.sent[0]["headers"])
    assert headers[b"content-type"].startswith(b"text/event-stream")
    assert headers[b"cache-control"] == b"no-store"
    assert b"content-length" not in headers
    assert client.sent[-1] == {"type": "http.response.body", "body": b"", "more_body": False}
    assert source.closed


async def test_a_client_that_goes_away_leaves_nothing_behind() -> None:
    source, client = Source(), Client()
    stream = asyncio.create_task(EventStream(source.events())(HTTP, client.receive, client.send))
    source.waiting.put_nowait(("progress", {"done": 1}))
    await client.got_some.wait()
    client.gone.set()
    await stream
    assert source.closed


async def test_a_stream_that_is_cancelled_leaves_nothing_behind() -> None:
    source, client = Source(), Client()
    stream = asyncio.create_task(EventStream(source.events())(HTTP, client.receive, client.send))
    source.waiting.put_nowait(("progress", {"done": 1}))
    await client.got_some.wait()
    stream.cancel()
    with pytest.raises(asyncio.CancelledError):
        await stream
    assert source.closed


async def test_a_comment_is_sent_where_nothing_happens() -> None:
    source, client = Source(), Client()
    stream = asyncio.create_task(
        EventStream(source.events(), comment_seconds=0.01)(HTTP, client.receive, client.send)
    )
    await client.got_some.wait()
    source.waiting.put_nowait(("end", {"status": "done", "error": None}))
    await stream
    assert client.text.startswith(": ")
    assert client.text.endswith("\n\n")


async def test_a_client_that_goes_away_in_the_middle_of_a_comment_leaves_nothing_behind() -> None:
    source, client = Source(), Client()
    stuck = asyncio.Event()

    async def send(message: Message) -> None:
        if message.get("body"):
            client.gone.set()
            await stuck.wait()

    await EventStream(source.events(), comment_seconds=0.01)(HTTP, client.receive, send)
    assert source.closed


async def test_an_error_of_the_events_is_raised_after_they_are_closed() -> None:
    async def broken() -> AsyncGenerator[Event, None]:
        yield "progress", {}
        raise RuntimeError("no more")

    client = Client()
    with pytest.raises(RuntimeError, match="no more"):
        await EventStream(broken())(HTTP, client.receive, client.send)
