"""Routes whose bodies are JSON and nothing else, read strictly."""

import asyncio
import email.message
import json
import re
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import HTTPException, Request, Response
from fastapi.routing import APIRoute

from proce.json_reading import is_shallow, parse_json

MAX_DEPTH = 32
_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")  # but not the letters u0000 behind a backslash
_LARGE_BODY = 100_000  # bytes that the event loop does not parse itself
_UNREADABLE = 400
_WRONG_TYPE = 415


class StrictRequest(Request):
    """A request whose body is read by our own rules."""

    async def json(self) -> Any:
        """Return the value that the body holds."""
        body = await self.body()
        if len(body) > _LARGE_BODY:
            return await asyncio.to_thread(parse_body, body)
        return parse_body(body)


class StrictRoute(APIRoute):
    """A route that refuses bodies that do not say that they are JSON."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the function that handles a request."""
        handle = super().get_route_handler()
        takes_body = self.body_field is not None

        async def handle_strictly(request: Request) -> Response:
            if takes_body and not _is_json(request):
                raise HTTPException(
                    _WRONG_TYPE, "The body must be JSON; send content-type: application/json."
                )
            return await handle(StrictRequest(request.scope, request.receive))

        return handle_strictly


def _is_json(request: Request) -> bool:
    message = email.message.Message()
    message["content-type"] = request.headers.get("content-type", "")
    return message.get_content_type() == "application/json"


def parse_body(body: bytes) -> Any:
    """Return the value that a body holds, or answer 400."""
    try:
        # NaN and infinities are refused by the model of the request, which names their field.
        value = parse_json(body.decode("utf-8"), float, float)
    except UnicodeDecodeError as error:
        raise _unreadable(f"The body is not UTF-8 (byte {error.start}).") from None
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise _unreadable(f"The body is not JSON: {error.msg} ({place}).") from None
    except ValueError as error:
        raise _unreadable(f"The body cannot be read: {error}.") from None
    if not is_shallow(value, MAX_DEPTH):
        raise _unreadable(f"The body is nested more than {MAX_DEPTH} levels deep.")
    if _NUL.search(body):
        raise _unreadable("The body holds the character U+0000, which no text may hold.")
    return value


def _unreadable(words: str) -> HTTPException:
    return HTTPException(_UNREADABLE, words)
