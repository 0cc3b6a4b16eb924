"""The guards, in the order in which a request passes them."""

from dataclasses import dataclass, field

from starlette.types import ASGIApp

from proce.server.guard.access import Access
from proce.server.guard.bodies import BodyLimits
from proce.server.guard.crowd import Crowd
from proce.server.guard.exposure import HostCheck
from proce.server.guard.headers import SecurityHeaders
from proce.server.guard.metrics import Metrics
from proce.server.guard.tokens import Tokens
from proce.server.guard.watching import Watching


@dataclass(frozen=True)
class GuardSettings:
    """What the operator has set.

    Attributes
    ----------
    host
        The address that the service listens on.
    tokens
        The tokens, or None for a service on loopback that asks for none.
    allowed_hosts
        Further names under which the service is reached.
    body_bytes, body_seconds
        How large a body may be, and how long it may take to come.
    max_requests, max_streams
        How many requests, and how many streams of events among them, are answered at a time.
    """

    host: str = "127.0.0.1"
    tokens: Tokens | None = field(default=None, repr=False)
    allowed_hosts: tuple[str, ...] = ()
    body_bytes: int = 4_000_000
    body_seconds: float = 30.0
    max_requests: int = 512
    max_streams: int = 128


def guarded(app: ASGIApp, settings: GuardSettings, metrics: Metrics) -> ASGIApp:
    """Return an application behind all guards.

    Every answer, of a guard too, is counted and has security headers. The host and the token are
    checked before anything of the body is read.
    """
    inside = BodyLimits(app, settings.body_bytes, settings.body_seconds)
    known = Access(inside, settings.tokens)
    here = HostCheck(known, settings.host, settings.allowed_hosts)
    crowd = Crowd(here, settings.max_requests, settings.max_streams)
    metrics.gauge("proce_requests_now", "Requests being answered.", lambda: crowd.n_requests)
    metrics.gauge("proce_event_streams_now", "Streams of events.", lambda: crowd.n_streams)
    return Watching(SecurityHeaders(crowd), metrics)
