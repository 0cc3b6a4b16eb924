"""Heads of requests: how large, and how slowly they may come.

Uvicorn bounds neither: a client that sends a byte of its head now and then would hold a connection
for ever.
"""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MAX_HEAD_BYTES = 32_768
HEAD_SECONDS = 15.0


class BoundedHeads(HttpToolsProtocol):
    """A connection that is closed where no request's head is complete in time, or is too large.

    The time runs from when the connection is made, or the answer before was sent, until the head
    is complete; bytes that drip in do not prolong it. Give this class as ``http`` to
    ``uvicorn.Config``.
    """

    max_head_bytes = MAX_HEAD_BYTES
    head_seconds = HEAD_SECONDS

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._head_timer: asyncio.TimerHandle | None = None
        self._n_head_bytes = 0
        self._in_head = True

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the head of the first request."""
        super().connection_made(transport)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on, unless the head has become too large."""
        if self.transport.is_closing():
            return
        super().data_received(data)
        if self._in_head and not self.transport.is_closing():
            self._n_head_bytes += len(data)
            if self._n_head_bytes > self.max_head_bytes:
                self._refuse_head()

    def on_message_begin(self) -> None:
        """Begin to count the head of a request."""
        self._in_head = True
        self._n_head_bytes = 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Let the request be answered, where its head has not become too large."""
        self._in_head = False
        size = len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)
        if size > self.max_head_bytes:
            self._refuse_head()
            return
        self._stop_timer()
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        """Begin to wait for the head of the next request."""
        waits = not self.pipeline
        super().on_response_complete()
        if waits and not self.transport.is_closing():
            self._await_head()

    def _await_head(self) -> None:
        self._stop_timer()
        self._head_timer = self.loop.call_later(self.head_seconds, self._close)

    def _stop_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _close(self) -> None:
        if not self.transport.is_closing():
            self.transport.close()

    def _refuse_head(self) -> None:
        body = b'{"message": "The head of the request is too large.", "fields": []}'
        self.transport.write(
            b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-type: application/json\r\n"
            b"connection: close\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body)
        )
        self.transport.close()
