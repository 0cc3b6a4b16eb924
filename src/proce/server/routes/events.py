"""Server-sent events: a stream that ends when its client goes away, and leaves nothing behind."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from anyio import CancelScope
from starlette.responses import StreamingResponse
from starlette.types import Send

Event = tuple[str, dict[str, Any]]

COMMENT_SECONDS = 15.0


class EventStream(StreamingResponse):
    """Sends events as they come, and a comment where there were none for some time."""

    # Starlette stops the stream when its client goes away; either way the iterator of the events
    # is closed before the response ends.

    media_type = "text/event-stream"

    def __init__(
        self, events: AsyncGenerator[Event, None], comment_seconds: float = COMMENT_SECONDS
    ) -> None:
        headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
        self._chunks = _chunks(events, comment_seconds)
        super().__init__(self._chunks, headers=headers)

    async def stream_response(self, send: Send) -> None:
        """Send the stream, and close it."""
        try:
            await super().stream_response(send)
        finally:
            with CancelScope(shield=True):
                await self._chunks.aclose()


async def _chunks(
    events: AsyncGenerator[Event, None], comment_seconds: float
) -> AsyncGenerator[bytes, None]:
    """Return the bytes of each event, and a comment whenever none came for some time."""
    async with aclosing(events):
        while True:
            upcoming = asyncio.ensure_future(anext(events))
            try:
                while not (await asyncio.wait({upcoming}, timeout=comment_seconds))[0]:
                    yield b": still there\n\n"
            finally:
                if not upcoming.done():
                    upcoming.cancel()
                    with CancelScope(shield=True):
                        await asyncio.gather(upcoming, return_exceptions=True)
            try:
                name, data = upcoming.result()
            except StopAsyncIteration:
                return
            text = json.dumps(data, ensure_ascii=False, allow_nan=False)
            yield f"event: {name}\ndata: {text}\n\n".encode()
