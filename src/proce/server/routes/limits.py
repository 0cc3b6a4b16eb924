"""The operator's limits on one request."""

from typing import Any

from proce.server.routes.service import Limits
from proce.server.wire.errors import WrongField


def require_within(limits: Limits, request: dict[str, Any]) -> None:
    """Refuse a request that asks for more than the operator allows."""
    for field in ("rows", "row_ids"):
        if len(request.get(field) or ()) > limits.rows:
            raise WrongField(field, f"this service takes at most {limits.rows:,} rows at a time")
    if request.get("n", 0) > limits.n:
        raise WrongField("n", f"this service gives at most {limits.n} counterfactuals of a row")
    if len(request.get("rules") or ()) > limits.rules:
        raise WrongField("rules", f"this service takes at most {limits.rules} rules")
    if (request.get("budget_seconds") or 0) > limits.seconds:
        raise WrongField(
            "budget_seconds", f"this service searches for at most {limits.seconds:g} seconds"
        )
