"""Explanations: asked for, waited for, followed, cancelled, and the log of all of them."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query, Response
from fastapi.responses import JSONResponse

from proce.server.routes.declared import BODY, errors
from proce.server.routes.events import EventStream
from proce.server.routes.limits import require_within
from proce.server.routes.records import (
    ENDED,
    RecordId,
    find_record,
    record_in_view,
    without_result,
)
from proce.server.routes.service import RoleHere, ServiceHere, ViewHere
from proce.server.routes.strict import StrictRoute
from proce.server.wire.records import Record, RecordList, Status
from proce.server.wire.requests import MAX_ROW_ID, ExplanationRequest

MAX_WAIT_SECONDS = 30.0

router = APIRouter(route_class=StrictRoute, tags=["explanations"])


@router.post(
    "/explanations",
    status_code=202,
    response_model=Record,
    responses={
        200: {"model": Record, "description": "It ended within the time that was waited."},
        202: {"description": "It waits or runs; Location says where to look for it."},
        **errors(404, *BODY),
    },
)
async def ask_for_explanation(
    service: ServiceHere,
    role: RoleHere,
    view: ViewHere,
    body: ExplanationRequest,
    wait: Annotated[
        float, Query(ge=0, le=MAX_WAIT_SECONDS, description="How long to wait for the end.")
    ] = 0.0,
) -> Any:
    """Ask for counterfactuals of some rows."""
    request = body.model_dump(exclude_unset=True)
    require_within(service.settings.limits, request)
    await service.backend.ask("check", request=request)
    record = await service.backend.submit(request, role)
    if wait > 0:
        record = await service.backend.wait(record["id"], wait)
    ended = record["status"] in ENDED
    headers = {"location": f"/explanations/{record['id']}"}
    if ended:
        return await record_in_view(service, record, view, headers)
    return JSONResponse(without_result(record), 202, headers=headers)


@router.get("/explanations", response_model=RecordList, responses=errors())
async def list_explanations(
    service: ServiceHere,
    view: ViewHere,
    status: Annotated[Status | None, Query(description="Only records of this status.")] = None,
    since: Annotated[datetime | None, Query(description="Only asked for at or after.")] = None,
    until: Annotated[datetime | None, Query(description="Only asked for before.")] = None,
    limit: Annotated[int, Query(ge=1, le=1_000, description="How many to return.")] = 50,
    offset: Annotated[int, Query(ge=0, le=MAX_ROW_ID, description="How many to skip.")] = 0,
) -> Any:
    """Return the log, the latest first."""
    total, records = await service.backend.records(
        status=status, since=since, until=until, limit=limit, offset=offset
    )
    return JSONResponse({"total": total, "records": [without_result(record) for record in records]})


@router.get("/explanations/{record_id}", response_model=Record, responses=errors(404))
async def explanation(service: ServiceHere, view: ViewHere, record_id: RecordId) -> Any:
    """Return a record, with its result where it has one."""
    record = await find_record(service, record_id)
    return await record_in_view(service, record, view)


@router.get(
    "/explanations/{record_id}/events",
    response_class=Response,
    responses={
        200: {"description": "Events 'progress' and 'end'.", "content": {"text/event-stream": {}}},
        **errors(404),
    },
)
async def explanation_events(service: ServiceHere, role: RoleHere, record_id: RecordId) -> Any:
    """Follow a search: its progress as it comes, then its end."""
    await find_record(service, record_id)
    return EventStream(service.backend.events(record_id))


@router.delete(
    "/explanations/{record_id}",
    status_code=202,
    response_model=Record,
    responses=errors(404, 409),
)
async def cancel_explanation(service: ServiceHere, role: RoleHere, record_id: RecordId) -> Any:
    """Cancel what waits or runs; what has ended stays in the log."""
    record = await find_record(service, record_id)
    if record["status"] in ENDED:
        raise HTTPException(
            409, f"The explanation has ended ({record['status']}); the log keeps it."
        )
    return JSONResponse(without_result(await service.backend.cancel(record_id)), 202)
