"""How the kernels are compiled.

Kept on disk, without ``parallel`` (chunks of rows run in processes) and without forced inlining,
which takes numba several times as long. Numba does not notice a change in a function imported
from another file; after an edit of a kernel delete its cache.
"""

from numba import njit

kernel = njit(nogil=True, cache=True, error_model="numpy")
