"""Whether the service is up, and what it allows whom."""

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter
from fastapi.responses import JSONResponse

from proce import __version__
from proce.server.routes.declared import errors
from proce.server.routes.service import RoleHere, ServiceHere
from proce.server.wire.answers import Health, Session

router = APIRouter(tags=["operations"])


@router.get("/health", response_model=Health, responses=errors())
async def health(service: ServiceHere) -> Any:
    """Return whether the service is up; needs no token."""
    return JSONResponse({"version": __version__, **service.backend.health()})


@router.get("/session", response_model=Session, responses=errors())
async def session(service: ServiceHere, role: RoleHere) -> Any:
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
