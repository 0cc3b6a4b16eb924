"""What a result records of how it came about: versions, and checksums of rows."""

import hashlib
import platform
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version

import numpy as np

from proce.arrays import Array

_PACKAGES = ("proce", "torch", "numpy", "pandas", "scikit-learn", "numba")


def versions_in_use(packages: Sequence[str] = _PACKAGES) -> dict[str, str]:
    """Return the versions of Python and of some packages: by default those that compute results."""
    return {"python": platform.python_version(), **{name: _version(name) for name in packages}}


def own_version() -> str:
    """Return the version of this package."""
    return _version("proce")


@cache
def _version(package: str) -> str:
    """Return the version of a package, also of one that runs from its sources; read once."""
    with suppress(PackageNotFoundError):
        if found := version(package):
            return found
    return str(getattr(sys.modules.get(package), "__version__", "not installed"))


def hash_of_rows(rows: Array) -> str:
    """Return the SHA-256 sum of rows."""
    return hashlib.sha256(np.ascontiguousarray(rows).tobytes()).hexdigest()
