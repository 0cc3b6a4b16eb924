"""What a result records of how it came about: versions, and checksums of rows."""

import hashlib
import platform
from importlib.metadata import version

from torch import Tensor

_LIBRARIES = ("proce", "torch", "numpy", "pandas", "scikit-learn", "numba")


def versions_in_use() -> dict[str, str]:
    """Return the versions of Python, of this package and of the libraries it computes with."""
    libraries = {name: version(name) for name in _LIBRARIES}
    return {"python": platform.python_version(), **libraries}


def hash_of_rows(rows: Tensor) -> str:
    """Return the SHA-256 of rows."""
    return hashlib.sha256(rows.contiguous().numpy().tobytes()).hexdigest()
