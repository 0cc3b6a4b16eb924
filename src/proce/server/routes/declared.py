"""The errors that routes declare in OpenAPI."""

from typing import Any

from proce.server.wire.errors import ErrorAnswer

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
