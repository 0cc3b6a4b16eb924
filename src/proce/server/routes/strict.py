"""Routes whose bodies are JSON and nothing else, read strictly."""

import asyncio
import email.message
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import HTTPException, Request, Response
from fastapi.routing import APIRoute

from proce.server.wire.body import BodyError, parse_body

_LARGE_BODY = 100_000  # bytes that the event loop does not parse itself
_UNREADABLE = 400
_WRONG_TYPE = 415


class StrictRequest(Request):
    """A request whose body is read by our own rules."""

    async def json(self) -> Any:
        """Return the value that the body holds."""
        try:
            body = await self.body()
            if len(body) > _LARGE_BODY:
                return await asyncio.to_thread(parse_body, body)
            return parse_body(body)
        except BodyError as error:
            raise HTTPException(_UNREADABLE, str(error)) from None


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
