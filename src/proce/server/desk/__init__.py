"""Everything that is asked of one loaded explainer and its rows: plain values in, plain values out.

``Desk`` has a method for each question; the other modules answer them. Nothing here knows of HTTP.
The names are loaded when somebody asks for them: a process that only has to know ``RequestError``
loads neither pandas nor numba.
"""

from typing import TYPE_CHECKING

from proce.lazy import loader as _loader

if TYPE_CHECKING:
    from proce.server.desk.desk import Desk
    from proce.server.desk.errors import RequestError

__all__ = ["Desk", "RequestError"]


_LOCATIONS = {
    "Desk": "proce.server.desk.desk",
    "RequestError": "proce.server.desk.errors",
}


if not TYPE_CHECKING:  # a type checker would take every misspelt name for an object
    __getattr__ = _loader(__name__, _LOCATIONS)
