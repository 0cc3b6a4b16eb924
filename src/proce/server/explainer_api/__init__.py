"""Everything that is asked of one loaded explainer: plain values in, plain values out; no HTTP.

``ExplainerApi`` has a method for each question; handlers answer it, presenters tell the result. The
names are loaded when somebody asks for them: a process that only has to know ``RequestError`` loads
neither pandas nor numba.
"""

from typing import TYPE_CHECKING

from proce.lazy import loader as _loader

if TYPE_CHECKING:
    from proce.server.explainer_api.api import ExplainerApi
    from proce.server.explainer_api.errors import RequestError

__all__ = ["ExplainerApi", "RequestError"]


_LOCATIONS = {
    "ExplainerApi": "proce.server.explainer_api.api",
    "RequestError": "proce.server.explainer_api.errors",
}


if not TYPE_CHECKING:  # a type checker would take every misspelt name for an object
    __getattr__ = _loader(__name__, _LOCATIONS)
