"""Explanations: asked for, waited for, followed, cancelled; and records as they are sent."""

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import replace
from typing import Annotated, Any, Self

from fastapi import APIRouter, HTTPException, Path, Query, Response
from fastapi.responses import JSONResponse
from pydantic import ConfigDict, Field, model_validator

from proce.methods.calls.explain_options import EXPLAIN_OPTIONS, Bounds, CausalMode, OfferedPick
from proce.server.explainer_api.errors import RequestError
from proce.server.guard import Role
from proce.server.routes.answers import BODY, answers, errors, writes
from proce.server.routes.events import Event, EventStream
from proce.server.routes.service import (
    Limits,
    OwnerHere,
    RoleHere,
    Service,
    ServiceHere,
    ViewHere,
)
from proce.server.routes.strict import StrictRoute
from proce.server.routes.values import (
    EXAMPLE_ROW,
    MAX_ROWS,
    Answer,
    Cell,
    GraphInput,
    Model,
    Name,
    Number,
    Row,
    RowId,
    Rules,
    field_error,
)
from proce.server.store import Record as StoredRecord
from proce.server.store import Status

MAX_N = 100
MAX_WAIT_SECONDS = 30.0

router = APIRouter(route_class=StrictRoute, tags=["explanations"])

RecordId = Annotated[
    str, Path(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_-]+$", description="Its id.")
]


def _bounds(name: str, most: float | None = None) -> dict[str, Any]:
    """Return the declared bounds of an option; ``most`` is as far as one request may go."""
    declared = EXPLAIN_OPTIONS[name].bounds or Bounds()
    return {"gt": declared.above, "ge": declared.least, "le": most or declared.most}


def _option(name: str, most: float | None = None) -> Any:
    """Return the field of an option of ``explain`` as it is declared."""
    option = EXPLAIN_OPTIONS[name]
    own = {} if option.by_feature else _bounds(name, most)
    return Field(option.default, description=option.help, **own)


