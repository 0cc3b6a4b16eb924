"""Server-sent events: a stream that ends when its client goes away, and leaves nothing behind."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

Event = tuple[str, dict[str, Any]]

COMMENT_SECONDS = 15.0


class EventStream(Response):
    """Sends events as they come, and a comment where there were none for some time."""

    # The stream listens for the client's going away while it waits for the next event; either way
    # the iterator of the events is closed before the response ends.

    media_type = "text/event-stream"

    def __init__(
        self, events: AsyncGenerator[Event, None], comment_seconds: float = COMMENT_SECONDS
    ) -> None:
        self.status_code = 200
        self.background = None
        self._events = events
        self._comment_seconds = comment_seconds
        self.init_headers({"cache-control": "no-store", "x-accel-buffering": "no"})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the stream until it ends or its client is gone."""
        sending = asyncio.ensure_future(self._send(send))
        leaving = asyncio.ensure_future(_until_disconnect(receive))
        try:
            await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            leaving.cancel()
            if not sending.done():
                sending.cancel()
            await asyncio.gather(sending, leaving, return_exceptions=True)
        if not sending.cancelled():
            sending.result()

    async def _send(self, send: Send) -> None:
        start = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
        await send(start)
        async with (
            aclosing(self._events) as events,
            aclosing(_chunks(events, self._comment_seconds)) as chunks,
        ):
            async for chunk in chunks:
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _chunks(
    events: AsyncIterator[Event], comment_seconds: float
) -> AsyncGenerator[bytes, None]:
    """Return the bytes of each event, and a comment whenever none came for some time."""
    while True:
        upcoming = asyncio.ensure_future(anext(events))
        try:
            while not (await asyncio.wait({upcoming}, timeout=comment_seconds))[0]:
                yield b": still there\n\n"
        finally:
            if not upcoming.done():
                upcoming.cancel()
                await asyncio.gather(upcoming, return_exceptions=True)
        try:
            name, data = upcoming.result()
        except StopAsyncIteration:
            return
        text = json.dumps(data, ensure_ascii=False, allow_nan=False)
        yield f"event: {name}\ndata: {text}\n\n".encode()


async def _until_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
