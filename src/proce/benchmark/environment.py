"""What a run ran on: versions of libraries, a checksum of the code, the hardware."""

import hashlib
import os
import platform
from functools import lru_cache
from pathlib import Path
from typing import Any

from proce.methods.calls.method import versions_in_use

_LIBRARIES = (
    "proce",
    "torch",
    "numpy",
    "pandas",
    "scikit-learn",
    "scipy",
    "numba",
    "causal-learn",
    "dice-ml",
    "pygad",
)


def describe_environment() -> dict[str, Any]:
    """Return versions, a checksum of this package's code, and the hardware, for a JSON file."""
    return {
        "code": code_checksum(),
        "versions": versions_in_use(_LIBRARIES),
        "hardware": {
            "machine": platform.machine(),
            "system": platform.system(),
            "processor": _processor(),
            "cores": os.cpu_count(),
        },
    }


@lru_cache(maxsize=1)
def code_checksum() -> str:
    """Return the SHA-256 over the names and texts of all modules of this package."""
    import proce

    root = Path(proce.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _processor() -> str:
    """Return the name of the processor, as exactly as the system gives it."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor()
