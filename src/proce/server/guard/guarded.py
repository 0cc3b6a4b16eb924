"""The guards, in the order in which a request passes them."""

from dataclasses import dataclass, field

from starlette.types import ASGIApp

from proce.server.guard.access import Access, Tokens
from proce.server.guard.access_log import AccessLog
from proce.server.guard.answers import SecurityHeaders
from proce.server.guard.exposure import HostCheck
from proce.server.guard.limits import BodyLimit, ConcurrencyLimit
from proce.server.guard.metrics import Metrics


@dataclass(frozen=True)
class GuardSettings:
    """What the operator has set; streams of events are requests too."""

    host: str = "127.0.0.1"
    tokens: Tokens | None = field(default=None, repr=False)  # none on loopback alone
    allowed_hosts: tuple[str, ...] = ()
    body_bytes: int = 4_000_000
    max_requests: int = 512
    max_streams: int = 128


def guarded(app: ASGIApp, settings: GuardSettings, metrics: Metrics) -> ASGIApp:
    """Return an application behind all guards."""
    # Every answer, of a guard too, is counted and has security headers. The host and the token
    # are checked before anything of the body is read.
    known = Access(BodyLimit(app, settings.body_bytes), settings.tokens)
    here = HostCheck(known, settings.host, settings.allowed_hosts)
    limit = ConcurrencyLimit(here, settings.max_requests, settings.max_streams)
    metrics.state("proce_requests_now", "Requests being answered.", lambda: limit.n_requests)
    metrics.state("proce_event_streams_now", "Streams of events.", lambda: limit.n_streams)
    return AccessLog(SecurityHeaders(limit), metrics)
