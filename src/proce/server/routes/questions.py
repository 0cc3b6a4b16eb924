"""Questions about the explainer and its rows; each is answered at once by the question worker."""

from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query
from fastapi.responses import JSONResponse

from proce.server.routes.errors import BODY, errors
from proce.server.routes.service import RoleHere, ServiceHere, ViewHere, view_of
from proce.server.routes.strict import StrictRoute
from proce.server.wire.answers import (
    GraphAnswer,
    GraphCheck,
    ParsedRow,
    RowsAnswer,
    RulesAnswer,
    SchemaAnswer,
    WhatIfAnswer,
)
from proce.server.wire.requests import (
    MAX_ROW_ID,
    GraphInput,
    ParseRequest,
    RulesRequest,
    WhatIfRequest,
)
from proce.server.wire.values import MAX_NAME_LENGTH, MAX_RULE_LENGTH

MAX_PAGE = 1_000

router = APIRouter(route_class=StrictRoute, tags=["questions"])


@router.get(
    "/schema",
    response_description="The features and classes.",
    response_model=SchemaAnswer,
    responses=errors(),
)
async def schema(service: ServiceHere, view: ViewHere) -> Any:
    """Return the features, the classes and the rules."""
    answer = await service.workers.ask("schema", view=view)
    return JSONResponse({**answer, "title": service.settings.title})


@router.get(
    "/graph", response_description="The graph.", response_model=GraphAnswer, responses=errors()
)
async def graph(service: ServiceHere, view: ViewHere) -> Any:
    """Return the causal graph and its equations."""
    return JSONResponse(await service.workers.ask("graph", view=view))


@router.post(
    "/graph/check",
    response_description="Whether the graph can be used.",
    response_model=GraphCheck,
    responses=errors(*BODY),
)
async def check_graph(service: ServiceHere, view: ViewHere, body: GraphInput) -> Any:
    """Check a graph that a person has drawn or typed."""
    answer = await service.workers.ask(
        "check_graph", dagitty=body.dagitty, edges=body.edges, view=view
    )
    return JSONResponse(answer)


@router.get(
    "/rows",
    response_description="Some rows, and how many fit.",
    response_model=RowsAnswer,
    responses=errors(404),
)
async def rows(
    service: ServiceHere,
    view: ViewHere,
    offset: Annotated[int, Query(ge=0, le=MAX_ROW_ID, description="How many rows to skip.")] = 0,
    limit: Annotated[int, Query(ge=1, le=MAX_PAGE, description="How many rows to return.")] = 50,
    prediction: Annotated[
        str | None, Query(max_length=MAX_NAME_LENGTH, description="Only rows of this class.")
    ] = None,
    where: Annotated[
        str | None,
        Query(max_length=MAX_RULE_LENGTH, description="A rule over x., such as 'x.age > 40'."),
    ] = None,
    sort: Annotated[
        str | None,
        Query(max_length=MAX_NAME_LENGTH, description="A feature, or 'probability'."),
    ] = None,
    descending: Annotated[bool, Query(description="The largest first.")] = False,
) -> Any:
    """Return rows of the operator's file, with the model's decision on each."""
    if not service.settings.has_rows:
        raise HTTPException(404, "The service was started without a file of rows (--rows).")
    answer = await service.workers.ask(
        "rows",
        offset=offset,
        limit=limit,
        prediction=prediction,
        where=where,
        sort=sort,
        descending=descending,
        view=view,
    )
    return JSONResponse(answer)


@router.post(
    "/rows/parse",
    response_description="The values of the row.",
    response_model=ParsedRow,
    responses=errors(*BODY),
)
async def parse_row(service: ServiceHere, view: ViewHere, body: ParseRequest) -> Any:
    """Read one row from a pasted line of csv."""
    return JSONResponse(await service.workers.ask("parse_row", text=body.text, view=view))


@router.post(
    "/what-if",
    response_description="The decision before and after.",
    response_model=WhatIfAnswer,
    responses=errors(404, *BODY),
)
async def what_if(service: ServiceHere, role: RoleHere, view: ViewHere, body: WhatIfRequest) -> Any:
    """Return what would follow from changes to a row, and the new decision."""
    answer = await service.workers.ask(
        "what_if",
        row=body.row,
        row_id=body.row_id,
        changes=body.changes,
        target=body.target,
        graph=None if body.graph is None else body.graph.model_dump(exclude_none=True),
        view=view if body.view is None else view_of(role, body.view),
    )
    return JSONResponse(answer)


@router.post(
    "/rules/check",
    response_description="One answer for each rule.",
    response_model=RulesAnswer,
    responses=errors(*BODY),
)
async def check_rules(service: ServiceHere, view: ViewHere, body: RulesRequest) -> Any:
    """Check rules as they are typed."""
    return JSONResponse(await service.workers.ask("check_rules", rules=body.rules, view=view))
