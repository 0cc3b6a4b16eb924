"""What is drawn or written of a finished explanation."""

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Query, Response
from fastapi.responses import JSONResponse

from proce.server.guard import Role
from proce.server.routes.answers import answers, errors, writes
from proce.server.routes.explanations import RecordId, find_record, in_view
from proce.server.routes.service import Service, ServiceHere, ViewHere
from proce.server.routes.values import MAX_NAME_LENGTH, MAX_ROWS, Answer
from proce.server.store import Record

router = APIRouter(prefix="/explanations/{record_id}", tags=["documents"])


@dataclass(frozen=True)
class Result:
    """A finished explanation as a view shows it; the explainer is asked about its text."""

    service: Service
    record: Record
    text: str
    view: Role

    async def ask(self, method: str, **arguments: Any) -> Any:
        """Return what a method of the explainer answers at once."""
        return await self.service.workers.ask(
            method, document=self.text, view=self.view, **arguments
        )

    async def write(self, method: str, **arguments: Any) -> Any:
        """Return what a method of the explainer writes, which may take long."""
        return await self.service.workers.write(
            method, document=self.text, view=self.view, **arguments
        )

    def file(self, text: str, media_type: str, stem: str, suffix: str) -> Response:
        """Return a text as a file to keep."""
        disposition = f'attachment; filename="{stem}-{self.record.id}.{suffix}"'
        headers = {"content-disposition": disposition}
        return Response(text, media_type=media_type, headers=headers)


async def find_result(service: ServiceHere, view: ViewHere, record_id: RecordId) -> Result:
    """Return a finished explanation; answer 404 or 409 where there is none."""
    record = await find_record(service, record_id)
    text = await service.threads.read(service.store.result, record_id, view)
    if text is None:
        raise HTTPException(409, f"The explanation has no result: it is {record.status}.")
    return Result(service, in_view(service, record, view), text, view)


ResultHere = Annotated[Result, Depends(find_result)]


class Line(Answer):
    """One sentence."""

    kind: str
    text: str


class WaysAnswer(Answer):
    """What the page draws for one row."""

    row: int
    label: str | None
    id: str | None
    outcome: str
    decision: dict[str, Any]
    values: list[dict[str, Any]]
    lines: list[Line]
    ways: list[dict[str, Any]]
    front: list[dict[str, Any]]
    axes: list[dict[str, Any]]
    graph: dict[str, Any]
    diagnosis: dict[str, Any] | None


@router.get("/ways", **answers("What is drawn.", WaysAnswer, 404, 409))
async def ways(
    result: ResultHere,
    row: Annotated[
        int, Query(ge=0, le=MAX_ROWS, description="The position of the row in the request, from 0.")
    ] = 0,
) -> Response:
    """Return what the page draws for one row."""
    return JSONResponse(await result.ask("ways", request=result.record.request, row=row))


class CohortFeature(Answer):
    """How often a feature is advised to change."""

    feature: str
    label: str
    kind: str
    count: int
    share: float
    change_text: str
    median_size: float | None


class CohortRow(Answer):
    """One row of a cohort."""

    row: int
    id: str | None
    outcome: str
    probability: float | None
    new_probability: float | None
    distance: float | None
    n_actions: int | None
    actions: str


class CohortAnswer(Answer):
    """What many rows have in common: which changes are advised how often, and at what cost."""

    n_rows: int
    outcomes: dict[str, int]
    features: list[CohortFeature]
    groups: list[dict[str, Any]]
    rows: list[CohortRow]


@router.get("/cohort", **answers("The overview.", CohortAnswer, 404, 409))
async def cohort(
    result: ResultHere,
    by: Annotated[
        str | None,
        Query(max_length=MAX_NAME_LENGTH, description="The feature whose levels are compared."),
    ] = None,
) -> Response:
    """Return which changes are advised how often over all rows, and what they cost whom."""
    return JSONResponse(await result.write("cohort", request=result.record.request, by=by))


@router.get("/report", **writes("The report.", 404, 409, media_types=["text/html"]))
async def report(result: ResultHere) -> Response:
    """Return the report as a page of its own."""
    return result.file(await result.write("report"), "text/html", "report", "html")


@router.get("/letter", **writes("The draft.", 404, 409, media_types=["text/plain"]))
async def letter(
    result: ResultHere,
    row: Annotated[
        int | None, Query(ge=0, le=MAX_ROWS, description="Only the row at this position, from 0.")
    ] = None,
) -> Response:
    """Return the draft of a letter about one row, or about all."""
    return result.file(await result.write("letter", row=row), "text/plain", "letter", "txt")


@router.get("/csv", **writes("The counterfactuals.", 404, 409, media_types=["text/csv"]))
async def csv(result: ResultHere) -> Response:
    """Return the counterfactuals as csv."""
    return result.file(await result.write("csv"), "text/csv", "counterfactuals", "csv")


@router.get("/json", response_description="The explanations.", responses=errors(404, 409))
async def json(result: ResultHere) -> Any:
    """Return everything that was found as JSON; 'proce report' reads it."""
    return result.file(result.text, "application/json", "explanations", "json")
