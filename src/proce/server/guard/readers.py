"""Clients that do not read what they asked for."""

import asyncio

from starlette.types import ASGIApp, Message, Receive, Scope, Send


class SlowReaders:
    """Ends an answer where its client has read nothing of it for some time.

    The server then closes the connection. The application sees it as a cancellation, as it sees
    the end of the service.

    Parameters
    ----------
    app
        What is guarded.
    max_seconds
        How long one piece of an answer may wait to be taken.
    """

    def __init__(self, app: ASGIApp, max_seconds: float) -> None:
        self._app = app
        self._max_seconds = max_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and give up on its client when it no longer reads."""
        given_up = False

        async def send_in_time(message: Message) -> None:
            nonlocal given_up
            if not given_up:
                try:
                    async with asyncio.timeout(self._max_seconds):
                        await send(message)
                    return
                except TimeoutError:
                    given_up = True
            raise asyncio.CancelledError

        try:
            await self._app(scope, receive, send_in_time)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if not given_up or (task is not None and task.cancelling()):
                raise
