"""The answers of the service about explanations: records, the log, what is drawn of a result."""

from typing import Any, Literal

from pydantic import Field

from proce.server.wire.values import Answer

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
