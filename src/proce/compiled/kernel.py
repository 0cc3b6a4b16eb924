"""How the kernels are compiled.

They are cached on disk. They are compiled without ``parallel``, because chunks of rows run in
processes, and without forced inlining, which takes numba several times as long. Numba does not
notice a change in a function imported from another file: delete the cache after editing a kernel.

A `kernel` is called from Python; what only kernels call is a `part`, which has no way in from
Python: to call it there ends the process.
"""

import gc
from collections.abc import Callable
from contextlib import suppress
from threading import Lock
from typing import Any, TypeVar, cast

import numpy as np
from numba import njit
from numba.core import event
from numba.core.caching import FunctionCache

Function = TypeVar("Function", bound=Callable[..., Any])
# Literals would have their own version of what they are handed to.
ZERO, NOBODY = cast(int, np.int64(0)), cast(int, np.int64(-1))


class _CollectLater(event.Listener):
    """Collects no garbage while something is compiled, which takes a seventh of that time."""

    def __init__(self) -> None:
        self._lock, self._n_running, self._was_enabled = Lock(), 0, False

    def on_start(self, event: object) -> None:
        with self._lock:
            if self._n_running == 0:
                self._was_enabled = gc.isenabled()
                gc.disable()
            self._n_running += 1

    def on_end(self, event: object) -> None:
        with self._lock:
            self._n_running -= 1
            if self._n_running == 0 and self._was_enabled:
                gc.enable()


event.register("numba:compile", _CollectLater())  # type: ignore[no-untyped-call]


def kernel(function: Function) -> Function:
    """Return a function that is compiled when it is first called."""
    return _compile(function)


def part(function: Function) -> Function:
    """Return a function that kernels may call, which is compiled with the first of them."""
    return _compile(function, no_cpython_wrapper=True)


class _Cache(FunctionCache):
    """Keeps what was compiled on disk; where that fails it is compiled again."""

    def load_overload(self, sig: object, target_context: object) -> object:
        try:
            return super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        except Exception:  # whatever reading a damaged file ends in
            with suppress(OSError):
                self.flush()  # type: ignore[no-untyped-call]
            return None

    def save_overload(self, sig: object, data: object) -> None:
        with suppress(OSError):  # the disk is full, or the folder may no longer be written
            super().save_overload(sig, data)  # type: ignore[no-untyped-call]

    @property
    def is_filled(self) -> bool:
        """Whether anything is kept of the function as it stands."""
        try:
            index: Any = self._cache_file._load_index()  # type: ignore[no-untyped-call]
        except Exception:  # as above
            return False
        return len(index) > 0


def is_kept(function: Callable[..., object]) -> bool | None:
    """Return whether a kernel lies compiled on disk; None where nothing can be kept."""
    cache: Any = cast(Any, function)._cache
    return cache.is_filled if isinstance(cache, _Cache) else None


def _compile(function: Function, **options: bool) -> Function:
    numba: Any = njit(  # type: ignore[call-overload]  # its stubs do not know all options
        nogil=True, error_model="numpy", no_cfunc_wrapper=True, **options
    )
    compiled = numba(function)
    with suppress(OSError, RuntimeError):  # there is no folder that may be written
        compiled._cache = _Cache(function)  # type: ignore[no-untyped-call]
    return cast(Function, compiled)