class ExplanationRequest(Model):
    """What is to be explained, and within which limits; only the rows are needed."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"row_ids": [0]},
                {
                    "rows": [EXAMPLE_ROW],
                    "target": "approved",
                    "n": 3,
                    "vary": ["savings", "amount", "duration"],
                    "ranges": {"savings": [0, 20000]},
                    "max_changes": 2,
                    "effort": {"savings": 2},
                    "rules": ["cf.amount >= 8000"],
                },
            ]
        }
    )

    rows: Annotated[list[Row], Field(min_length=1, max_length=MAX_ROWS, fail_fast=True)] | None = (
        Field(None, description="The rows, each with its values by feature; or give 'row_ids'.")
    )
    row_ids: (
        Annotated[list[RowId], Field(min_length=1, max_length=MAX_ROWS, fail_fast=True)] | None
    ) = Field(None, description="Rows of the operator's file, by position from 0; or give 'rows'.")
    values: Row | None = Field(
        None, description="With one row id: values that take the place of those in the file."
    )
    target: Cell = _option("target")
    n: int = _option("n", most=MAX_N)
    pick: OfferedPick = _option("pick")
    vary: Annotated[list[Name], Field(max_length=MAX_ROWS, fail_fast=True)] | None = _option("vary")
    ranges: dict[Name, Annotated[list[Cell], Field(min_length=2, max_length=2)]] | None = _option(
        "ranges"
    )
    max_changes: int | None = _option("max_changes", most=MAX_ROWS)
    effort: dict[Name, Annotated[Number, Field(**_bounds("effort"))]] | None = _option("effort")
    min_probability: Number | None = _option("min_probability")
    rules: Rules = Field(default_factory=list, description=EXPLAIN_OPTIONS["rules"].help)
    graph: GraphInput | None = Field(
        None, description="A causal graph in the place of the explainer's own; it is marked edited."
    )
    causal: CausalMode | None = _option("causal")
    budget_seconds: Number | None = _option("budget_seconds", most=86_400)
    robust: Number | None = _option("robust")

    def as_sent(self) -> dict[str, Any]:
        """Return what was sent, without what is null; rows are not copied."""
        sent = {
            name: getattr(self, name)
            for name in type(self).model_fields
            if name in self.model_fields_set
        }
        if self.graph is not None:
            sent["graph"] = self.graph.model_dump(exclude_none=True)
        return {name: value for name, value in sent.items() if value is not None}

    @model_validator(mode="after")
    def _require_rows(self) -> Self:
        if (self.rows is None) == (self.row_ids is None):
            raise field_error("rows", "give either 'rows' or 'row_ids'")
        if self.values is not None and (self.row_ids is None or len(self.row_ids) != 1):
            raise field_error("values", "'values' goes with exactly one of 'row_ids'")
        return self


class Progress(Answer):
    """How far a search has come."""

    stage: str = Field(description="'queued', 'start', or the stage of the search.")
    position: int | None = Field(None, description="While queued: how many are before it.")
    done: int | None = None
    total: int | None = None
    generation: int | None = None
    best_probability: float | None = None
    best_distance: float | None = None
    front_size: int | None = None


class Record(Answer):
    """One explanation in the log: what was asked, by whom and when, and what came of it."""

    id: str
    status: Status
    created: str = Field(description="When it was asked for; ISO 8601, UTC.")
    started: str | None
    finished: str | None
    request: dict[str, Any]
    progress: Progress | None
    result: dict[str, Any] | None = Field(
        None, description="The JSON of the explanations, in the view asked for."
    )
    error: str | None
    summary: dict[str, Any] | None = Field(description="How many rows were found a way for.")
    provenance: dict[str, Any] | None
    role: Role = Field(description="Whose token asked.")
    version: str = Field(description="The version of ProCE that explained.")


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
) -> Response:
    """Ask for counterfactuals of some rows."""
    request = {**body.as_sent(), "view": view}
    _require_within(service.settings.limits, request)
    request.setdefault("budget_seconds", service.settings.limits.seconds)
    request = await service.workers.ask("check", request=request)  # with the operator's target
    record = await service.jobs.submit(request, role=role, owner=owner)
    if wait > 0:
        record = await service.jobs.wait(record.id, wait)
    headers = {"location": f"/explanations/{record.id}"}
    if record.ended:
        return await record_response(service, record, view, headers)
    return JSONResponse(record_json(service, record, view), 202, headers=headers)


@router.get("/explanations/{record_id}", **answers("The record.", Record, 404))
async def explanation(service: ServiceHere, view: ViewHere, record_id: RecordId) -> Response:
    """Return a record, with its result where it has one."""
    return await record_response(service, await find_record(service, record_id), view)


@router.get(
    "/explanations/{record_id}/events",
    **writes(
        "Events 'progress' with how far it has come, then 'end'.",
        404,
        media_types=["text/event-stream"],
    ),
)
async def explanation_events(service: ServiceHere, view: ViewHere, record_id: RecordId) -> Response:
    """Follow a search: its progress as it comes, then its end."""
    record = await find_record(service, record_id)
    return EventStream(_in_view(service, record, view))


async def _in_view(
    service: Service, record: StoredRecord, view: Role
) -> AsyncGenerator[Event, None]:
    """Return the events of a record; an error is told as the view may read it."""
    async with aclosing(service.jobs.events(record.id)) as events:
        async for name, data in events:
            if data.get("error") is not None:
                ended = replace(record, status=data["status"], error=data["error"])
                data = {**data, "error": in_view(service, ended, view).error}
            yield name, data


@router.delete(
    "/explanations/{record_id}",
    status_code=202,
    **answers("It is being cancelled, or has just been.", Record, 404, 409),
)
async def cancel_explanation(service: ServiceHere, view: ViewHere, record_id: RecordId) -> Response:
    """Cancel what waits or runs; what has ended stays in the log."""
    return JSONResponse(record_json(service, await service.jobs.cancel(record_id), view), 202)


def _require_within(limits: Limits, request: dict[str, Any]) -> None:
    """Refuse a request that asks for more than the operator allows."""
    for field in ("rows", "row_ids"):
        if len(request.get(field) or ()) > limits.rows:
            raise RequestError(field, f"this service takes at most {limits.rows:,} rows at a time")
    if request.get("n", 0) > limits.n:
        raise RequestError("n", f"this service gives at most {limits.n} counterfactuals of a row")
    if len(request.get("rules") or ()) > limits.rules:
        raise RequestError("rules", f"this service takes at most {limits.rules} rules")
    if (request.get("budget_seconds") or 0) > limits.seconds:
        raise RequestError(
            "budget_seconds", f"this service searches for at most {limits.seconds:g} seconds"
        )


async def find_record(service: Service, record_id: str) -> StoredRecord:
    """Return a record; answer 404 where there is none."""
    record = await service.jobs.record(record_id)
    if record is None:
        raise HTTPException(404, f"There is no explanation '{record_id}'.")
    return record


def in_view(service: Service, record: StoredRecord, view: Role) -> StoredRecord:
    """Return a record as a view may read it."""
    return record if view == "auditor" else record.redacted(service.redaction)


def record_json(service: Service, record: StoredRecord, view: Role) -> dict[str, Any]:
    """Return a record without its result."""
    shown = in_view(service, record, view).as_json()
    return {**shown, "progress": service.jobs.progress(record.id)}


async def record_response(
    service: Service, record: StoredRecord, view: Role, headers: Mapping[str, str] | None = None
) -> Response:
    """Return a record with its result, whose text is sent as it was written."""
    result = None
    if record.status == "done":
        result = await service.threads.read(service.store.result, record.id, view)
    head = json.dumps(record_json(service, record, view), ensure_ascii=False, allow_nan=False)
    text = f'{head[:-1]}, "result": {result or "null"}}}'
    return Response(text, media_type="application/json", headers=dict(headers or {}))
