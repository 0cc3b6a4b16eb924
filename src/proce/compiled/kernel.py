"""How the kernels are compiled.

They are cached on disk. They are compiled without ``parallel``, because chunks of rows run in
processes, and without forced inlining, which takes numba several times as long. Numba does not
notice a change in a function imported from another file: delete the cache after editing a kernel.
"""

from numba import njit

kernel = njit(nogil=True, cache=True, error_model="numpy", no_cfunc_wrapper=True)
