"""The answers of the service: about the explainer, its rows, and explanations."""

from typing import Any, Literal

from pydantic import ConfigDict, Field

from proce.server.wire.values import Answer, Cell


class WorkersState(Answer):
    """The worker processes."""

    total: int = Field(description="How many there are.")
    ready: int = Field(description="How many have loaded the explainer.")
    busy: int = Field(description="How many are explaining.")


class QueueState(Answer):
    """The queue of explanations."""

    length: int = Field(description="How many wait.")
    limit: int = Field(description="How many may wait.")


class Health(Answer):
    """Whether the service is up."""

    status: Literal["ok", "starting"]
    version: str
    workers: WorkersState
    queue: QueueState


class SessionLimits(Answer):
    """The most that one request may ask for."""

    rows: int
    n: int
    rules: int
    seconds: float
    body_bytes: int


class Session(Answer):
    """Who asks, and what the operator has set."""

    role: Literal["applicant", "auditor"]
    token_required: bool
    version: str
    title: str
    limits: SessionLimits
    has_rows: bool


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


class GraphCheck(Answer):
    """Whether a graph can be used; its canonical text."""

    ok: bool
    error: str | None
    position: int | None
    edges: list[list[str]]
    dagitty: str


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


class ParsedRow(Answer):
    """The values that a line of csv holds."""

    values: dict[str, Cell]
    notes: list[str]


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


class SavedView(Answer):
    """The id under which a view was kept."""

    id: str


class ViewAnswer(Answer):
    """A view that was kept."""

    state: dict[str, Any]


Status = Literal["queued", "running", "done", "failed", "cancelled", "interrupted"]


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
    role: Literal["applicant", "auditor"] = Field(description="Whose token asked.")
    version: str = Field(description="The version of ProCE that explained.")


class RecordList(Answer):
    """Some of the log, and how many records fit."""

    total: int
    records: list[Record]


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
