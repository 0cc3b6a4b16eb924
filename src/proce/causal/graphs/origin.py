"""Where a graph comes from."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

GIVEN = "given"
EDITED = "edited"


@dataclass(frozen=True)
class Origin:
    """Whether a graph was given or discovered, and what its discovery could not know.

    Attributes
    ----------
    algorithm
        What discovered the graph; ``None`` where a person gave it.
    settings
        How the graph was discovered, in plain values that survive JSON.
    warnings
        What the discovery cannot know, one sentence or two each.
    edited
        Whether a person has changed edges since.
    """

    algorithm: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    edited: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "settings", dict(self.settings))
        object.__setattr__(self, "warnings", tuple(self.warnings))

    @property
    def discovered(self) -> bool:
        """Whether the graph was read off data rather than given."""
        return self.algorithm is not None

    def __str__(self) -> str:
        if self.discovered:
            return f"discovered by {self.algorithm}{', then edited' * self.edited}"
        return EDITED if self.edited else GIVEN

    def __hash__(self) -> int:
        return hash((self.algorithm, self.warnings, self.edited))
