"""Whether the service is up, and what it allows whom."""

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse

from proce import __version__
from proce.server.routes.errors import errors
from proce.server.routes.service import AnyService, RoleHere
from proce.server.wire.answers import Health, Session

router = APIRouter(tags=["operations"])


@router.get(
    "/health",
    response_description="The service is up, or starting.",
    response_model=Health,
    responses=errors(),
)
async def health(service: AnyService) -> Any:
    """Return whether the service is up; needs no token."""
    workers, jobs = service.workers.state(), service.jobs
    return JSONResponse(
        {
            "status": "ok" if service.is_ready() else "starting",
            "version": __version__,
            "workers": {"total": workers.total, "ready": workers.ready, "busy": workers.busy},
            "queue": {"length": jobs.queue_length, "limit": jobs.limits.queue},
        }
    )


@router.get(
    "/metrics",
    response_class=Response,
    response_description="Counts, times and states.",
    responses={200: {"content": {"text/plain": {}}}, **errors()},
)
async def metrics(service: AnyService) -> Any:
    """Return what the service has counted, in the text format of Prometheus."""
    return Response(service.metrics.text(), headers={"content-type": service.metrics.content_type})


@router.get(
    "/session",
    response_description="The role and the limits.",
    response_model=Session,
    responses=errors(),
)
async def session(service: AnyService, role: RoleHere) -> Any:
    """Return the role of the token, and what the operator has set."""
    settings = service.settings
    return JSONResponse(
        {
            "role": role,
            "token_required": settings.token_required,
            "version": __version__,
            "title": settings.title,
            "limits": asdict(settings.limits),
            "has_rows": settings.has_rows,
        }
    )
