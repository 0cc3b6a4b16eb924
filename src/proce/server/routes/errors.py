"""How errors are declared in OpenAPI, and answered: in one shape, never with a traceback."""

import logging
import math
import secrets
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from proce.errors import ProceError, StoreError, WorkerError
from proce.server.jobs import JobEnded, UnknownJob
from proce.server.wire.errors import ErrorAnswer, error_body, validation_body
from proce.server.workers import QueueFull

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


def errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return how a route declares its errors: those that any route has, and its own."""
    return {
        status: {"model": ErrorAnswer, "description": WORDS[status]}
        for status in sorted({*ALWAYS, *statuses})
    }


BODY = (413, 415)


_RETRY_SECONDS = 2.0

log = logging.getLogger(__name__)


def add_error_answers(app: FastAPI) -> None:
    """Let an application answer every error in the one shape."""
    app.add_exception_handler(HTTPException, _answer_refusal)
    app.add_exception_handler(RequestValidationError, _answer_validation)
    app.add_exception_handler(ProceError, _answer_wrong_request)
    app.add_exception_handler(WorkerError, _answer_unavailable)
    app.add_exception_handler(StoreError, _answer_no_log)
    app.add_exception_handler(UnknownJob, _answer_unknown)
    app.add_exception_handler(JobEnded, _answer_ended)
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


async def _answer_unknown(_request: Request, error: Exception) -> JSONResponse:
    return JSONResponse(error_body(str(error)), HTTPStatus.NOT_FOUND)


async def _answer_ended(_request: Request, error: Exception) -> JSONResponse:
    return JSONResponse(error_body(str(error)), HTTPStatus.CONFLICT)


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
