"""Who may ask: tokens with a role, and the guard that knows who asks before anything else does."""

import hashlib
import hmac
import logging
import stat
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from starlette.types import ASGIApp, Receive, Scope, Send

from proce.errors import FileError
from proce.server.guard.answers import Guard, header_values, refuse

Role = Literal["applicant", "auditor"]

MIN_LENGTH = 16
_ROLES: dict[str, Role] = {"applicant": "applicant", "auditor": "auditor"}
_MAX_LENGTH = 512
_MAX_FILE_BYTES = 1_000_000
_CHECK_SECONDS = 1.0  # between two looks at the file
_log = logging.getLogger(__name__)
_UNAUTHORIZED = 401
_PUBLIC_PATHS = ("/", "/health", "/docs", "/openapi.json")  # they tell nothing of anybody
_PUBLIC_FOLDER = "/page/"


@dataclass(frozen=True)
class Holder:
    """Who has a token: the role, and the line of the file, which names the holder in logs."""

    role: Role
    line: int


class Tokens:
    """The digests of a file's tokens; one that is taken out of it is refused a second later."""

    # A file that disappears or can no longer be read lets nobody in until it is mended.

    def __init__(self, path: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self._path = path
        self._clock = clock
        self._version = self._look()
        self._holders = _read(path)
        self._looked = clock()
        if (path.stat().st_mode & stat.S_IROTH) != 0:
            _log.warning(
                "token file %s can be read by every user of this machine. Run: chmod 600 on it.",
                path,
            )

    def holder_of(self, token: bytes) -> Holder | None:
        """Return who has a token, compared with all of them in constant time; else ``None``."""
        self._refresh()
        digest = _digest(token)
        found: Holder | None = None
        for known, holder in self._holders.items():
            if hmac.compare_digest(digest, known):
                found = holder
        return found

    def _refresh(self) -> None:
        """Read the file again where it has changed."""
        now = self._clock()
        if now - self._looked < _CHECK_SECONDS:
            return
        self._looked = now
        try:
            version = self._look()
            if version == self._version:
                return
            self._version, self._holders = version, _read(self._path)
            _log.info("the token file was read again; it has %d tokens", len(self._holders))
        except FileError as error:
            if self._holders:
                _log.error("nobody is let in until this is mended: %s", error)
            self._version, self._holders = (), {}

    def _look(self) -> tuple[int, ...]:
        """Return what tells one state of the file from another."""
        try:
            state = self._path.stat()
        except OSError as error:
            raise FileError(f"token file {self._path}: {error.strerror}.") from None
        return state.st_mtime_ns, state.st_size, state.st_ino


class Access(Guard):
    """Lets requests in by their token, and puts ``role`` and ``owner`` into ``scope["state"]``."""

    # The owner, a line of the token file and the client's address, tells who asks from others.
    # Without tokens, which is for loopback alone, everybody is an auditor.

    def __init__(self, app: ASGIApp, tokens: Tokens | None) -> None:
        super().__init__(app)
        self._tokens = tokens

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 401, or pass the request on with its role."""
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
        return reads and (path in _PUBLIC_PATHS or path.startswith(_PUBLIC_FOLDER))


def _read(path: Path) -> dict[bytes, Holder]:
    """Return who holds the token of each digest."""
    try:
        with path.open("rb") as file:
            content = file.read(_MAX_FILE_BYTES + 1)
        text = content.decode("utf-8-sig")
    except OSError as error:
        raise FileError(f"token file {path}: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise FileError(f"token file {path}: it is not UTF-8 text.") from None
    if len(content) > _MAX_FILE_BYTES:
        raise FileError(f"token file {path}: it is larger than {_MAX_FILE_BYTES} bytes.")
    holders: dict[bytes, Holder] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        role, token = _checked(words, f"token file {path}, line {number}")
        digest = _digest(token.encode())
        if digest in holders:
            raise FileError(
                f"token file {path}, line {number}: the same token as in line"
                f" {holders[digest].line}. Every token has one role and one line."
            )
        holders[digest] = Holder(role, number)
    if not holders:
        raise FileError(
            f"token file {path}: it has no token. Write lines 'applicant TOKEN' or 'auditor TOKEN'."
        )
    return holders


def _checked(words: list[str], place: str) -> tuple[Role, str]:
    """Return the role and the token of a line; no message repeats what might be a token."""
    if len(words) != 2:
        raise FileError(f"{place}: expected 'applicant TOKEN' or 'auditor TOKEN', two words.")
    role, token = words
    if role not in _ROLES:
        raise FileError(f"{place}: unknown role; the first word is 'applicant' or 'auditor'.")
    if not MIN_LENGTH <= len(token) <= _MAX_LENGTH:
        raise FileError(
            f"{place}: a token has {MIN_LENGTH} to {_MAX_LENGTH} characters. This makes a good one:"
            " python -c 'import secrets; print(secrets.token_urlsafe(32))'"
        )
    if not token.isascii() or not token.isprintable():
        raise FileError(f"{place}: a token has letters, digits and signs of ASCII only.")
    return _ROLES[role], token


def _digest(token: bytes) -> bytes:
    return hashlib.sha256(token).digest()
