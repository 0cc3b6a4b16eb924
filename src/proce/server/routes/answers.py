"""What routes declare in OpenAPI, and how every error is answered: in one shape, in words."""

import logging
import math
import secrets
from collections.abc import Iterable, Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import ConfigDict, Field
from starlette.exceptions import HTTPException

from proce.errors import ProceError, StoreError, WorkerError
from proce.methods.calls.explain_options import EXPLAIN_OPTIONS
from proce.processes.task import QueueFull
from proce.server.jobs import JobEnded, UnknownJob
from proce.server.routes.values import Answer

WORDS = {
    400: "The request cannot be read: no JSON, not UTF-8, a number that is not finite.",
    401: "The token is missing or wrong.",
    403: "The role of the token does not allow it.",
    404: "There is no such record, view or row.",
    409: "The explanation has ended already, or has not ended yet.",
    413: "The body is too large.",
    415: "The body does not say that it is JSON.",
    422: "A field is wrong; it is named.",
    500: "The service failed; its log tells why under the id in the message.",
    503: "The queue is full, too much is asked at once, or the service is starting; try again"
    " after Retry-After seconds.",
}
ALWAYS = (400, 401, 403, 422, 500, 503)


BODY = (413, 415)
_RETRY_SECONDS = 2.0
_MAX_FIELDS_TOLD = 20

log = logging.getLogger(__name__)


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


def answers(words: str, model: type[Answer] | None = None, *statuses: int) -> dict[str, Any]:
    """Return how a route declares a JSON answer, the errors that any route has, and its own."""
    return {"response_description": words, "response_model": model, "responses": errors(*statuses)}


def writes(words: str, *statuses: int, media_types: Iterable[str]) -> dict[str, Any]:
    """Return how a route declares that it writes a text of some media type, and its errors."""
    content: dict[str, Any] = {media_type: {} for media_type in media_types}
    return {
        "response_class": Response,
        "response_description": words,
        "responses": {200: {"content": content}, **errors(*statuses)},
    }


def errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return how a route declares its errors: those that any route has, and its own."""
    return {
        status: {"model": ErrorAnswer, "description": WORDS[status]}
        for status in sorted({*ALWAYS, *statuses})
    }


def add_error_answers(app: FastAPI) -> None:
    """Let an application answer every error in the one shape."""
    app.add_exception_handler(HTTPException, _answer_refusal)
    app.add_exception_handler(RequestValidationError, _answer_validation)
    app.add_exception_handler(ProceError, _answer_wrong_request)
    app.add_exception_handler(WorkerError, _answer_unavailable)
    app.add_exception_handler(StoreError, _answer_no_log)
    app.add_exception_handler(UnknownJob, _answer_no_job)
    app.add_exception_handler(JobEnded, _answer_no_job)
    app.add_exception_handler(Exception, _answer_failure)


async def _answer_refusal(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    phrase = HTTPStatus(error.status_code).phrase
    message = error.detail if error.detail != phrase else _words_of(error.status_code)
    return JSONResponse(error_body(message), error.status_code, headers=error.headers)


async def _answer_validation(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    return JSONResponse(validation_body(error.errors()), HTTPStatus.UNPROCESSABLE_ENTITY)


async def _answer_wrong_request(_request: Request, error: Exception) -> JSONResponse:
    field = getattr(error, "field", None)
    message = getattr(error, "message", str(error))
    fields = [(field, message)] if field else []
    told = f"{field}: {message}" if field else message
    return JSONResponse(error_body(told, fields), HTTPStatus.UNPROCESSABLE_ENTITY)


async def _answer_unavailable(request: Request, error: Exception) -> JSONResponse:
    seconds = getattr(error, "retry_after", _RETRY_SECONDS)
    if not isinstance(error, QueueFull):
        log.warning("no answer to %s %s: %s", request.method, request.url.path, error)
    headers = {"retry-after": str(math.ceil(seconds))}
    return JSONResponse(error_body(str(error)), HTTPStatus.SERVICE_UNAVAILABLE, headers=headers)


async def _answer_no_log(request: Request, error: Exception) -> JSONResponse:
    log.error("no log for %s %s: %s", request.method, request.url.path, error)
    message = "The log of explanations cannot be read or written at present. Try again later."
    headers = {"retry-after": str(math.ceil(_RETRY_SECONDS))}
    return JSONResponse(error_body(message), HTTPStatus.SERVICE_UNAVAILABLE, headers=headers)


async def _answer_no_job(_request: Request, error: Exception) -> JSONResponse:
    status = HTTPStatus.NOT_FOUND if isinstance(error, UnknownJob) else HTTPStatus.CONFLICT
    return JSONResponse(error_body(str(error)), status)


async def _answer_failure(request: Request, error: Exception) -> JSONResponse:
    number = secrets.token_hex(6)
    log.error("failure %s of %s %s", number, request.method, request.url.path, exc_info=error)
    message = f"The service failed to answer; its log tells why under {number}."
    return JSONResponse(error_body(message), HTTPStatus.INTERNAL_SERVER_ERROR)


def _words_of(status: int) -> str:
    words = {
        404: "There is nothing under this address; /docs lists the routes.",
        405: "This address does not take this method; /docs lists the routes.",
    }
    return words.get(status, f"{HTTPStatus(status).phrase}.")


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
