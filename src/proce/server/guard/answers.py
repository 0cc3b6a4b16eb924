"""How a guard refuses: the one shape of every error, sent without the application."""

import json
from collections.abc import Iterable

from starlette.types import Send

Headers = Iterable[tuple[bytes, bytes]]


async def refuse(send: Send, status: int, message: str, headers: Headers = ()) -> None:
    """Answer a request with an error in words.

    Parameters
    ----------
    send
        Where the answer goes.
    status
        The status of the answer.
    message
        What was wrong, what was expected, what to do.
    headers
        Further headers.
    """
    body = json.dumps({"message": message, "fields": []}, ensure_ascii=False).encode()
    start = {
        "type": "http.response.start",
        "status": status,
        "headers": [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            *headers,
        ],
    }
    await send(start)
    await send({"type": "http.response.body", "body": body, "more_body": False})


def header_values(headers: Headers, name: bytes) -> list[bytes]:
    """Return the values of all headers of a name, which is in lower case."""
    return [value for key, value in headers if key.lower() == name]
