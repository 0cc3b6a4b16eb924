"""Everything that is asked of one loaded explainer: plain values in, plain values out; no HTTP.

``ExplainerApi`` has a method for each question; handlers answer it, presenters tell the result. The
names are loaded when somebody asks for them: a process that only has to know ``RequestError`` loads
neither pandas nor numba.
"""

from typing import TYPE_CHECKING

from proce.lazy import load_on_first_use

if TYPE_CHECKING:
    from proce.server.explainer_api.api import ExplainerApi
    from proce.server.explainer_api.errors import RequestError
else:  # a type checker would take every misspelt name for an object
    __getattr__, __dir__ = load_on_first_use(__name__)

__all__ = ["ExplainerApi", "RequestError"]
