"""Directions for the edges that independence tests and scores find; some stay undirected.

Directions follow from what is known, from colliders, and from the four rules of C. Meek,
"Causal inference and causal explanation with background knowledge" (UAI 1995). No direction
is ever taken that closes a cycle or contradicts what is known.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

import numpy as np

from proce.arrays import Flags, Floats, Ints
from proce.causal.discovery.knowledge import Knowledge, join, paths

Collider = tuple[int, int, int]  # cause, effect, other cause; the causes are not joined


class PartialGraph:
    """Edges with and without direction, by the positions of the features."""

    # `arrows[cause, effect]` are directed; `lines` is symmetric.

    def __init__(self, joined: Flags, knowledge: Knowledge) -> None:
        self.knowledge = knowledge
        self.lines = (joined | joined.T) & ~knowledge.barred
        required = knowledge.required
        self.lines |= required | required.T
        self.arrows = np.zeros_like(self.lines)
        # Paths, and what is known to come earlier: nothing may lead back against them.
        self.reach = knowledge.before | np.eye(len(joined), dtype=bool)
        for cause, effect in np.argwhere(required):
            self.direct(int(cause), int(effect))
        for cause, effect in np.argwhere(self.lines & knowledge.impossible.T):
            self.direct(int(cause), int(effect))

    @property
    def joined(self) -> Flags:
        """Pairs with an edge of any kind."""
        return self.lines | self.arrows | self.arrows.T

    def direct(self, cause: int, effect: int) -> bool:
        """Give a line its direction; return False where that direction is not possible."""
        if self.arrows[cause, effect]:
            return True
        if not self.lines[cause, effect] or not self.may_be(cause, effect):
            return False
        self.lines[cause, effect] = self.lines[effect, cause] = False
        self.arrows[cause, effect] = True
        join(self.reach, cause, effect)
        return True

    def may_be(self, cause: int, effect: int) -> bool:
        """Whether an edge contradicts nothing that is known and closes no cycle."""
        return not (self.knowledge.impossible[cause, effect] or self.reach[effect, cause])

    def drop(self, one: int, other: int) -> None:
        """Remove a line."""
        self.lines[one, other] = self.lines[other, one] = False

    def direct_colliders(self, colliders: Iterable[Collider]) -> None:
        """Direct both edges of each collider, in the given order, where both are possible."""
        for one, effect, other in colliders:
            if all(
                self.arrows[cause, effect]
                or (self.lines[cause, effect] and self.may_be(cause, effect))
                for cause in (one, other)
            ):
                self.direct(one, effect)
                self.direct(other, effect)

    def close(self) -> None:
        """Direct every line whose direction follows from the others."""
        changed = True
        while changed:
            changed = False
            for one, other in np.argwhere(self.lines):
                cause, effect = int(one), int(other)
                if self.lines[cause, effect] and self._follows(cause, effect):
                    if not self.direct(cause, effect):
                        self.drop(cause, effect)  # neither direction is possible
                    changed = True

    def complete(self) -> None:
        """Direct all lines, in the order of the features where nothing else decides."""
        self.close()
        for one, other in np.argwhere(np.triu(self.lines)):
            cause, effect = int(one), int(other)
            if not self.lines[cause, effect]:
                continue
            self.direct(cause, effect)  # possible both ways, or close() had decided it
            self.close()

    def _follows(self, a: int, b: int) -> bool:
        """Whether ``a - b`` must be ``a -> b``."""
        arrows, lines, joined = self.arrows, self.lines, self.joined
        if not self.may_be(b, a):  # rule 2, and what is known
            return True
        if not self.may_be(a, b):
            return False
        if (arrows[:, a] & ~joined[:, b]).any():  # rule 1
            return True
        both = lines[a] & arrows[:, b]  # a - c -> b
        for c, d in combinations(np.flatnonzero(both), 2):  # rule 3
            if not joined[c, d]:
                return True
        # Rule 4: a - d -> c -> b, with a and c joined, and d and b not.
        for c in np.flatnonzero(arrows[:, b] & joined[a]):
            if (lines[a] & arrows[:, c] & ~joined[:, b]).any():
                return True
        return False


def colliders_of(arrows: Flags) -> list[Collider]:
    """Return the effects whose two causes are not joined."""
    joined = arrows | arrows.T
    return [
        (int(one), effect, int(other))
        for effect in range(len(arrows))
        for one, other in combinations(np.flatnonzero(arrows[:, effect]), 2)
        if not joined[one, other]
    ]


Separators = Mapping[tuple[int, int], Sequence[Sequence[int]]]
_MIN_GAIN = 1e-9  # of the score: less is rounding


def directed_by_separators(
    joined: Flags, separators: Separators, knowledge: Knowledge, rows: Floats
) -> PartialGraph:
    """Direct the edges that PC found, as far as that can be known."""
    # A feature that is joined to two unjoined ones is an effect of both where it is in no set that
    # separates them. Where two such findings contradict each other, the stronger one goes first:
    # the one whose causes are correlated more once the effect is held.
    graph = PartialGraph(joined, knowledge)
    correlation = np.corrcoef(rows.T).reshape(len(joined), -1)
    strengths = {
        (one, effect, other): _partial_correlation(
            correlation, one, other, [*sorted(set().union(*sets)), effect]
        )
        for effect in range(len(joined))
        for one, other in combinations(np.flatnonzero(graph.joined[effect]).tolist(), 2)
        if not graph.joined[one, other]
        and not knowledge.barred[one, other]
        and (sets := separators.get((one, other)))
        and all(effect not in separator for separator in sets)
    }
    graph.direct_colliders(sorted(strengths, key=lambda collider: -strengths[collider]))
    graph.close()
    return graph


def _partial_correlation(correlation: Floats, one: int, other: int, held: list[int]) -> float:
    """Return the size of the partial correlation of two features."""
    within = [one, other, *held]
    inverse = np.linalg.pinv(correlation[np.ix_(within, within)], hermitian=True)
    return abs(float(inverse[0, 1])) / float(np.sqrt(inverse[0, 0] * inverse[1, 1]))


def best_scoring(arrows: Flags, lines: Flags, knowledge: Knowledge, rows: Floats) -> PartialGraph:
    """Make what GES found obey what is known, and improve its score from there."""
    # GES itself takes no knowledge. Its edges get directions that obey what is known; single edges
    # are then added, removed and reversed while that improves the score. Edges whose direction all
    # graphs of the same score and the same knowledge share are directed, the others are not.
    if not knowledge.is_empty:
        start = PartialGraph(arrows | lines, knowledge)
        for cause, effect in np.argwhere(arrows):
            start.direct(int(cause), int(effect))
        start.complete()
        arrows = climb(start.arrows, knowledge, rows)
        lines = np.zeros_like(lines)
    graph = PartialGraph(arrows | lines, knowledge)
    graph.direct_colliders(colliders_of(arrows))
    graph.close()
    return graph


def climb(arrows: Flags, knowledge: Knowledge, rows: Floats) -> Flags:
    """Add, remove and reverse edges, the best first, while that improves the BIC."""
    edges = arrows.copy()
    covariance = np.cov(rows.T).reshape(len(edges), -1)
    adding, removing = np.zeros(edges.shape), np.zeros(edges.shape)
    changed = list(range(len(edges)))
    while True:
        for node in changed:
            causes = np.flatnonzero(edges[:, node])
            adding[:, node] = _gains(covariance, node, causes, len(rows))
            for cause in causes:
                fewer = causes[causes != cause]
                removing[cause, node] = -_gains(covariance, node, fewer, len(rows))[cause]
        reach = paths(edges | knowledge.before)
        free = edges & ~knowledge.required
        gains = np.stack(
            [
                np.where(~(edges | edges.T | knowledge.impossible | reach.T), adding, -np.inf),
                np.where(free, removing, -np.inf),
                np.where(free & _reversible(edges, reach, knowledge), removing + adding.T, -np.inf),
            ]
        )
        kind, cause, effect = np.unravel_index(gains.argmax(), gains.shape)
        if gains[kind, cause, effect] <= _MIN_GAIN:
            return edges
        edges[cause, effect] = kind == 0
        edges[effect, cause] = kind == 2
        changed = [int(cause), int(effect)]


def _gains(covariance: Floats, effect: int, causes: Ints, n_rows: int) -> Floats:
    """Return how much the BIC gains with each feature as a further cause of the effect."""
    unexplained = covariance
    if len(causes):
        inverse = np.linalg.pinv(covariance[np.ix_(causes, causes)], hermitian=True)
        unexplained = covariance - covariance[:, causes] @ inverse @ covariance[causes]
    spread = np.maximum(unexplained.diagonal(), 1e-300)
    shared = np.minimum(unexplained[:, effect] ** 2 / (spread * spread[effect]), 1 - 1e-12)
    shared[[*causes, effect]] = 0.0
    gains: Floats = -0.5 * n_rows * np.log1p(-shared) - 0.5 * np.log(n_rows)
    return gains


def _reversible(edges: Flags, reach: Flags, knowledge: Knowledge) -> Flags:
    """Return the edges that are the only path between their ends, and may be turned round."""
    result = np.zeros_like(edges)
    steps = edges | knowledge.before
    for cause, effect in np.argwhere(edges & ~knowledge.impossible.T):
        onward = steps[cause].copy()
        onward[effect] = False
        result[cause, effect] = not (onward & reach[:, effect]).any()
    return result
