"""Tokens and roles: who asks is known before the application is reached."""

from collections.abc import Iterable

from starlette.types import ASGIApp, Receive, Scope, Send

from proce.server.guard.answers import header_values, refuse
from proce.server.guard.tokens import Holder, Tokens

_UNAUTHORIZED = 401
_POLICY_VIOLATION = 1008  # of a web socket; the service has none
PUBLIC_PATHS = ("/", "/health", "/docs", "/openapi.json")  # they tell nothing of anybody
_PUBLIC_FOLDER = "/page/"


class Access:
    """Lets requests in by their token, and puts ``role`` and ``owner`` into ``scope["state"]``.

    The owner, a line of the token file and the client's address, tells one who asks from another.
    Without tokens everybody is an auditor: that is for loopback addresses only. What is public
    needs no token, and gets the role of an applicant without one.

    Parameters
    ----------
    app
        What is guarded.
    tokens
        The tokens, or None where none are asked for.
    public_paths
        What anybody may read.
    """

    def __init__(
        self, app: ASGIApp, tokens: Tokens | None, public_paths: Iterable[str] = PUBLIC_PATHS
    ) -> None:
        self._app = app
        self._tokens = tokens
        self._public_paths = frozenset(public_paths)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 401, or pass the request on with its role."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": _POLICY_VIOLATION})
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        holder, problem = self._holder(scope)
        if holder is None and self._is_public(scope):
            holder = Holder("applicant", 0)
        if holder is None:
            challenge = b'Bearer realm="proce"' + (b', error="invalid_token"' if problem else b"")
            words = problem or "This service needs a token: send 'Authorization: Bearer TOKEN'."
            await refuse(send, _UNAUTHORIZED, words, [(b"www-authenticate", challenge)])
            return
        address = (scope.get("client") or ("",))[0]
        scope.setdefault("state", {})
        scope["state"].update(role=holder.role, owner=f"{holder.line}@{address}")
        await self._app(scope, receive, send)

    def _holder(self, scope: Scope) -> tuple[Holder | None, str | None]:
        """Return who makes a request, or what is wrong with the token that was sent."""
        if self._tokens is None:
            return Holder("auditor", 0), None
        values = header_values(scope["headers"], b"authorization")
        if not values:
            return None, None
        scheme, _, token = values[0].partition(b" ")
        if len(values) > 1 or scheme.lower() != b"bearer" or not token.strip():
            return None, "The authorization cannot be read: send 'Authorization: Bearer TOKEN'."
        holder = self._tokens.holder_of(token.strip())
        if holder is None:
            return None, "The token is wrong or no longer valid. Ask the operator for another."
        return holder, None

    def _is_public(self, scope: Scope) -> bool:
        path = scope["path"]
        reads = scope["method"] in ("GET", "HEAD")
        return reads and (path in self._public_paths or path.startswith(_PUBLIC_FOLDER))
