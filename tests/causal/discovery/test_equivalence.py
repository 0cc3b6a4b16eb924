"""Directions after PC and GES: colliders, scores, and what is known."""

from itertools import permutations

import numpy as np
import pytest

from proce.causal.discovery.equivalence import best_scoring, climb, directed_by_separators
from proce.causal.discovery.knowledge import Knowledge, paths

N = 4
NAMES = [str(n) for n in range(N)]


def rows(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    weights = np.triu(rng.uniform(-1.5, 1.5, (N, N)) * (rng.random((N, N)) < 0.7), 1)
    return rng.normal(size=(400, N)) @ np.linalg.inv(np.eye(N) - weights)


def score(edges: np.ndarray, values: np.ndarray) -> float:
    """The BIC, by a regression for each feature."""
    values = values - values.mean(0)
    total = 0.0
    for effect in range(N):
        causes = values[:, edges[:, effect]]
        noise = values[:, effect] - causes @ np.linalg.lstsq(causes, values[:, effect])[0]
        total -= 0.5 * len(values) * np.log(noise.var()) + 0.5 * causes.shape[1] * np.log(400)
    return total


def every_graph(knowledge: Knowledge) -> list[np.ndarray]:
    """All graphs that obey the knowledge."""
    graphs = {}
    for order in permutations(range(N)):
        for chosen in range(2 ** (N * (N - 1) // 2)):
            edges = np.zeros((N, N), dtype=bool)
            pairs = [(order[a], order[b]) for b in range(N) for a in range(b)]
            for bit, pair in enumerate(pairs):
                edges[pair] = chosen >> bit & 1
            if (
                not (edges & knowledge.impossible).any()
                and (edges | ~knowledge.required).all()
                and not paths(edges | knowledge.before).diagonal().any()
            ):
                graphs[edges.tobytes()] = edges
    return list(graphs.values())


@pytest.mark.parametrize("seed", range(6))
def test_a_climb_ends_where_no_single_step_improves_the_score(seed: int) -> None:
    known = Knowledge.of(NAMES, tiers=[["0", "1"], ["3"]], forbidden=[("0", "2")])
    start = np.zeros((N, N), dtype=bool)
    end = climb(start, known, values := rows(seed))
    reached = score(end, values)
    assert reached >= score(start, values)
    one_step_away = []
    for other in every_graph(known):
        changed = (end | end.T) != (other | other.T)
        turned = (end != other) & ~changed
        if changed.sum() + turned.sum() == 2:  # one edge more, less, or the other way
            one_step_away.append(other)
    assert one_step_away
    assert max(score(other, values) for other in one_step_away) <= reached + 1e-6


def test_a_known_order_gives_the_best_graph_of_all() -> None:
    known = Knowledge.of(NAMES, tiers=[[name] for name in NAMES], required=[("0", "3")])
    for seed in range(4):
        values = rows(seed)
        best = max(every_graph(known), key=lambda edges: score(edges, values))
        none = np.zeros((N, N), dtype=bool)
        graph = best_scoring(none, none, known, values)
        assert (graph.arrows == best).all()
        assert not graph.lines.any()


def test_a_climb_is_not_asked_for_where_nothing_is_known() -> None:
    arrows = np.zeros((N, N), dtype=bool)
    arrows[0, 1] = arrows[2, 1] = True
    lines = np.zeros((N, N), dtype=bool)
    lines[2, 3] = lines[3, 2] = True
    graph = best_scoring(arrows, lines, Knowledge.of(NAMES), np.empty((0, N)))
    assert (graph.arrows == arrows).all()
    assert (graph.lines == lines).all()


def test_the_stronger_of_two_colliders_that_contradict_each_other_wins() -> None:
    """0 - 1 - 2 - 3, where 1 and 2 both look like an effect of their neighbours."""
    rng = np.random.default_rng(0)
    a, c, d = rng.normal(size=(3, 2_000))
    values = np.column_stack([a, a + c + 0.1 * rng.normal(size=2_000), c, c + d])
    joined = np.zeros((N, N), dtype=bool)
    joined[0, 1] = joined[1, 2] = joined[2, 3] = True
    separators = {(0, 2): [()], (1, 3): [()], (0, 3): [()]}
    graph = directed_by_separators(joined | joined.T, separators, Knowledge.of(NAMES), values)
    assert np.argwhere(graph.arrows).tolist() == [[0, 1], [2, 1]]
    assert graph.lines[2, 3]
