"""Bodies: how large, and how slowly they may come."""

import asyncio

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from proce.server.guard.answers import header_values, refuse

_TOO_SLOW, _TOO_LARGE = 408, 413


class BodyLimits:
    """Refuses bodies that are too large, as soon as that is known, or that come too slowly.

    Nothing is kept: bytes are counted while the application reads them. To the application a body
    that was refused looks like a client that went away. The connection is not closed at once where
    a body is too large, since the client would not see the answer; the server reads on, drops what
    it reads, and ends the connection soon (`BoundedConnection`).

    Parameters
    ----------
    app
        What is guarded.
    max_bytes
        The largest body.
    max_seconds
        How long a whole body may take, from when the application first asks for it.
    """

    def __init__(self, app: ASGIApp, max_bytes: int, max_seconds: float = 30.0) -> None:
        self._app = app
        self._max_bytes = max_bytes
        self._max_seconds = max_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 408 or 413, or pass the request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        body = _Body(self._max_bytes, self._max_seconds, receive, send)
        announced = header_values(scope["headers"], b"content-length")
        if any(value.isdigit() and int(value) > self._max_bytes for value in announced):
            await body.refuse_size()
            return
        await self._app(scope, body.receive, body.send)


class _Body:
    """The body of one request, counted and timed while it is read."""

    def __init__(self, max_bytes: int, max_seconds: float, receive: Receive, send: Send) -> None:
        self._max_bytes = max_bytes
        self._max_seconds = max_seconds
        self._receive = receive
        self._send = send
        self._deadline: float | None = None
        self._n_bytes = 0
        self._complete = False
        self._answered = False
        self._refused = False

    async def receive(self) -> Message:
        if self._refused:
            return {"type": "http.disconnect"}
        if self._complete:
            return await self._receive()
        if self._deadline is None:
            self._deadline = asyncio.get_running_loop().time() + self._max_seconds
        try:
            async with asyncio.timeout_at(self._deadline):
                message = await self._receive()
        except TimeoutError:
            words = f"The body did not come within {self._max_seconds:g} seconds."
            return await self._refuse(_TOO_SLOW, words, [(b"connection", b"close")])
        if message["type"] == "http.request":
            self._n_bytes += len(message.get("body", b""))
            self._complete = not message.get("more_body", False)
            if self._n_bytes > self._max_bytes:
                return await self.refuse_size()
        return message

    async def send(self, message: Message) -> None:
        if self._refused:
            return
        self._answered = True
        await self._send(message)

    async def refuse_size(self) -> Message:
        words = f"The body is too large: at most {self._max_bytes:,} bytes are taken."
        return await self._refuse(_TOO_LARGE, words, [])

    async def _refuse(self, status: int, words: str, headers: list[tuple[bytes, bytes]]) -> Message:
        self._refused = True
        if not self._answered:
            await refuse(self._send, status, words, headers)
        return {"type": "http.disconnect"}
