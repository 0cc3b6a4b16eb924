"""Directions for the edges that independence tests and scores find; some stay undirected."""

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from proce.arrays import Flags, Floats, Ints
from proce.causal.discovery.knowledge import Knowledge, paths
from proce.causal.discovery.partial import PartialGraph, colliders_of

Separators = Mapping[tuple[int, int], Sequence[Sequence[int]]]
_MIN_GAIN = 1e-9  # of the score: less is rounding


def directed_by_separators(
    joined: Flags, separators: Separators, knowledge: Knowledge, rows: Floats
) -> PartialGraph:
    """Direct the edges that PC found, as far as that can be known.

    A feature that is joined to two unjoined ones is an effect of both where it is in no set that
    separates them. Where two such findings contradict each other, the stronger one goes first:
    the one whose causes are correlated more once the effect is held.
    """
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
    """Make what GES found obey what is known, and improve its score from there.

    GES itself takes no knowledge. Its edges get directions that obey what is known; single edges
    are then added, removed and reversed while that improves the score. Edges whose direction all
    graphs of the same score and the same knowledge share are directed, the others are not.
    """
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
