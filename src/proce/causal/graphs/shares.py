"""How often the resamples of a bootstrap joined each pair of features."""

from collections.abc import Sequence
from dataclasses import dataclass

from proce.causal.graphs.dag import Dag
from proce.causal.graphs.edges import Edge


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

    pair: Edge
    forward: float
    backward: float
    undirected: float

    @property
    def joined(self) -> float:
        """The share in which the pair was joined at all."""
        return self.forward + self.backward + self.undirected


def pair_shares(nodes: Sequence[str], resamples: Sequence[Dag]) -> tuple[PairShares, ...]:
    """Count every pair that was joined in any resample, the most often joined first."""
    position = {name: number for number, name in enumerate(nodes)}
    counts: dict[Edge, list[int]] = {}  # forward, backward, undirected
    for resample in resamples:
        for pairs, directed in ((resample.edges, True), (resample.undirected, False)):
            for one, other in pairs:
                ahead = position[one] < position[other]
                pair = (one, other) if ahead else (other, one)
                direction = 2 if not directed else 0 if ahead else 1
                counts.setdefault(pair, [0, 0, 0])[direction] += 1
    shares = [
        PairShares(pair, *(count / len(resamples) for count in directions))
        for pair, directions in counts.items()
    ]
    return tuple(
        sorted(
            shares,
            key=lambda share: (-share.joined, position[share.pair[0]], position[share.pair[1]]),
        )
    )
