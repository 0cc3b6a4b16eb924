"""How large a body may be, how many requests are answered at a time; and all guards in order."""

from dataclasses import dataclass, field

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from proce.server.guard.access import Access, Tokens
from proce.server.guard.answers import Guard, SecurityHeaders, header_values, refuse
from proce.server.guard.exposure import HostCheck
from proce.server.guard.metrics import AccessLog, Metrics

_TOO_LARGE, _BUSY = 413, 503
_ALWAYS_ANSWERED = ("/health", "/metrics")  # the operator must see that the service is busy


class BodyLimit(Guard):
    """Refuses bodies that are too large, as soon as that is known; nothing of them is kept."""

    # To the application a body that was refused looks like a client that went away.
    def __init__(self, app: ASGIApp, max_bytes: int) -> None:
        super().__init__(app)
        self._max_bytes = max_bytes

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 413, or pass the request on."""
        announced = header_values(scope["headers"], b"content-length")
        if any(value.isdigit() and int(value) > self._max_bytes for value in announced):
            await self._refuse(send)
            return
        n_bytes, is_refused, is_answered = 0, False, False

        async def receive_counted() -> Message:
            nonlocal n_bytes, is_refused
            message: Message = {"type": "http.disconnect"} if is_refused else await receive()
            n_bytes += len(message.get("body", b""))
            if is_refused or n_bytes <= self._max_bytes:
                return message
            is_refused = True
            if not is_answered:
                await self._refuse(send)
            return {"type": "http.disconnect"}

        async def send_unless_refused(message: Message) -> None:
            nonlocal is_answered
            if not is_refused:
                is_answered = True
                await send(message)

        await self._app(scope, receive_counted, send_unless_refused)

    async def _refuse(self, send: Send) -> None:
        words = f"The body is too large: at most {self._max_bytes:,} bytes are taken."
        await refuse(send, _TOO_LARGE, words)


class ConcurrencyLimit(Guard):
    """Refuses what comes while too many requests, or too many streams, are being answered."""

    def __init__(self, app: ASGIApp, max_requests: int, max_streams: int) -> None:
        super().__init__(app)
        self._max_requests = max_requests
        self._max_streams = max_streams
        self.n_requests = 0
        self.n_streams = 0

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 503, or pass the request on and count it while it lasts."""
        if scope["type"] != "http" or scope["path"] in _ALWAYS_ANSWERED:
            await self._app(scope, receive, send)
            return
        is_stream = scope["path"].endswith("/events")
        if self.n_requests >= self._max_requests or (
            is_stream and self.n_streams >= self._max_streams
        ):
            words = "Too many requests are being answered. Try again in a moment."
            await refuse(send, _BUSY, words, [(b"retry-after", b"2"), (b"connection", b"close")])
            return
        self.n_requests += 1
        self.n_streams += is_stream
        try:
            await self._app(scope, receive, send)
        finally:
            self.n_requests -= 1
            self.n_streams -= is_stream


@dataclass(frozen=True)
class GuardSettings:
    """What the operator has set; streams of events are requests too."""

    host: str = "127.0.0.1"
    tokens: Tokens | None = field(default=None, repr=False)  # none on loopback alone
    allowed_hosts: tuple[str, ...] = ()
    body_bytes: int = 4_000_000
    max_requests: int = 512
    max_streams: int = 128


def add_guards(app: ASGIApp, settings: GuardSettings, metrics: Metrics) -> ASGIApp:
    """Return an application behind all guards."""
    # Every answer, of a guard too, is counted and has security headers. The host and the token
    # are checked before anything of the body is read.
    known = Access(BodyLimit(app, settings.body_bytes), settings.tokens)
    here = HostCheck(known, settings.host, settings.allowed_hosts)
    limit = ConcurrencyLimit(here, settings.max_requests, settings.max_streams)
    metrics.state("proce_requests_now", "Requests being answered.", lambda: limit.n_requests)
    metrics.state("proce_event_streams_now", "Streams of events.", lambda: limit.n_streams)
    return AccessLog(SecurityHeaders(limit), metrics)
