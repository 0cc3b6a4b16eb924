"""How a guard answers: the one shape of every error, and the headers of every answer."""

import json
import re
from collections.abc import Iterable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

Headers = Iterable[tuple[bytes, bytes]]

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
    " connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none';"
    " frame-ancestors 'none'"
)
# A report is one file with its own style and pictures. It needs no script and no origin.
REPORT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:;"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox"
)
_POLICY_VIOLATION = 1008  # of a web socket
_REPORT = re.compile(r"/explanations/[^/]+/report")
_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
    (b"x-frame-options", b"DENY"),
    (b"cache-control", b"no-store"),
)


async def refuse(send: Send, status: int, message: str, headers: Headers = ()) -> None:
    """Answer a request with an error in words: what was wrong, what was expected, what to do."""
    body = json.dumps({"message": message, "fields": []}, ensure_ascii=False).encode()
    start = {
        "type": "http.response.start",
        "status": status,
        "headers": [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            *headers,
        ],
    }
    await send(start)
    await send({"type": "http.response.body", "body": body, "more_body": False})


def header_values(headers: Headers, name: bytes) -> list[bytes]:
    """Return the values of all headers of a name, which is in lower case."""
    return [value for key, value in headers if key.lower() == name]


class Guard:
    """What stands before an application: it answers a request, or passes it on."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer what is HTTP; close a web socket, of which the service has none."""
        if scope["type"] == "http":
            await self.answer(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": _POLICY_VIOLATION})
        else:
            await self._app(scope, receive, send)

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        raise NotImplementedError


class SecurityHeaders(Guard):
    """Adds security headers to every answer; what a route has set itself stays."""

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and add headers to its answer."""
        policy = REPORT_POLICY if _REPORT.fullmatch(scope["path"]) else PAGE_POLICY
        wanted = [(b"content-security-policy", policy.encode()), *_HEADERS]

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = list(message.get("headers", ()))
                names = {name.lower() for name, _ in given}
                added = [header for header in wanted if header[0] not in names]
                message = {**message, "headers": given + added}
            await send(message)

        await self._app(scope, receive, send_with_headers)
