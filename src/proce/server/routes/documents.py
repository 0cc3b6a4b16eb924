"""What is drawn or written of a finished explanation."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from fastapi.responses import JSONResponse

from proce.server.routes.errors import errors
from proce.server.routes.records import RecordId, find_result
from proce.server.routes.service import Role, Service, ServiceHere, ViewHere
from proce.server.wire.answers import CohortAnswer, WaysAnswer
from proce.server.wire.requests import MAX_ROWS
from proce.server.wire.values import MAX_NAME_LENGTH

router = APIRouter(prefix="/explanations/{record_id}", tags=["documents"])

OneRowHere = Annotated[
    int | None, Query(ge=0, le=MAX_ROWS, description="Only the row at this position, from 0.")
]
RowHere = Annotated[
    int, Query(ge=0, le=MAX_ROWS, description="The position of the row in the request, from 0.")
]


@router.get(
    "/ways",
    response_description="What is drawn.",
    response_model=WaysAnswer,
    responses=errors(404, 409),
)
async def ways(service: ServiceHere, view: ViewHere, record_id: RecordId, row: RowHere = 0) -> Any:
    """Return what the page draws for one row."""
    record, text = await find_result(service, record_id, view)
    answer = await service.workers.ask(
        "ways", document=text, request=record.request, view=view, row=row
    )
    return JSONResponse(answer)


@router.get(
    "/cohort",
    response_description="The overview.",
    response_model=CohortAnswer,
    responses=errors(404, 409),
)
async def cohort(
    service: ServiceHere,
    view: ViewHere,
    record_id: RecordId,
    by: Annotated[
        str | None,
        Query(max_length=MAX_NAME_LENGTH, description="The feature whose levels are compared."),
    ] = None,
) -> Any:
    """Return which changes are advised how often over all rows, and what they cost whom."""
    return JSONResponse(await _write(service, "cohort", record_id, view, by=by))


@router.get(
    "/report",
    response_class=Response,
    response_description="The report.",
    responses={200: {"content": {"text/html": {}}}, **errors(404, 409)},
)
async def report(service: ServiceHere, view: ViewHere, record_id: RecordId) -> Any:
    """Return the report as a page of its own."""
    text = await _write(service, "report", record_id, view)
    return _file(text, "text/html", f"report-{record_id}.html")


@router.get(
    "/letter",
    response_class=Response,
    response_description="The draft.",
    responses={200: {"content": {"text/plain": {}}}, **errors(404, 409)},
)
async def letter(
    service: ServiceHere, view: ViewHere, record_id: RecordId, row: OneRowHere = None
) -> Any:
    """Return the draft of a letter about one row, or about all."""
    text = await _write(service, "letter", record_id, view, row=row)
    return _file(text, "text/plain", f"letter-{record_id}.txt")


@router.get(
    "/csv",
    response_class=Response,
    response_description="The counterfactuals.",
    responses={200: {"content": {"text/csv": {}}}, **errors(404, 409)},
)
async def csv(service: ServiceHere, view: ViewHere, record_id: RecordId) -> Any:
    """Return the counterfactuals as csv."""
    text = await _write(service, "csv", record_id, view)
    return _file(text, "text/csv", f"counterfactuals-{record_id}.csv")


@router.get("/json", response_description="The explanations.", responses=errors(404, 409))
async def json(service: ServiceHere, view: ViewHere, record_id: RecordId) -> Any:
    """Return everything that was found as JSON; 'proce report' reads it."""
    _, text = await find_result(service, record_id, view)
    return _file(text, "application/json", f"explanations-{record_id}.json")


async def _write(
    service: Service, method: str, record_id: str, view: Role, **arguments: Any
) -> Any:
    """Return a document, which may take long to write."""
    record, text = await find_result(service, record_id, view)
    return await service.workers.write(
        method, document=text, request=record.request, view=view, **arguments
    )


def _file(text: str, media_type: str, name: str) -> Response:
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(text, media_type=media_type, headers=headers)
