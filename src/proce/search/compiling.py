"""How the kernels are compiled.

No ``parallel`` (chunks of rows run in processes) and no forced inlining, which takes numba
several times as long. Wrappers that nobody calls are left out, a sixth of the time: what is
``inner`` can be called by other kernels only. Numba does not notice a change in a function
imported from another file; after an edit of a kernel delete its cache.
"""

from numba import njit

kernel = njit(nogil=True, cache=True, error_model="numpy", no_cfunc_wrapper=True)
inner = njit(nogil=True, error_model="numpy", no_cfunc_wrapper=True, no_cpython_wrapper=True)
