"""The log of explanations: listed in pages, and exported as a whole."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, HTTPException, Query, Response
from fastapi.responses import JSONResponse, StreamingResponse

from proce.server.explainer_api.errors import RequestError
from proce.server.routes.answers import answers, writes
from proce.server.routes.explanations import Record, record_json
from proce.server.routes.service import AnyService, RoleHere, ServiceHere, ViewHere
from proce.server.routes.values import MAX_ROW_ID, Answer
from proce.server.store import RecordFilter, Status

_TYPES = {"jsonl": "application/x-ndjson", "csv": "text/csv"}

router = APIRouter(tags=["log"])

StatusHere = Annotated[Status | None, Query(description="Only records of this status.")]
SinceHere = Annotated[
    datetime | None, Query(description="Only those asked for then or later; ISO 8601.")
]
UntilHere = Annotated[datetime | None, Query(description="Only those asked for before.")]


class RecordList(Answer):
    """Some of the log, and how many records fit."""

    total: int
    records: list[Record]


@router.get("/explanations", **answers("Some of the log, and how many fit.", RecordList))
async def list_explanations(
    service: ServiceHere,
    view: ViewHere,
    status: StatusHere = None,
    since: SinceHere = None,
    until: UntilHere = None,
    limit: Annotated[int, Query(ge=1, le=200, description="How many to return.")] = 50,
    offset: Annotated[int, Query(ge=0, le=MAX_ROW_ID, description="How many to skip.")] = 0,
) -> Response:
    """Return the log, the latest first, without results and without the cells of rows."""
    page = await service.threads.read(
        service.store.records, _filter(status, since, until), limit=limit, offset=offset
    )
    records = [_without_cells(record_json(service, record, view)) for record in page.records]
    return JSONResponse({"total": page.total, "records": records})


@router.get(
    "/explanations/export",
    **writes("The log, the oldest first.", media_types=_TYPES.values()),
)
async def export_explanations(
    service: AnyService,
    role: RoleHere,
    form: Annotated[
        Literal["jsonl", "csv"],
        Query(alias="format", description="jsonl with results, or csv without."),
    ] = "jsonl",
    status: StatusHere = None,
    since: SinceHere = None,
    until: UntilHere = None,
) -> Response:
    """Return the whole log as a stream; for auditors."""
    if role != "auditor":
        raise HTTPException(403, "The log is exported by auditors; use such a token.")
    pieces = service.store.export(form, _filter(status, since, until))
    headers = {"content-disposition": f'attachment; filename="explanations.{form}"'}
    stream: AsyncIterator[str] = service.threads.stream(pieces)
    return StreamingResponse(stream, media_type=_TYPES[form], headers=headers)


def _filter(status: Status | None, since: datetime | None, until: datetime | None) -> RecordFilter:
    return RecordFilter(status=status, since=_in_utc("since", since), until=_in_utc("until", until))


def _in_utc(field: str, time: datetime | None) -> datetime | None:
    """Return a time in UTC; one without a zone is in UTC already."""
    if time is None:
        return None
    try:
        return time.astimezone(UTC) if time.tzinfo is not None else time.replace(tzinfo=UTC)
    except OverflowError:
        raise RequestError(field, "this time lies outside the years 1 to 9999 of UTC") from None


def _without_cells(record: dict[str, Any]) -> dict[str, Any]:
    """Return a listed record without the cells of its rows, which may be many."""
    request = dict(record["request"])
    if "rows" in request:
        request["rows"] = [{}] * len(request["rows"])
    if "values" in request:
        request["values"] = {}
    return {**record, "request": request}
