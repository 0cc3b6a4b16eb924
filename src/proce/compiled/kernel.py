"""How the kernels are compiled.

They are cached on disk. They are compiled without ``parallel``, because chunks of rows run in
processes, and without forced inlining, which takes numba several times as long. Numba does not
notice a change in a function imported from another file: delete the cache after editing a kernel.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
from numba import njit

Function = TypeVar("Function", bound=Callable[..., Any])
ZERO = cast(int, np.int64(0))  # a literal would have its own version of what it is handed to


def kernel(function: Function) -> Function:
    """Return a function that is compiled when it is first called."""
    compiled: Any = njit(nogil=True, cache=True, error_model="numpy")(function)
    return cast(Function, compiled)
