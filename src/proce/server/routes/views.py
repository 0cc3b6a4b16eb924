"""Views of the page that were kept under an opaque id, so that a link restores them."""

import json
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Path
from fastapi.responses import JSONResponse

from proce.server.routes.errors import BODY, errors
from proce.server.routes.service import AnyService, RoleHere
from proce.server.routes.strict import StrictRoute
from proce.server.wire.answers import SavedView, ViewAnswer
from proce.server.wire.errors import WrongField
from proce.server.wire.requests import ViewRequest

MAX_VIEW_BYTES = 64_000

router = APIRouter(route_class=StrictRoute, tags=["views"])


@router.post(
    "/views",
    response_description="The view was kept.",
    status_code=201,
    response_model=SavedView,
    responses=errors(*BODY),
)
async def save_view(service: AnyService, role: RoleHere, body: ViewRequest) -> Any:
    """Keep a view; whoever has its id and the role can open it."""
    try:
        size = len(json.dumps(body.state, ensure_ascii=False, allow_nan=False).encode())
    except ValueError:
        raise WrongField("state", "expected finite numbers, or null where one is missing") from None
    if size > MAX_VIEW_BYTES:
        raise WrongField("state", f"a view of {size:,} bytes; expected {MAX_VIEW_BYTES:,} at most")
    view_id = await service.threads.write(service.store.save_view, body.state, role)
    return JSONResponse({"id": view_id}, 201, headers={"location": f"/views/{view_id}"})


@router.get(
    "/views/{view_id}",
    response_description="The view.",
    response_model=ViewAnswer,
    responses=errors(404),
)
async def open_view(
    service: AnyService,
    role: RoleHere,
    view_id: Annotated[
        str, Path(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_-]+$", description="Its id.")
    ],
) -> Any:
    """Return a view that was kept."""
    kept = await service.threads.read(service.store.view, view_id)
    if kept is None:
        raise HTTPException(404, f"There is no view '{view_id}'.")
    if kept.role == "auditor" and role != "auditor":
        raise HTTPException(403, "This view was kept by an auditor; open it with such a token.")
    return JSONResponse({"state": kept.state})
