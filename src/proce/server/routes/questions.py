"""Questions about the explainer and its rows; each is answered at once by a question worker.

A route stands below the models of its request and its answer. It asks a method of `ExplainerApi`.
"""

from typing import Annotated, Literal, Self

from fastapi import APIRouter, HTTPException, Query, Response
from pydantic import ConfigDict, Field, model_validator

from proce.server.guard import Role
from proce.server.routes.answers import BODY, answers
from proce.server.routes.service import Explainer, ExplainerHere, RoleHere, view_of
from proce.server.routes.strict import StrictRoute
from proce.server.routes.values import (
    EXAMPLE_ROW,
    MAX_NAME_LENGTH,
    MAX_ROW_ID,
    MAX_RULE_LENGTH,
    MAX_TEXT_LENGTH,
    Answer,
    Cell,
    GraphInput,
    Model,
    Row,
    RowId,
    Rules,
    field_error,
)

MAX_PAGE = 1_000

router = APIRouter(route_class=StrictRoute, tags=["questions"])


class ClassLabel(Answer):
    """A class of the model."""

    value: Cell
    label: str


class LevelLabel(Answer):
    """A level of a feature."""

    value: Cell
    label: str
    avoid: bool = Field(description="Whether this level is never advised.")


class Feature(Answer):
    """A feature: what it is, how it may move, and what is usual."""

    name: str
    label: str
    unit: str | None
    type: Literal["continuous", "ordinal", "categorical"]
    step: float | None
    whole: bool
    range: list[float] | None = Field(description="What the schema permits.")
    seen: list[float] | None = Field(description="What the training rows have.")
    levels: list[LevelLabel] | None
    action: Literal["free", "increase", "decrease", "waits", "indirect", "fixed"]
    effort: float
    protected: bool
    may_miss: bool
    typical: Cell
    quantiles: list[float] | None = Field(description="21 quantiles of the training rows.")
    shares: list[float] | None = Field(description="The share of each level.")


class SchemaAnswer(Answer):
    """The features and classes of the explainer."""

    title: str
    classes: list[ClassLabel]
    threshold: float | None
    default_target: Cell
    features: list[Feature]
    rules: list[str]
    causal: str
    n_rows: int
    withheld: int = Field(description="How many features this view does not show.")


@router.get("/schema", **answers("The features and classes.", SchemaAnswer))
async def schema(explainer: ExplainerHere) -> Response:
    """Return the features, the classes and the rules."""
    return await explainer.ask("schema")


class GraphEdge(Answer):
    """One arrow of the causal graph."""

    cause: str
    effect: str
    confidence: float | None


class Equation(Answer):
    """How a feature follows from its causes."""

    effect: str
    causes: list[str]
    words: str
    residual: float | None = Field(
        description="The typical size of what the equation does not explain, in raw units."
    )
    unit: str | None


class GraphAnswer(Answer):
    """The causal graph of the explainer."""

    origin: Literal["given", "discovered"] | None
    words: str
    can_edit: bool
    edges: list[GraphEdge]
    equations: list[Equation]
    dagitty: str


@router.get("/graph", **answers("The graph.", GraphAnswer))
async def graph(explainer: ExplainerHere) -> Response:
    """Return the causal graph and its equations."""
    return await explainer.ask("graph")


class GraphCheck(Answer):
    """Whether a graph can be used; its canonical text."""

    ok: bool
    error: str | None
    position: int | None
    edges: list[list[str]]
    dagitty: str


@router.post("/graph/check", **answers("Whether the graph can be used.", GraphCheck, *BODY))
async def check_graph(explainer: ExplainerHere, body: GraphInput) -> Response:
    """Check a graph that a person has drawn or typed."""
    return await explainer.ask("check_graph", dagitty=body.dagitty, edges=body.edges)


class RowAnswer(Answer):
    """One row of the operator's file."""

    row: int = Field(description="The 0-based position; the row id of other calls.")
    id: str | None = Field(description="What a person knows the row by.")
    prediction: Cell
    probability: float | None = Field(
        description="That of the predicted class; null where the model cannot be asked."
    )
    values: dict[str, Cell]


class RowsAnswer(Answer):
    """Some of the rows, and how many fit."""

    total: int
    rows: list[RowAnswer]


