"""What is counted, timed and logged of requests: what and how, never what was in them."""

import logging
import time
from collections.abc import Callable

from prometheus_client import (
    CONTENT_TYPE_PLAIN_0_0_4,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.registry import Collector
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from proce.server.guard.answers import Guard

ACCESS_LOG = logging.getLogger("proce.access")
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
_MAX_PATH = 200
_NO_ANSWER = 499  # the client went away, or the answer was never begun
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Metrics:
    """What ``/metrics`` tells in the text format of Prometheus, in a registry of its own."""

    content_type = CONTENT_TYPE_PLAIN_0_0_4

    def __init__(self) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call] # they double the text
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        self._requests = Counter(
            "proce_http_requests",
            "Requests that were answered.",
            ("route", "method", "status"),
            registry=self._registry,
        )
        self._seconds = Histogram(
            "proce_http_request_seconds",
            "How long requests took; streams of events until their end.",
            ("route", "method"),
            buckets=_SECONDS,
            registry=self._registry,
        )

    def request(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count an answered request under the template of its route, never its path."""
        self._requests.labels(route, method, str(status)).inc()
        self._seconds.labels(route, method).observe(seconds)

    def state(self, name: str, words: str, value: Callable[[], float]) -> None:
        """Tell a state that is asked for whenever the metrics are read."""
        Gauge(name, words, registry=self._registry).set_function(value)

    def add(self, collector: Collector) -> None:
        """Tell what a collector tells, too."""
        self._registry.register(collector)

    def text(self) -> str:
        """Return everything as text."""
        return generate_latest(self._registry).decode()


class AccessLog(Guard):
    """Counts a request under the template of its route, and writes a line to the access log."""

    # A line has no query, no header and no body, so neither a token nor anybody's values.

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        super().__init__(app)
        self._metrics = metrics

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and tell of it once it has been answered."""
        status = _NO_ANSWER
        began = time.perf_counter()

        async def watch(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, watch)
        finally:
            self._tell(scope, status, time.perf_counter() - began)

    def _tell(self, scope: Scope, status: int, seconds: float) -> None:
        method = scope["method"] if scope["method"] in _METHODS else "OTHER"
        self._metrics.request(_template(scope), method, status, seconds)
        if ACCESS_LOG.isEnabledFor(logging.INFO):
            role = scope.get("state", {}).get("role", "-")
            client = (scope.get("client") or ("-",))[0]
            ACCESS_LOG.info(
                "%s %s %d %.1fms %s %s", method, _path(scope), status, 1e3 * seconds, role, client
            )


def _template(scope: Scope) -> str:
    """Return the template of the route that was taken."""
    path = getattr(scope.get("route"), "path", None)
    return path if isinstance(path, str) else "none"


def _path(scope: Scope) -> str:
    """Return the path as it was sent, percent-encoded: it cannot begin a new line."""
    raw = scope.get("raw_path") or scope["path"].encode("ascii", "backslashreplace")
    text = raw.split(b"?")[0].decode("latin-1")
    shown = "".join(sign if "!" <= sign <= "~" else "?" for sign in text[:_MAX_PATH])
    return shown if len(text) <= _MAX_PATH else f"{shown}..."
