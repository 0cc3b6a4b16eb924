"""Parts of kernels, which have no way in from Python, as tests call them."""

from collections.abc import Callable
from typing import Any

from numba import njit


def whole(part: Any) -> Callable[..., Any]:
    """Return a function that does what a part does."""
    called: Callable[..., Any] = njit(error_model="numpy")(part.py_func)
    return called
