"""Everything that is asked of one loaded explainer and its rows: plain values in, plain values out.

``Desk`` has a method for each question; the other modules answer them. Nothing here knows of HTTP.
The names are loaded when somebody asks for them: a process that only has to know ``RequestError``
loads neither pandas nor numba.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from proce.server.desk.desk import Desk
    from proce.server.desk.errors import RequestError

__all__ = ["Desk", "RequestError"]


def __getattr__(name: str) -> Any:
    if name == "Desk":
        from proce.server.desk.desk import Desk

        return Desk
    if name == "RequestError":
        from proce.server.desk.errors import RequestError

        return RequestError
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
