"""The bodies that the service takes."""

from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field, JsonValue, model_validator

from proce.methods.calls.explain_options import EXPLAIN_OPTIONS, Bounds, CausalMode, OfferedPick
from proce.server.wire.values import (
    MAX_TEXT_LENGTH,
    Cell,
    Edge,
    Model,
    Name,
    Number,
    Row,
    RuleText,
    field_error,
)

MAX_ROWS = 10_000
MAX_N = 100
MAX_RULES = 100
MAX_EDGES = 10_000
MAX_ROW_ID = 2**53

_ROW: dict[str, JsonValue] = {
    "age": 41,
    "education": "some college",
    "job": "office",
    "years_employed": 18,
    "income": 53700,
    "housing": "rents",
    "savings": 6800,
    "debt": 0,
    "credit_score": 689,
    "amount": 11500,
    "duration": 54,
}

RowId = Annotated[int, Field(ge=0, le=MAX_ROW_ID)]
Rules = Annotated[list[RuleText], Field(max_length=MAX_RULES, fail_fast=True)]
View = Literal["applicant", "auditor"]


def _bounds(name: str, most: float | None = None) -> dict[str, Any]:
    """Return the declared bounds of an option; ``most`` is as far as one request may go."""
    declared = EXPLAIN_OPTIONS[name].bounds or Bounds()
    return {"gt": declared.above, "ge": declared.least, "le": most or declared.most}


def _option(name: str, most: float | None = None) -> Any:
    """Return the field of an option of ``explain`` as it is declared."""
    option = EXPLAIN_OPTIONS[name]
    own = {} if option.by_feature else _bounds(name, most)
    return Field(option.default, description=option.help, **own)


class GraphInput(Model):
    """A causal graph for one call: DAGitty text, or a list of edges."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"edges": [["age", "income"], ["income", "savings"]]}]}
    )

    dagitty: Annotated[str, Field(max_length=MAX_TEXT_LENGTH)] | None = Field(
        None, description="The graph as DAGitty text."
    )
    edges: Annotated[list[Edge], Field(max_length=MAX_EDGES, fail_fast=True)] | None = Field(
        None, description="The graph as pairs of cause and effect."
    )

    @model_validator(mode="after")
    def _require_one(self) -> Self:
        if (self.dagitty is None) == (self.edges is None):
            raise field_error("dagitty", "give either 'dagitty' or 'edges'")
        return self


class ExplanationRequest(Model):
    """What is to be explained, and within which limits; only the rows are needed."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"row_ids": [0]},
                {
                    "rows": [_ROW],
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
    view: View | None = Field(None, description="Whose view; the query parameter does the same.")

    @model_validator(mode="after")
    def _require_row(self) -> Self:
        if self.row is None and self.row_id is None:
            raise field_error("row", "give 'row' or 'row_id'")
        return self


class RulesRequest(Model):
    """Rules to be checked, each by itself."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"rules": ["cf.age >= x.age", "cf.savings >"]}]}
    )

    rules: Rules = Field(description="The texts of the rules.")


class ParseRequest(Model):
    """A line of csv, as pasted."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"text": "\n".join([",".join(_ROW), ",".join(map(str, _ROW.values()))])}]
        }
    )

    text: Annotated[str, Field(min_length=1, max_length=MAX_TEXT_LENGTH)] = Field(
        description="One row, with or without a header; separated by commas, semicolons or tabs."
    )


class ViewRequest(Model):
    """What a page needs to show a view again."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"state": {"tab": "results", "rank": 2}}]}
    )

    state: dict[str, Any] = Field(description="Any JSON object of at most 64 kB.")
