"""What a person knows of the causes before the data are looked at."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any

import numpy as np

from proce.arguments import brief, is_listed
from proce.arrays import Flags
from proce.causal.graphs.dag import Edge, arrow, checked_edge, cycle_among, require_name
from proce.errors import GraphError


@dataclass(frozen=True, eq=False)
class Knowledge:
    """Which edges must be, which cannot be, and what comes before what."""

    # Matrices are `[cause, effect]` by position among `names`.

    names: tuple[str, ...]
    required: Flags  # edges that are there
    # edges that are not: forbidden ones, those against the tiers or a required path, and every
    # feature to itself
    impossible: Flags
    before: Flags  # where the first feature cannot be a consequence of the second, however indirect

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        # groups of names: no feature is a consequence of one in a later group. Features of one
        # group, and features in no group, may cause each other either way.
        tiers: Sequence[Iterable[str]] | None = None,
        # edges (cause, effect). A forbidden edge may still be an indirect influence.
        required: Iterable[Edge] = (),
        forbidden: Iterable[Edge] = (),
    ) -> "Knowledge":
        """Read what a person knows, and refuse what contradicts itself."""
        ranks = _ranks(names, tiers)
        required_edges = _edges("required", names, required)
        forbidden_edges = _edges("forbidden", names, forbidden)
        for edge in required_edges:
            _refuse_contradiction(edge, ranks, forbidden_edges)
        position = {name: number for number, name in enumerate(names)}
        needed = _matrix(position, required_edges)
        earlier = np.zeros_like(needed)
        for one, other in product(ranks, ranks):
            earlier[position[one], position[other]] = ranks[one] < ranks[other]
        before = paths(needed | earlier)
        if before.diagonal().any():
            raise GraphError(
                f"the required edges contradict {'the tiers' if tiers else 'each other'}:"
                f" {_cycle(names, needed | earlier, before)}. A cause cannot be its own effect;"
                " drop one of them."
            )
        impossible = _matrix(position, forbidden_edges) | before.T
        impossible |= np.eye(len(names), dtype=bool)
        return cls(tuple(names), needed, impossible, before)

    @property
    def barred(self) -> Flags:
        """Pairs that are joined in neither direction."""
        return self.impossible & self.impossible.T

    @property
    def is_empty(self) -> bool:
        """Whether nothing is known."""
        only_itself = int(self.impossible.sum()) == len(self.names)
        return only_itself and not (self.required.any() or self.before.any())

    def keep(self, positions: Sequence[int]) -> "Knowledge":
        """Return what is known of some of the features, paths through the others included."""
        block = np.ix_(positions, positions)
        names = tuple(self.names[position] for position in positions)
        return Knowledge(names, self.required[block], self.impossible[block], self.before[block])


def _ranks(names: Sequence[str], tiers: Any) -> dict[str, int]:
    ranks: dict[str, int] = {}
    if isinstance(tiers, str):
        raise GraphError(f"tiers is {tiers!r}; expected a list of lists of names.")
    for rank, tier in enumerate(tiers or ()):
        if isinstance(tier, str):
            raise GraphError(
                f"tier {rank + 1} is the name {tier!r}; expected a list of names, as in"
                f" [[{tier!r}], ...]."
            )
        if not is_listed(tier):
            raise GraphError(f"tiers: {brief(tier)} is no tier; expected a list of names.")
        for name in tier:
            if not isinstance(name, str):
                raise GraphError(f"tiers names {brief(name)}; expected names of features.")
            require_name(name, names)
            if name in ranks:
                raise GraphError(
                    f"{name!r} stands in tier {ranks[name] + 1} and in tier {rank + 1}; name it"
                    " once."
                )
            ranks[name] = rank
    return ranks


def _edges(option: str, names: Sequence[str], edges: Iterable[Edge]) -> list[Edge]:
    if isinstance(edges, str):
        raise GraphError(f"{option} is {edges!r}; expected a list of pairs (cause, effect).")
    pairs = [checked_edge(edge) for edge in edges]
    for name in (name for pair in pairs for name in pair):
        require_name(name, names)
    return pairs


def _refuse_contradiction(edge: Edge, ranks: dict[str, int], forbidden: list[Edge]) -> None:
    if edge in forbidden:
        raise GraphError(f"{arrow(edge)} is required and forbidden; drop one of them.")
    cause, effect = edge
    if cause in ranks and effect in ranks and ranks[cause] > ranks[effect]:
        raise GraphError(
            f"{arrow(edge)} is required, but {cause!r} stands in tier {ranks[cause] + 1}, after"
            f" {effect!r} in tier {ranks[effect] + 1}. Drop the edge or change the tiers."
        )


def _matrix(position: dict[str, int], edges: list[Edge]) -> Flags:
    matrix = np.zeros((len(position), len(position)), dtype=bool)
    for cause, effect in edges:
        matrix[position[cause], position[effect]] = True
    return matrix


def paths(edges: Flags) -> Flags:
    """Return where a path leads from the first feature to the second (Warshall)."""
    reach = edges.copy()
    for middle in range(len(reach)):
        join(reach, middle, middle)
    return reach


def join(reach: Flags, end: int, start: int) -> None:
    """Note that paths that lead to one feature go on with those that lead from another."""
    reach |= reach[:, [end]] & reach[[start], :]


def _cycle(names: Sequence[str], edges: Flags, reach: Flags) -> str:
    stuck = [name for name, loops in zip(names, reach.diagonal(), strict=True) if loops]
    parents = {
        name: [names[int(cause)] for cause in np.flatnonzero(edges[:, names.index(name)])]
        for name in stuck
    }
    path = cycle_among(stuck, parents)
    return ", ".join(arrow(edge) for edge in pairwise(path))
