"""How many requests are answered at the same time."""

from starlette.types import ASGIApp, Receive, Scope, Send

from proce.server.guard.answers import refuse

_BUSY = 503
_ALWAYS_ANSWERED = ("/health", "/metrics")  # the operator must see that the service is busy


class Crowd:
    """Refuses what comes while too many requests, or too many streams, are being answered.

    Parameters
    ----------
    app
        What is guarded.
    max_requests
        The most requests at a time, streams included.
    max_streams
        The most streams of events at a time.
    """

    def __init__(self, app: ASGIApp, max_requests: int, max_streams: int) -> None:
        self._app = app
        self._max_requests = max_requests
        self._max_streams = max_streams
        self.n_requests = 0
        self.n_streams = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 503, or pass the request on and count it while it lasts."""
        if scope["type"] != "http" or scope["path"] in _ALWAYS_ANSWERED:
            await self._app(scope, receive, send)
            return
        is_stream = scope["path"].endswith("/events")
        if self.n_requests >= self._max_requests or (
            is_stream and self.n_streams >= self._max_streams
        ):
            await refuse(
                send,
                _BUSY,
                "Too many requests are being answered. Try again in a moment.",
                [(b"retry-after", b"2"), (b"connection", b"close")],
            )
            return
        self.n_requests += 1
        self.n_streams += is_stream
        try:
            await self._app(scope, receive, send)
        finally:
            self.n_requests -= 1
            self.n_streams -= is_stream
