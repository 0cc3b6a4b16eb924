"""Directions that follow, against all graphs that could be meant."""

from itertools import permutations, product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from proce.causal.discovery.equivalence import PartialGraph, colliders_of
from proce.causal.discovery.knowledge import Knowledge, paths

N = 5
ORDERS = list(permutations(range(N)))


@st.composite
def dags(draw: st.DrawFn) -> np.ndarray:
    order = draw(st.sampled_from(ORDERS))
    arrows = np.zeros((N, N), dtype=bool)
    for late in range(N):
        for early in range(late):
            arrows[order[early], order[late]] = draw(st.booleans())
    return arrows


@st.composite
def truths(draw: st.DrawFn, with_tiers: bool) -> tuple[np.ndarray, Knowledge]:
    """A graph and knowledge that is true of it."""
    arrows = draw(dags())
    names = [str(n) for n in range(N)]
    pairs = [(names[a], names[b]) for a, b in np.argwhere(arrows)]
    required = [pair for pair in pairs if draw(st.integers(0, 5)) == 0]
    absent = [(names[a], names[b]) for a, b in product(range(N), repeat=2) if a != b]
    forbidden = [e for e in absent if e not in pairs and draw(st.integers(0, 9)) == 0]
    tiers = None
    if with_tiers:
        depth = paths(arrows).sum(0)  # what is caused by more stands later
        kept = [n for n in range(N) if draw(st.booleans())]
        tiers = [[names[n] for n in kept if depth[n] == level] for level in range(N)]
    return arrows, Knowledge.of(names, tiers, required, forbidden)


def meant(arrows: np.ndarray, knowledge: Knowledge) -> list[np.ndarray]:
    """All graphs with the same pairs and colliders that obey the knowledge."""
    pairs = np.argwhere(np.triu(arrows | arrows.T))
    wanted = set(colliders_of(arrows))
    graphs = []
    for turned in product([False, True], repeat=len(pairs)):
        graph = np.zeros_like(arrows)
        for (a, b), turn in zip(pairs, turned, strict=True):
            graph[(b, a) if turn else (a, b)] = True
        if (
            not paths(graph | knowledge.before).diagonal().any()
            and set(colliders_of(graph)) == wanted
            and not (graph & knowledge.impossible).any()
        ):
            graphs.append(graph)
    return graphs


def directed(arrows: np.ndarray, knowledge: Knowledge) -> PartialGraph:
    graph = PartialGraph(arrows | arrows.T, knowledge)
    graph.direct_colliders(colliders_of(arrows))
    graph.close()
    return graph


@settings(max_examples=150)
@given(truths(with_tiers=False))
def test_what_all_possible_graphs_share_is_directed_and_nothing_else(
    truth: tuple[np.ndarray, Knowledge],
) -> None:
    arrows, knowledge = truth
    shared = np.logical_and.reduce(meant(arrows, knowledge))
    graph = directed(arrows, knowledge)
    assert (graph.arrows == shared).all()
    assert (graph.joined == (arrows | arrows.T)).all()


@settings(max_examples=100)
@given(truths(with_tiers=True))
def test_no_direction_is_taken_that_tiers_leave_open_or_contradict(
    truth: tuple[np.ndarray, Knowledge],
) -> None:
    arrows, knowledge = truth
    shared = np.logical_and.reduce(meant(arrows, knowledge))
    graph = directed(arrows, knowledge)
    assert not (graph.arrows & ~shared).any()
    assert not (graph.arrows & knowledge.impossible).any()


@settings(max_examples=100)
@given(truths(with_tiers=True), dags())
def test_whatever_is_found_is_made_to_obey(
    truth: tuple[np.ndarray, Knowledge], edges: np.ndarray
) -> None:
    """Findings that contradict the knowledge lose; a completed graph is one that could be."""
    _, knowledge = truth
    graph = PartialGraph(edges | edges.T, knowledge)
    graph.direct_colliders(colliders_of(edges))
    graph.complete()
    assert not graph.lines.any()
    assert not (graph.arrows & knowledge.impossible).any()
    assert (graph.arrows | ~knowledge.required).all()
    assert not paths(graph.arrows | knowledge.before).diagonal().any()


def test_each_rule_by_hand() -> None:
    names = ["a", "b", "c", "d"]

    def of(required: list[str], joined: list[str]) -> set[str]:
        known = Knowledge.of(names, required=[(e[0], e[1]) for e in required])
        flags = np.zeros((4, 4), dtype=bool)
        for one, other in [*required, *joined]:
            flags[names.index(one), names.index(other)] = True
        graph = PartialGraph(flags, known)
        graph.close()
        return {names[i] + names[j] for i, j in np.argwhere(graph.arrows)}

    assert of(["ca"], ["ab"]) == {"ca", "ab"}  # no new collider at a
    assert of(["ac", "cb"], ["ab"]) == {"ac", "cb", "ab"}  # no cycle
    assert of(["cb", "db"], ["ab", "ac", "ad"]) == {"cb", "db", "ab"}
    assert of(["dc", "cb"], ["ab", "ac", "ad"]) >= {"dc", "cb", "ab"}
    assert of([], ["ab", "bc"]) == set()
