"""Where the service may be reached: addresses, names in the host header, origins of writes."""

import ipaddress
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import urlsplit

from starlette.datastructures import URL
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from proce.errors import FileError
from proce.server.guard.answers import Guard, header_values, refuse

_WRONG_HOST, _WRONG_ORIGIN = 400, 403
_LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")
_WRITES = ("POST", "PUT", "PATCH", "DELETE")
_DEFAULT_PORTS = {"http": 80, "https": 443}


def is_loopback(host: str) -> bool:
    """Whether an address to listen on is reached from this machine alone."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def require_safe_exposure(
    host: str, token_file: Path | None, allowed_hosts: Iterable[str] = ()
) -> None:
    """Refuse to listen where others can reach the service and no token is asked for."""
    if token_file is None and not is_loopback(host):
        raise FileError(
            f"--host {host} can be reached from other machines, and without tokens everybody would"
            " see everything. Name a --token-file with lines 'applicant TOKEN' or 'auditor TOKEN',"
            " or leave --host away."
        )
    for name in allowed_hosts:
        if "*" in name:
            raise FileError(f"--allowed-host {name!r} has a star; write every name out.")


class HostCheck(Guard):
    """Refuses requests under a foreign name, and writes that a foreign page makes."""

    # A page of somebody else whose name is pointed at this machine (DNS rebinding) has that name in
    # the host header. Numeric addresses cannot be pointed elsewhere; they are taken where the
    # service listens beyond loopback.
    def __init__(self, app: ASGIApp, host: str, allowed_hosts: Iterable[str] = ()) -> None:
        super().__init__(app)
        self._named = frozenset(map(_plain, allowed_hosts))
        self._known = self._named | {*_LOOPBACK_NAMES, _plain(host)}
        self._takes_numbers = not is_loopback(host)

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 400 or 403, or pass the request on."""
        own = URL(scope=scope)
        if not await self._is_known(scope, receive, own):
            await refuse(
                send,
                _WRONG_HOST,
                "This service is not known under the name in the host header. The operator can"
                " add it with --allowed-host NAME.",
            )
            return
        if scope["method"] in _WRITES and self._is_foreign(scope, own):
            await refuse(
                send, _WRONG_ORIGIN, "Another site's page may not write here; open this one's."
            )
            return
        await self._app(scope, receive, send)

    async def _is_known(self, scope: Scope, receive: Receive, own: URL) -> bool:
        """Whether the host header is one that Starlette's guard lets in; its answer is not sent."""
        names, let_in = set(self._known), []
        if self._takes_numbers and _is_number(own.hostname or ""):
            names.add(own.hostname or "")
        written = [form for name in names for form in _written(name)]

        async def take(_scope: Scope, _receive: Receive, _send: Send) -> None:
            let_in.append(True)

        async def drop(_message: Message) -> None:
            pass

        await TrustedHostMiddleware(take, written, www_redirect=False)(scope, receive, drop)
        return bool(let_in)

    def _is_foreign(self, scope: Scope, own: URL) -> bool:
        """Whether a page of another origin makes the request, as browsers tell."""
        origins = header_values(scope["headers"], b"origin")
        if not origins:
            return b"cross-site" in header_values(scope["headers"], b"sec-fetch-site")
        try:
            origin = urlsplit(origins[0].decode("latin-1"))
            name, port = _plain(origin.hostname or ""), origin.port
        except ValueError:
            return True
        if len(origins) > 1 or origin.scheme not in _DEFAULT_PORTS:
            return True
        if name in self._named:
            return False
        default = _DEFAULT_PORTS[origin.scheme]
        return (name, port or default) != (_plain(own.hostname or ""), own.port or default)


def _plain(name: str) -> str:
    """Return a name as it is compared: lower case, without brackets and without a last dot."""
    return name.strip("[]").lower().removesuffix(".")


def _written(name: str) -> tuple[str, ...]:
    """Return how a plain name may stand in a host header."""
    return (f"[{name}]",) if ":" in name else (name, f"{name}.")


def _is_number(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
