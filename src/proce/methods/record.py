"""Provenance: enough to make a result again."""

import platform
from dataclasses import asdict
from importlib.metadata import version
from typing import Any

from proce.explanation import Provenance
from proce.methods.fitted import Fitted
from proce.methods.options import Options

_LIBRARIES = ("proce", "torch", "numpy", "pandas", "scikit-learn", "numba")


def provenance(
    fitted: Fitted, options: Options, elapsed_seconds: float, generations: int, evaluations: int
) -> Provenance:
    """Return the record of a finished call."""
    versions = {name: version(name) for name in _LIBRARIES}
    settings: dict[str, Any] = asdict(fitted.settings)
    return Provenance(
        versions={"python": platform.python_version(), **versions},
        method="ProCE",
        seed=fitted.seed,
        settings=settings,
        options=options.plain(),
        mode=fitted.mode,
        graph=None if fitted.scm is None else str(fitted.scm.graph.origin),
        training_rows=len(fitted.rows),
        training_hash=fitted.training_hash,
        elapsed_seconds=elapsed_seconds,
        generations=generations,
        evaluations=evaluations,
    )
