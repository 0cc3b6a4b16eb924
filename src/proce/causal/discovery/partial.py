"""Graphs in which some edges have no direction yet.

Directions follow from what is known, from colliders, and from the four rules of C. Meek,
"Causal inference and causal explanation with background knowledge" (UAI 1995). No direction
is ever taken that closes a cycle or contradicts what is known.
"""

from collections.abc import Iterable
from itertools import combinations

import numpy as np

from proce.arrays import Flags
from proce.causal.discovery.knowledge import Knowledge, join

Collider = tuple[int, int, int]  # cause, effect, other cause; the causes are not joined


class PartialGraph:
    """Edges with and without direction, by the positions of the features.

    ``arrows[cause, effect]`` are directed; ``lines`` is symmetric.
    """

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
