"""What a result records of how it came about: versions, and checksums of rows."""

import hashlib
import platform
from collections.abc import Sequence
from importlib.metadata import version

from torch import Tensor

_PACKAGES = ("proce", "torch", "numpy", "pandas", "scikit-learn", "numba")


def versions_in_use(packages: Sequence[str] = _PACKAGES) -> dict[str, str]:
    """Return the versions of Python and of some packages: by default those that compute results."""
    return {"python": platform.python_version(), **{name: version(name) for name in packages}}


def hash_of_rows(rows: Tensor) -> str:
    """Return the SHA-256 sum of rows."""
    return hashlib.sha256(rows.contiguous().numpy().tobytes()).hexdigest()
