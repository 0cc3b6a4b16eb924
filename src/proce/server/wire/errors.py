"""The one shape of every error, and how errors of validation are told in it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import ConfigDict, Field

from proce.errors import ProceError
from proce.methods.calls.explain_options import EXPLAIN_OPTIONS
from proce.server.wire.values import Answer

_MAX_FIELDS_TOLD = 20


class WrongField(ProceError, ValueError):  # noqa: N818 - it is what the client sent
    """A field of a request that cannot be honoured."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(field, message)
        self.field = field
        self.message = message


class FieldError(Answer):
    """What is wrong with one field of a request."""

    field: str = Field(description="The field, such as 'rows[0].savings'.")
    message: str = Field(description="What was wrong and what was expected.")


class ErrorAnswer(Answer):
    """The answer to a request that was refused or failed."""

    message: str = Field(description="What was wrong, what was expected, what to do.")
    fields: list[FieldError] = Field(description="The fields that are wrong, where any are.")

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "message": "n: expected a whole number from 1 on",
                    "fields": [{"field": "n", "message": "expected a whole number from 1 on"}],
                }
            ]
        }
    )


def error_body(message: str, fields: Iterable[tuple[str, str]] = ()) -> dict[str, Any]:
    """Return the body of an error."""
    return {
        "message": message,
        "fields": [{"field": field, "message": words} for field, words in fields],
    }


def validation_body(errors: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the body of a 422 for the errors that pydantic lists."""
    fields = [_field_and_words(error) for error in errors[:_MAX_FIELDS_TOLD]]
    field, words = fields[0]
    more = len(errors) - 1
    others = f" (and {more} more field{'s' * (more > 1)})" if more else ""
    return error_body(f"{field}: {words}{others}", fields)


def _field_and_words(error: Mapping[str, Any]) -> tuple[str, str]:
    context = error.get("ctx") or {}
    path = list(error["loc"])
    if error["type"] == "field":
        path.append(context["field"])
    field = field_path(path[1:] if path and path[0] in ("body", "query", "path") else path)
    if error["type"] == "extra_forbidden":
        return field, "unknown field; remove it or look up its name in /docs"
    if error["type"] == "missing":
        return field, "this field is needed"
    option = EXPLAIN_OPTIONS.get(field)
    if option is not None and not option.admits(error["input"]):
        return field, f"expected {option.expected}"
    return field, str(error["msg"])


def field_path(parts: Iterable[str | int]) -> str:
    """Return a path into a body as people write it: ``rows[0].savings``."""
    text = ""
    for part in parts:
        if isinstance(part, int):
            text += f"[{part}]"
        elif part != "[key]":
            text += f".{part}" if text else part
    return text or "body"
