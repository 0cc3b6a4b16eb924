"""Where a graph comes from, and how often each edge was found."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from proce.causal.graph import CausalGraph


@dataclass(frozen=True)
class Origin:
    """Whether a graph was given or discovered, and what its discovery could not know.

    Attributes
    ----------
    algorithm
        What discovered the graph; ``None`` where a person gave it.
    settings
        How it was discovered, in plain values that survive JSON.
    warnings
        What the discovery cannot know, one sentence or two each.
    """

    algorithm: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "settings", dict(self.settings))
        object.__setattr__(self, "warnings", tuple(self.warnings))

    @property
    def discovered(self) -> bool:
        """Whether the graph was read off data rather than given."""
        return self.algorithm is not None

    def __str__(self) -> str:
        return f"discovered by {self.algorithm}" if self.discovered else "given"

    def __hash__(self) -> int:
        return hash((self.algorithm, self.warnings))


@dataclass(frozen=True, slots=True)
class PairShares:
    """In which share of the resamples a pair was joined, and in which direction.

    Attributes
    ----------
    pair
        Two features, in the order of the graph's nodes.
    forward, backward
        The share with the edge ``pair``, and with the edge the other way round.
    undirected
        The share in which the pair was joined without a direction.
    """

    pair: tuple[str, str]
    forward: float
    backward: float
    undirected: float

    @property
    def joined(self) -> float:
        """The share in which the pair was joined at all."""
        return self.forward + self.backward + self.undirected


def pair_shares(nodes: Sequence[str], resamples: "Sequence[CausalGraph]") -> tuple[PairShares, ...]:
    """Count every pair that was joined in any resample, the most often joined first."""
    place = {name: at for at, name in enumerate(nodes)}
    counts: dict[tuple[str, str], list[int]] = {}
    for graph in resamples:
        for edges, directed in ((graph.edges, True), (graph.undirected, False)):
            for one, other in edges:
                ahead = place[one] < place[other]
                pair = (one, other) if ahead else (other, one)
                kind = 2 if not directed else 0 if ahead else 1
                counts.setdefault(pair, [0, 0, 0])[kind] += 1
    shares = [
        PairShares(pair, *(count / len(resamples) for count in kinds))
        for pair, kinds in counts.items()
    ]
    return tuple(sorted(shares, key=lambda s: (-s.joined, place[s.pair[0]], place[s.pair[1]])))
