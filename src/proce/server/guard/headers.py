"""Headers that keep a browser from doing what the page never needs."""

import re

from starlette.types import ASGIApp, Message, Receive, Scope, Send

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


class SecurityHeaders:
    """Adds security headers to every answer; what a route has set itself stays.

    Parameters
    ----------
    app
        What is guarded.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and add headers to its answer."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
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
