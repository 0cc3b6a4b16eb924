"""Every request is counted, timed and logged: what and how, never what was in it."""

import logging
import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from proce.server.guard.metrics import Metrics

ACCESS_LOG = logging.getLogger("proce.access")
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
_MAX_PATH = 200
_NO_ANSWER = 499  # the client went away, or the answer was never begun


class AccessLog:
    """Counts a request under the template of its route, and writes a line to the access log."""

    # A line has no query, no header and no body, so neither a token nor anybody's values.

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and tell of it once it has been answered."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
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
