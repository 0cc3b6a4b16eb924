"""How an explanation came about: enough to make it again."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Provenance:
    """Versions, seeds, settings and effort behind a result.

    Attributes
    ----------
    versions
        Of this package, Python and the libraries that numbers depend on.
    method
        The method's name.
    seed
        Of everything random.
    settings
        Of the method, as plain values.
    options
        Of the call, as plain values.
    mode
        The causal mode that was used.
    graph
        Where the causal graph came from, in words; ``None`` without one.
    training_rows
        How many rows the method was fitted on.
    training_hash
        SHA-256 of these rows as tensors.
    elapsed_seconds
        Of the call.
    generations
        The most that a row took.
    evaluations
        Of all rows together.
    """

    versions: Mapping[str, str]
    method: str
    seed: int
    settings: Mapping[str, Any]
    options: Mapping[str, Any]
    mode: str
    graph: str | None
    training_rows: int
    training_hash: str
    elapsed_seconds: float
    generations: int
    evaluations: int
