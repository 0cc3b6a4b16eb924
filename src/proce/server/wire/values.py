"""The values of the wire: cells of a row, names and numbers, each bounded and never coerced."""

import math
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, PlainValidator, StringConstraints, WithJsonSchema
from pydantic_core import PydanticCustomError

MAX_NAME_LENGTH = 16_384
MAX_RULE_LENGTH = 4_000
MAX_TEXT_LENGTH = 65_536
_MAX_WHOLE = 2**63

_CELL_SCHEMA = {
    "anyOf": [
        {"type": "number"},
        {"type": "string", "maxLength": MAX_NAME_LENGTH},
        {"type": "boolean"},
        {"type": "null"},
    ],
    "description": "A number, a text, true or false; null is a missing value.",
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


Cell = Annotated[Any, PlainValidator(_checked_cell), WithJsonSchema(_CELL_SCHEMA)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=MAX_NAME_LENGTH, strict=True)]
RuleText = Annotated[str, StringConstraints(max_length=MAX_RULE_LENGTH, strict=True)]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Row = Annotated[dict[Name, Cell], Field(max_length=10_000)]
Edge = Annotated[list[Name], Field(min_length=2, max_length=2)]
