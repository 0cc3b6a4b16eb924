"""The values of requests and answers: each bounded, and never coerced."""

import math
from typing import Annotated, Any, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    PlainValidator,
    StringConstraints,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import PydanticCustomError

MAX_NAME_LENGTH = 16_384
MAX_CELLS = 10_000  # of a row
MAX_RULE_LENGTH = 4_000
MAX_TEXT_LENGTH = 65_536
MAX_ROWS = 10_000
MAX_RULES = 100
MAX_EDGES = 10_000
MAX_ROW_ID = 2**53
_MAX_WHOLE = 2**63

EXAMPLE_ROW: dict[str, JsonValue] = {
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
_CELL_SCHEMA = {
    "anyOf": [
        {"type": "number"},
        {"type": "string", "maxLength": MAX_NAME_LENGTH},
        {"type": "boolean"},
        {"type": "null"},
    ],
    "description": "A number, a text, true or false; null is a missing value.",
}
_ROW_SCHEMA = {
    "type": "object",
    "additionalProperties": _CELL_SCHEMA,
    "maxProperties": MAX_CELLS,
    "propertyNames": {"minLength": 1, "maxLength": MAX_NAME_LENGTH},
}


class Model(BaseModel):
    """A request or a part of one: unknown fields and values of another type are refused."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class Answer(BaseModel):
    """An answer or a part of one."""

    model_config = ConfigDict(allow_inf_nan=False)


def _checked_cell(value: Any) -> Any:
    """Return a value of a row; refuse lists, objects, and numbers that no column holds."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        if len(value) > MAX_NAME_LENGTH:
            raise PydanticCustomError(
                "cell", f"this text is longer than {MAX_NAME_LENGTH:,} characters"
            )
        return value
    if isinstance(value, int):
        if abs(value) >= _MAX_WHOLE:
            raise PydanticCustomError("cell", "this number is too large")
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    raise PydanticCustomError("cell", "expected a finite number, a text, true, false or null")


def _checked_row(row: Any) -> dict[str, Any]:
    """Return the values of a row by feature; only the first that is wrong is told."""
    if not isinstance(row, dict):
        raise PydanticCustomError("row", "expected an object with the values by feature")
    if len(row) > MAX_CELLS:
        raise PydanticCustomError("row", f"this row has more than {MAX_CELLS:,} values")
    for name, value in row.items():
        if not 0 < len(name) <= MAX_NAME_LENGTH:
            raise PydanticCustomError(
                "row", f"a name has 1 to {MAX_NAME_LENGTH:,} characters, not {len(name):,}"
            )
        try:
            _checked_cell(value)
        except PydanticCustomError as error:
            raise field_error(name, error.message()) from None
    return row


def field_error(field: str, message: str) -> PydanticCustomError:
    """Return an error of a whole model or row that names the field to look at."""
    return PydanticCustomError("field", "{message}", {"field": field, "message": message})


Cell = Annotated[Any, PlainValidator(_checked_cell), WithJsonSchema(_CELL_SCHEMA)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=MAX_NAME_LENGTH, strict=True)]
RuleText = Annotated[str, StringConstraints(max_length=MAX_RULE_LENGTH, strict=True)]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Row = Annotated[dict[str, Any], PlainValidator(_checked_row), WithJsonSchema(_ROW_SCHEMA)]
Edge = Annotated[list[Name], Field(min_length=2, max_length=2)]
RowId = Annotated[int, Field(ge=0, le=MAX_ROW_ID)]
Rules = Annotated[list[RuleText], Field(max_length=MAX_RULES, fail_fast=True)]


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
