"""Guards before the application: tokens, hosts, limits, headers, counts. None buffers a stream."""

from proce.server.guard.access import Role, Tokens
from proce.server.guard.exposure import is_loopback, require_safe_exposure
from proce.server.guard.guards import GuardSettings, add_guards
from proce.server.guard.metrics import Metrics

__all__ = [
    "GuardSettings",
    "Metrics",
    "Role",
    "Tokens",
    "add_guards",
    "is_loopback",
    "require_safe_exposure",
]
