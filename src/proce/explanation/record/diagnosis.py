"""Why nothing was found: a record and its sentence."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Blocker:
    """A limit that stands in the way.

    Attributes
    ----------
    kind
        ``rule``, ``range``, ``vary``, ``max_changes`` or ``min_probability``; what the schema
        says of a feature: ``fixed``, ``indirect``, ``increase`` or ``decrease``; ``search`` where
        a setting of the search stands in the way.
    name
        The rule's text, the feature's name or the setting's.
    relaxation
        What would do, in words: ``"lift it"`` or ``"allow up to 42"``.
    distance
        Of the counterfactual that is found without it; smaller is a smaller step.
    """

    kind: str
    name: str
    relaxation: str
    distance: float


@dataclass(frozen=True)
class Diagnosis:
    """What blocks a row.

    Attributes
    ----------
    reason
        In one sentence.
    closest_miss
        The candidate that came nearest, by feature in raw units; ``None`` where none was found.
    probability
        Of the target, for the closest miss.
    needed
        The probability that counts.
    broken
        Rules that the closest miss breaks.
    blockers
        Limits without which a counterfactual exists, the smallest relaxation first.
    searched
        How many relaxations were tried; the search for blockers is bounded.
    """

    reason: str
    closest_miss: Mapping[str, Any] | None
    probability: float | None
    needed: float
    broken: tuple[str, ...] = ()
    blockers: tuple[Blocker, ...] = ()
    searched: int = 0

    def __str__(self) -> str:
        return self.reason
