"""Guards before the application: tokens, hosts, limits, headers, counts. None buffers a stream."""

from proce.server.guard.access import Role, Tokens
from proce.server.guard.exposure import is_loopback, require_safe_exposure
from proce.server.guard.guarded import GuardSettings, guarded
from proce.server.guard.metrics import Metrics

__all__ = [
    "GuardSettings",
    "Metrics",
    "Role",
    "Tokens",
    "guarded",
    "is_loopback",
    "require_safe_exposure",
]