@router.get("/rows", **answers("Some rows, and how many fit.", RowsAnswer, 404))
async def rows(
    explainer: ExplainerHere,
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
) -> Response:
    """Return rows of the operator's file, with the model's decision on each."""
    if not explainer.service.settings.has_rows:
        raise HTTPException(404, "The service was started without a file of rows (--rows).")
    return await explainer.ask(
        "rows",
        offset=offset,
        limit=limit,
        prediction=prediction,
        where=where,
        sort=sort,
        descending=descending,
    )


class ParseRequest(Model):
    """A line of csv, as pasted."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "text": "\n".join(
                        [",".join(EXAMPLE_ROW), ",".join(map(str, EXAMPLE_ROW.values()))]
                    )
                }
            ]
        }
    )

    text: Annotated[str, Field(min_length=1, max_length=MAX_TEXT_LENGTH)] = Field(
        description="One row, with or without a header; separated by commas, semicolons or tabs."
    )


class ParsedRow(Answer):
    """The values that a line of csv holds."""

    values: dict[str, Cell]
    notes: list[str]


@router.post("/rows/parse", **answers("The values of the row.", ParsedRow, *BODY))
async def parse_row(explainer: ExplainerHere, body: ParseRequest) -> Response:
    """Read one row from a pasted line of csv."""
    return await explainer.ask("parse_row", text=body.text)


class WhatIfRequest(Model):
    """A row and the changes to it; without changes, the decision on the row as it is."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"row_id": 0, "changes": {"savings": 9000}}]}
    )

    row: Row | None = Field(None, description="The row; beside 'row_id', values on top of it.")
    row_id: RowId | None = Field(None, description="A row of the operator's file, from 0.")
    changes: Row = Field(default_factory=dict, description="The new values by feature.")
    target: Cell = Field(
        None, description="The wanted class; by default the other class of a binary model."
    )
    graph: GraphInput | None = Field(None, description="A graph in the place of the explainer's.")
    view: Role | None = Field(None, description="Whose view; the query parameter does the same.")

    @model_validator(mode="after")
    def _require_row(self) -> Self:
        if self.row is None and self.row_id is None:
            raise field_error("row", "give 'row' or 'row_id'")
        return self


class ClassProbability(Answer):
    """The probability of one class."""

    value: Cell
    label: str
    probability: float


class Decision(Answer):
    """What the model says of a row."""

    prediction: Cell
    label: str
    probability: float = Field(description="That of the target.")
    target: Cell
    target_label: str
    probabilities: list[ClassProbability]
    needed: float | None = Field(description="The probability from which the target is decided.")


class Change(Answer):
    """A value that was set."""

    feature: str
    before: Cell
    after: Cell


class Consequence(Change):
    """A value that follows from what was set."""

    text: str


class WhatIfAnswer(Answer):
    """What would follow from the changes, and the new decision."""

    before: Decision
    after: Decision
    row: dict[str, Cell]
    consequences: list[Consequence]
    changes: list[Change]
    broken: list[str] = Field(description="The rules and limits that the changes break.")
    notes: list[str]


@router.post("/what-if", **answers("The decision before and after.", WhatIfAnswer, 404, *BODY))
async def what_if(explainer: ExplainerHere, role: RoleHere, body: WhatIfRequest) -> Response:
    """Return what would follow from changes to a row, and the new decision."""
    if body.view is not None:
        explainer = Explainer(explainer.service, view_of(role, body.view))
    return await explainer.ask(
        "what_if",
        row=body.row,
        row_id=body.row_id,
        changes=body.changes,
        target=body.target,
        graph=None if body.graph is None else body.graph.model_dump(exclude_none=True),
    )


class RulesRequest(Model):
    """Rules to be checked, each by itself."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"rules": ["cf.age >= x.age", "cf.savings >"]}]}
    )

    rules: Rules = Field(description="The texts of the rules.")


class RuleCheck(Answer):
    """Whether a rule can be used."""

    text: str
    ok: bool
    error: str | None
    position: int | None


class RulesAnswer(Answer):
    """One answer for each rule."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "rules": [
                        {"text": "cf.age >= x.age", "ok": True, "error": None, "position": None}
                    ]
                }
            ]
        }
    )

    rules: list[RuleCheck]


@router.post("/rules/check", **answers("One answer for each rule.", RulesAnswer, *BODY))
async def check_rules(explainer: ExplainerHere, body: RulesRequest) -> Response:
    """Check rules as they are typed."""
    return await explainer.ask("check_rules", rules=body.rules)
