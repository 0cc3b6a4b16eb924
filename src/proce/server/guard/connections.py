"""Connections: how large and how slow the head of a request may be, and how slowly one may read.

Uvicorn bounds none of these. A client that sends a byte of its head now and then, that sends
trailers without end, or that never reads its answer, would hold a connection and memory for ever.
"""

import asyncio
import resource
from functools import cache
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

_WANTED_FILES = 8_192  # open files of the process
_MIN_READ_BYTES = 1024  # between two looks; less is no progress


class BoundedConnection(HttpToolsProtocol):
    """A connection that ends where its client takes too long, or sends too much that is no body.

    Give this class as ``http`` to ``uvicorn.Config``. Every connection is looked at every few
    seconds. Its end is an abort: closing would wait for the client to read what it has not read.

    Attributes
    ----------
    max_head_bytes
        The largest head; also of trailers and of anything else that is no body.
    head_seconds
        The time in which a head must be complete, from when the connection was made or the answer
        before was sent. Bytes that drip in do not prolong it.
    read_seconds
        How long a client may read nothing of what waits for it.
    max_connections
        The most connections at a time, and at most half of the files that the process may open;
        more are ended at once.
    look_seconds
        The time between two looks.
    """

    max_head_bytes = 32_768
    head_seconds = 15.0
    read_seconds = 60.0
    max_connections = 2_000
    look_seconds = 3.0

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._look_timer: asyncio.TimerHandle | None = None
        self._awaits_head_since: float | None = None
        self._stalled_since: float | None = None
        self._n_unread = 0
        self._n_loose_bytes = 0  # that came since a head was complete or a part of a body came
        self._in_head = True

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to look at the connection, and to wait for the head of the first request."""
        super().connection_made(transport)
        if len(self.connections) > min(self.max_connections, _half_of_all_files()):
            transport.abort()
            return
        self._awaits_head_since = self.loop.time()
        self._look_timer = self.loop.call_later(self.look_seconds, self._look)

    def connection_lost(self, exc: Exception | None) -> None:
        """Look no longer."""
        if self._look_timer is not None:
            self._look_timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on, unless too much has come that is no body."""
        if self.transport.is_closing():
            return
        self._n_loose_bytes += len(data)
        super().data_received(data)
        if self._n_loose_bytes > self.max_head_bytes and not self.transport.is_closing():
            self._refuse_head()

    def on_message_begin(self) -> None:
        """Begin to read the head of a request."""
        self._in_head = True
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep a header; trailers, which come after the body, are dropped."""
        if self._in_head:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Let the request be answered, where its head has not become too large."""
        self._in_head = False
        size = len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)
        if size > self.max_head_bytes:
            self._refuse_head()
            return
        self._n_loose_bytes = 0
        self._awaits_head_since = None
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Take a part of a body."""
        self._n_loose_bytes = 0
        super().on_body(body)

    def on_response_complete(self) -> None:
        """Begin to wait for the head of the next request."""
        if not self.pipeline:
            self._awaits_head_since = self.loop.time()
        super().on_response_complete()

    def resume_writing(self) -> None:
        """Note that the client reads."""
        self._stalled_since = None
        super().resume_writing()

    def _look(self) -> None:
        """End the connection where its client has taken too long; else look again later."""
        now = self.loop.time()
        n_unread = self.transport.get_write_buffer_size()
        if n_unread == 0 or n_unread <= self._n_unread - _MIN_READ_BYTES:
            self._stalled_since = None
        elif self._stalled_since is None:
            self._stalled_since = now
        self._n_unread = n_unread
        stalled = _is_over(self._stalled_since, self.read_seconds, now)
        silent = n_unread == 0 and _is_over(self._awaits_head_since, self.head_seconds, now)
        if stalled or silent:
            self.transport.abort()
            return
        self._look_timer = self.loop.call_later(self.look_seconds, self._look)

    def _refuse_head(self) -> None:
        """Say why, where no answer is under way, and end the connection."""
        cycle: RequestResponseCycle | None = self.cycle  # none before the first request
        if cycle is not None and not cycle.response_complete:
            self.transport.abort()
            return
        body = b'{"message": "The head of the request is too large.", "fields": []}'
        self.transport.write(
            b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-type: application/json\r\n"
            b"connection: close\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body)
        )
        self.transport.close()


def _is_over(since: float | None, seconds: float, now: float) -> bool:
    return since is not None and now - since > seconds


@cache
def _half_of_all_files() -> int:
    """Return half of how many files this process may open, as many as the system lets it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < _WANTED_FILES:
        wanted = _WANTED_FILES if hard == resource.RLIM_INFINITY else min(_WANTED_FILES, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        soft = wanted
    return _WANTED_FILES if soft == resource.RLIM_INFINITY else soft // 2
