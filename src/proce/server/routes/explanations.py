"""Explanations: asked for, waited for, followed, cancelled."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from fastapi.responses import JSONResponse

from proce.server.routes.errors import BODY, errors
from proce.server.routes.events import Event, EventStream
from proce.server.routes.records import RecordId, find_record, listed, whole
from proce.server.routes.service import (
    Limits,
    OwnerHere,
    Role,
    RoleHere,
    Service,
    ServiceHere,
    ViewHere,
)
from proce.server.routes.strict import StrictRoute
from proce.server.store import Record as StoredRecord
from proce.server.wire.answers import Record
from proce.server.wire.errors import WrongField
from proce.server.wire.requests import ExplanationRequest

MAX_WAIT_SECONDS = 30.0

router = APIRouter(route_class=StrictRoute, tags=["explanations"])


@router.post(
    "/explanations",
    status_code=202,
    response_model=Record,
    response_description="It waits or runs; Location says where to look for it.",
    responses={
        200: {"model": Record, "description": "It ended within the time that was waited."},
        **errors(*BODY),
    },
)
async def ask_for_explanation(
    service: ServiceHere,
    role: RoleHere,
    owner: OwnerHere,
    view: ViewHere,
    body: ExplanationRequest,
    wait: Annotated[
        float, Query(ge=0, le=MAX_WAIT_SECONDS, description="How many seconds to wait for the end.")
    ] = 0.0,
) -> Any:
    """Ask for counterfactuals of some rows."""
    request = {**body.as_sent(), "view": view}
    require_within(service.settings.limits, request)
    request.setdefault("budget_seconds", service.settings.limits.seconds)
    await service.workers.ask("check", request=request)
    record = await service.jobs.submit(request, role=role, owner=owner)
    if wait > 0:
        record = await service.jobs.wait(record.id, wait)
    headers = {"location": f"/explanations/{record.id}"}
    if record.ended:
        return await whole(service, record, view, headers)
    return JSONResponse(listed(service, record, view), 202, headers=headers)


@router.get(
    "/explanations/{record_id}",
    response_description="The record.",
    response_model=Record,
    responses=errors(404),
)
async def explanation(service: ServiceHere, view: ViewHere, record_id: RecordId) -> Any:
    """Return a record, with its result where it has one."""
    return await whole(service, await find_record(service, record_id), view)


@router.get(
    "/explanations/{record_id}/events",
    response_class=Response,
    response_description="Events 'progress' with how far it has come, then 'end'.",
    responses={200: {"content": {"text/event-stream": {}}}, **errors(404)},
)
async def explanation_events(service: ServiceHere, view: ViewHere, record_id: RecordId) -> Any:
    """Follow a search: its progress as it comes, then its end."""
    record = await find_record(service, record_id)
    return EventStream(_in_view(service, record, view))


async def _in_view(
    service: Service, record: StoredRecord, view: Role
) -> AsyncGenerator[Event, None]:
    """Return the events of a record; an error is told as the view may read it."""
    async with aclosing(service.jobs.events(record.id)) as events:
        async for name, data in events:
            error = data.get("error")
            if error is not None:
                data = {
                    **data,
                    "error": listed(
                        service, replace(record, status=data["status"], error=error), view
                    )["error"],
                }
            yield name, data


@router.delete(
    "/explanations/{record_id}",
    status_code=202,
    response_model=Record,
    response_description="It is being cancelled, or has just been.",
    responses=errors(404, 409),
)
async def cancel_explanation(service: ServiceHere, view: ViewHere, record_id: RecordId) -> Any:
    """Cancel what waits or runs; what has ended stays in the log."""
    return JSONResponse(listed(service, await service.jobs.cancel(record_id), view), 202)


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
