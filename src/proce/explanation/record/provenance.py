"""How an explanation came about: enough to make it again."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from proce.schema.features.brief import cut
from proce.schema.features.numerals import counted


@dataclass(frozen=True, repr=False)
class Provenance:
    """The versions, the seed, the settings and the work behind a result.

    Attributes
    ----------
    versions
        The versions of this package, of Python and of the packages on which results depend.
    method
        The name of the method.
    seed
        The seed of everything random.
    settings
        The settings of the method, as plain values.
    options
        The options of the call, as plain values.
    mode
        The causal mode that was used.
    graph
        Where the causal graph came from, in words; ``None`` without one.
    training_rows
        The number of rows that the method was fitted on.
    training_hash
        The SHA-256 sum of these rows as arrays.
    elapsed_seconds
        The time that the call took.
    generations
        The most generations that a row took.
    evaluations
        The number of candidates that the search evaluated, for all rows together. Choosing among
        them, checking them and a diagnosis ask the model further.
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

    def __repr__(self) -> str:
        rows = counted(self.training_rows, "training row")
        return cut(f"Provenance({self.method}, seed {self.seed}, {self.mode}, {rows})")
