"""Views of the page that were kept under an opaque id, so that a link restores them."""

import json
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Path, Response
from fastapi.responses import JSONResponse
from pydantic import ConfigDict, Field

from proce.server.explainer_api.errors import RequestError
from proce.server.routes.answers import BODY, answers
from proce.server.routes.service import AnyService, RoleHere
from proce.server.routes.strict import StrictRoute
from proce.server.routes.values import Answer, Model

MAX_VIEW_BYTES = 64_000

router = APIRouter(route_class=StrictRoute, tags=["views"])


class ViewRequest(Model):
    """What a page needs to show a view again."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"state": {"tab": "results", "rank": 2}}]}
    )

    state: dict[str, Any] = Field(description="Any JSON object of at most 64 kB.")


class SavedView(Answer):
    """The id under which a view was kept."""

    id: str


@router.post("/views", status_code=201, **answers("The view was kept.", SavedView, *BODY))
async def save_view(service: AnyService, role: RoleHere, body: ViewRequest) -> Response:
    """Keep a view; whoever has its id and the role can open it."""
    try:
        size = len(json.dumps(body.state, ensure_ascii=False, allow_nan=False).encode())
    except ValueError:
        raise RequestError(
            "state", "expected finite numbers, or null where one is missing"
        ) from None
    if size > MAX_VIEW_BYTES:
        raise RequestError(
            "state", f"a view of {size:,} bytes; expected {MAX_VIEW_BYTES:,} at most"
        )
    view_id = await service.threads.write(service.store.save_view, body.state, role)
    return JSONResponse({"id": view_id}, 201, headers={"location": f"/views/{view_id}"})


class ViewAnswer(Answer):
    """A view that was kept."""

    state: dict[str, Any]


@router.get("/views/{view_id}", **answers("The view.", ViewAnswer, 404))
async def open_view(
    service: AnyService,
    role: RoleHere,
    view_id: Annotated[
        str, Path(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_-]+$", description="Its id.")
    ],
) -> Response:
    """Return a view that was kept."""
    kept = await service.threads.read(service.store.view, view_id)
    if kept is None:
        raise HTTPException(404, f"There is no view '{view_id}'.")
    if kept.role == "auditor" and role != "auditor":
        raise HTTPException(403, "This view was kept by an auditor; open it with such a token.")
    return JSONResponse({"state": kept.state})
