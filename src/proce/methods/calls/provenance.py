"""Provenance: enough to make a result again."""

import platform
from importlib.metadata import version
from typing import Any

from proce.explanation import Provenance

_LIBRARIES = ("proce", "torch", "numpy", "pandas", "scikit-learn", "numba")


def provenance(**fields: Any) -> Provenance:
    """Return the record of a finished call: its own fields, and the versions in use."""
    versions = {name: version(name) for name in _LIBRARIES}
    return Provenance(versions={"python": platform.python_version(), **versions}, **fields)
